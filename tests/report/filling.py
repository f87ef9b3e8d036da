"""Fills a real store with small trials whose numbers are known."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from recjury.records import (
    PERSUASIVENESS,
    ConversationLog,
    DebateTranscript,
    Ending,
    Factor,
    ItemRef,
    Rating,
    Role,
    Scenario,
    Speaker,
    Statement,
    Status,
    Turn,
    Verdict,
    digest,
)
from recjury.store import Campaign, Setup, Store, Trial

CAMPAIGN = "f00dfacef00d"
TARGET = ItemRef(id="t", name="Heat (1995)")


@dataclass
class Played:
    """One trial to keep. `hit_at` is the 1-based place of the target in the last list.

    `scores` are by round, each in the order of `Role`; the verdict is the mean of the last.
    `factors` of None leaves the factor unscored; `failure` fails the stage "converse".
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
    def trial(self) -> Trial:
        """Its plan."""
        return Trial(
            id=digest([self.system, self.corpus, self.record, self.repeat, self.settings]),
            system=self.system,
            scenario=self.scenario.id,
            corpus=self.corpus,
            repeat=self.repeat,
            settings=self.settings,
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
                Turn(speaker=Speaker.USER, text="Thanks."),
            ),
            ending=self.ending,
            hit_round=None if self.hit_at is None else 2,
            leaks_caught=self.leaks[0],
            leaks_through=self.leaks[1],
        )

    def ratings(self) -> tuple[Rating, ...]:
        """Twelve factors, and persuasiveness."""
        factors = zip(Factor, self.factors, strict=True)
        given = [_rating(self.judge, factor, score, 4) for factor, score in factors]
        return (*given, _rating(self.user, PERSUASIVENESS, self.persuasiveness, 2))

    def debate(self) -> tuple[DebateTranscript, Verdict]:
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
        return transcript, verdict


def fill(
    store: Store,
    played: Iterable[Played],
    *,
    name: str = "A small campaign",
    campaign: str = CAMPAIGN,
) -> None:
    """Keep a campaign of these trials."""
    several = list(played)
    config = {"model": {"name": "large-model-1", "base_url": "http://127.0.0.1"}}
    setup = Setup(config=config, recjury="0.1.0", seeds={"campaign": 7})
    store.begin(Campaign(id=campaign, name=name, setup=setup))
    store.add_trials(campaign, [one.trial for one in several])
    asyncio.run(_keep(store, several))


async def _keep(store: Store, several: Iterable[Played]) -> None:
    for one in several:
        if one.failure is not None:
            await store.save_failure(one.trial.id, "converse", one.failure)
            continue
        await store.save_log(one.trial.id, one.log)
        await store.save_ratings(one.trial.id, one.ratings())
        if one.scores:
            await store.save_debate(one.trial.id, *one.debate())


def _rating(evaluator: str, factor: str, score: float | None, high: float) -> Rating:
    return Rating(
        evaluator=evaluator,
        factor=factor,
        score=score,
        status=Status.SCORED if score is not None else Status.NOT_MEASURED,
        reason="" if score is not None else "needs a knowledge graph",
        rationale="" if score is None else f"{factor} was counted over two system turns.",
        high=high,
    )
