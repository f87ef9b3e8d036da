"""Fills a real store with small conversations whose numbers are known."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from recjury.judges.core.evaluator import core_metrics
from recjury.judges.outcome.metrics import METRICS
from recjury.records import (
    JSON,
    PERSUASIVENESS,
    ConversationLog,
    Debate,
    DebateTranscript,
    Ending,
    Factor,
    ItemRef,
    Rating,
    Role,
    Scenario,
    Speaker,
    StageResult,
    Statement,
    Status,
    Turn,
    Verdict,
    digest,
    evaluation_id,
    evaluator_id,
)
from recjury.store import (
    Campaign,
    PlannedConversation,
    PlannedEvaluation,
    PlannedEvaluator,
    Setup,
    Store,
)

CAMPAIGN = "f00dfacef00d"
TARGET = ItemRef(id="t", name="Heat (1995)")


@dataclass
class Played:
    """One conversation to keep. `hit_at` is the 1-based place of the target in the last list.

    `scores` are by round, each in the order of `Role`; the verdict is the mean of the last.
    `factors` of None leaves the factor `unscored`; `failure` fails the stage "converse", and if it
    has an `ending` of its own, the turns are kept with it.
    """

    system: str
    record: str
    factors: Sequence[float | None] = (3.0,) * 12
    scores: Sequence[Sequence[float | None]] = ((60.0, 60.0, 60.0, 60.0),)
    hit_at: int | None = None
    persuasiveness: float | None = 1.0
    corpus: str = "sample/test"
    pair: str = ""
    repeat: int = 0
    settings: Mapping[str, object] = field(default_factory=dict)
    said: str = "You might like a heist film."
    failure: str | None = None
    judge: str = "measured"
    debater: str = "rule"
    user: str = "rule"
    ending: Ending = Ending.ROUND_LIMIT
    target_seen: bool = False
    leaks: tuple[int, int] = (0, 0)
    seconds: Sequence[float | None] = ()
    unscored: Status = Status.NOT_MEASURED
    items: Sequence[str] = field(default_factory=lambda: [f"Film {n}" for n in range(1, 11)])

    @property
    def scenario(self) -> Scenario:
        """What it started from."""
        history = (Turn(speaker=Speaker.USER, text="Hello, I feel like a film tonight."),)
        return Scenario(
            corpus=self.corpus,
            record=self.record,
            pair=self.pair,
            history=history,
            targets=(TARGET,),
            target_seen=self.target_seen,
        )

    @property
    def planned(self) -> PlannedConversation:
        """Its plan."""
        user = {} if self.ending is Ending.RECORDED else {"user": {"user": self.user}}
        return PlannedConversation(
            id=digest([self.system, self.corpus, self.record, self.repeat, self.settings]),
            system=self.system,
            scenario=self.scenario.id,
            corpus=self.corpus,
            repeat=self.repeat,
            settings={**user, **self.settings},
        )

    @property
    def log(self) -> ConversationLog:
        """Its conversation: two system turns, the second with the list."""
        items = [ItemRef(id=name, name=name) for name in self.items]
        if self.hit_at is not None:
            items[self.hit_at - 1] = TARGET
        return ConversationLog(
            system=self.system,
            scenario=self.scenario,
            interaction=(
                Turn(speaker=Speaker.SYSTEM, text="What do you like?"),
                Turn(speaker=Speaker.USER, text="Something tense, with cops."),
                Turn(speaker=Speaker.SYSTEM, text=self.said, items=tuple(items)),
                Turn(speaker=Speaker.USER, text="Thanks." + "!" * self.repeat),
            ),
            ending=self.ending,
            hit_round=None if self.hit_at is None else 2,
            leaks_caught=self.leaks[0],
            leaks_through=self.leaks[1],
        )

    def ratings(self) -> tuple[Rating, ...]:
        """Twelve factors."""
        factors = zip(Factor, self.factors, strict=True)
        return tuple(
            _rating(self.judge, factor, score, 4, self.unscored) for factor, score in factors
        )

    def computed(self) -> tuple[Rating, ...]:
        """Recall, and what was counted in the log."""
        log = self.log
        new = None if self.target_seen else log.recall_at(10)
        numbers = {f"recall@{k}": log.recall_at(k) for k in (1, 5, 10)}
        counted = {"leaks_caught": self.leaks[0], "leaks_through": self.leaks[1]}
        return (
            *(_computed(name, value, 1) for name, value in numbers.items()),
            _computed("new_recall@10", new, 1),
            *(_computed(name, value, None) for name, value in counted.items()),
        )

    def persuasion(self) -> tuple[Rating, ...]:
        """What the user says of being persuaded."""
        return (_rating(self.user, PERSUASIVENESS, self.persuasiveness, 2),)

    def overall(self) -> Rating:
        """The verdict as a rating."""
        verdict = self.debate().verdict
        return Rating(
            evaluator="debate",
            factor="Overall",
            score=verdict.score,
            status=verdict.status,
            reason=verdict.reason,
            high=100,
        )

    def debate(self) -> Debate:
        """What was said, and the mean of the last round."""
        statements = [
            Statement(
                role=role,
                round=number,
                speaker=self.debater,
                text=f"As the {role} I weighed my factors.",
                score=score,
                status=Status.SCORED if score is not None else Status.ABSTAINED,
            )
            for number, scores in enumerate(self.scores, start=1)
            for role, score in zip(Role, scores, strict=True)
        ]
        last = [score for score in self.scores[-1] if score is not None]
        verdict = Verdict(
            score=sum(last) / len(last) if last else None,
            status=Status.SCORED if last else Status.ABSTAINED,
            reason="" if last else "no role spoke",
            spoke=len(last),
            rounds=len(self.scores),
            agreed=len(set(last)) == 1,
        )
        transcript = DebateTranscript(
            log=self.log.id, max_rounds=4, protocol="p", statements=tuple(statements)
        )
        return Debate(transcript, verdict)


def evaluator(
    kind: str, *, name: str = "", version: int = 0, model: str = "large-model-1", judgings: int = 1
) -> PlannedEvaluator:
    """`core` or `outcome`, as a campaign asks for it; `version` makes it another one."""
    core = kind == "core"
    settings: dict[str, JSON] = {"version": version, "models": {"main": {"name": model}}}
    return PlannedEvaluator(
        id=evaluator_id(kind, settings),
        kind=kind,
        name=name or kind,
        settings=settings,
        judgings=judgings,
        metrics=core_metrics(verdict="Rule verdict", llm=False) if core else METRICS,
        stages=("rate", "debate") if core else ("log", "persuasiveness"),
    )


def fill(
    store: Store,
    played: Iterable[Played],
    *,
    name: str = "A small campaign",
    campaign: str = CAMPAIGN,
    evaluators: Sequence[PlannedEvaluator] = (evaluator("outcome"), evaluator("core")),
) -> str:
    """Keep a campaign of these conversations and of what each of `evaluators` gave them; its
    id."""
    several = list(played)
    config = {"model": {"name": "large-model-1", "base_url": "http://127.0.0.1"}}
    setup = Setup(config=config, recjury="0.1.0", seeds={"campaign": 7})
    store.begin(Campaign(id=campaign, name=name, setup=setup))
    store.plan(campaign, [one.planned for one in several])
    store.join(campaign, evaluators)
    asyncio.run(_keep(store, several, evaluators))
    return campaign


async def _keep(
    store: Store,
    several: Iterable[Played],
    evaluators: Sequence[PlannedEvaluator],
) -> None:
    for one in several:
        conversation = one.planned.id
        if one.failure is not None:
            said = None if one.ending is Ending.ROUND_LIMIT else one.log
            await store.save_failure(conversation, "converse", one.failure, said)
            continue
        await store.save_log(conversation, one.log, one.seconds)
        for each in evaluators:
            for judging in range(each.judgings):
                await _evaluate(store, one, each, judging)


async def _evaluate(store: Store, one: Played, each: PlannedEvaluator, judging: int) -> None:
    planned = evaluation(one, each, judging)
    if each.kind == "outcome":
        await store.save_stage(planned, "log", StageResult(one.computed()))
        await store.save_stage(planned, "persuasiveness", StageResult(one.persuasion()))
        return
    await store.save_stage(planned, "rate", StageResult(one.ratings()))
    if one.scores:
        debate = StageResult((one.overall(),), debate=one.debate())
        await store.save_stage(planned, "debate", debate)


def evaluation(one: Played, each: PlannedEvaluator, judging: int = 0) -> PlannedEvaluation:
    """What `each` is to evaluate of `one`."""
    log = one.log.id
    return PlannedEvaluation(
        identity=evaluation_id(log, each.id, {}, judging),
        log=log,
        evaluator=each.id,
        judging=judging,
    )


def _computed(metric: str, value: float | None, high: float | None) -> Rating:
    return Rating(
        evaluator="computed",
        factor=metric,
        score=value,
        status=Status.NOT_APPLICABLE if value is None else Status.SCORED,
        reason="" if value is not None else "not for this conversation",
        high=high,
    )


def _rating(
    evaluator: str,
    factor: str,
    score: float | None,
    high: float,
    unscored: Status = Status.NOT_MEASURED,
) -> Rating:
    return Rating(
        evaluator=evaluator,
        factor=factor,
        score=score,
        status=Status.SCORED if score is not None else unscored,
        reason="" if score is not None else "needs a knowledge graph",
        rationale="" if score is None else f"{factor} was counted over two system turns.",
        high=high,
    )
