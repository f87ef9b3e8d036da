"""Fill a store with a campaign of any size, through the store's own writer.

`python -m benchmarks.stored_campaign 20000 core runs.db`: the same number gives the same rows.
Half of the conversations are with each of two systems, on the same scenarios. The evaluator
`outcome` computes its metrics from the logs; `core` has twelve ratings and a debate of four roles
in two rounds, with scores that depend on the conversation's number alone.
"""

import argparse
import random
from collections.abc import Iterator

import recjury
from benchmarks.running import run
from benchmarks.workload import made_up_log
from recjury.debate import overall
from recjury.judges.core.evaluator import CoreEvaluator
from recjury.judges.outcome.evaluator import LOG, PERSUASIVE, OutcomeEvaluator, compute
from recjury.judges.outcome.metrics import COMPUTED_METRICS
from recjury.llm import event_loop, gather
from recjury.records import (
    ConversationLog,
    ConversationRecord,
    Debate,
    DebateTranscript,
    Factor,
    Rating,
    Role,
    StageResult,
    Statement,
    Status,
    Verdict,
    digest,
    evaluation_id,
    evaluator_id,
    persuasiveness_subject,
)
from recjury.store import (
    Campaign,
    PlannedConversation,
    PlannedEvaluation,
    PlannedEvaluator,
    Setup,
    Store,
)

SYSTEMS = ("alpha", "beta")
CAMPAIGN = digest("stored campaign")
_PAGE = 2_000  # conversations that are planned and written at once
_WHY = "The system asked what the user likes, and named films that fit; it repeated one of them. "


def fill(store: Store, count: int, kind: str) -> str:
    """Write `count` conversations with the evaluator `kind`; the id of their campaign."""
    evaluator = _evaluator(kind)
    store.begin(Campaign(id=CAMPAIGN, name=f"{count} {kind}", setup=_setup()))
    store.join(CAMPAIGN, (evaluator,))
    store.plan(CAMPAIGN, [_planned(number) for number in range(count)])
    with event_loop() as runner:
        for start in range(0, count, _PAGE):
            runner.run(_write(store, range(start, min(count, start + _PAGE)), evaluator))
    return CAMPAIGN


async def _write(store: Store, numbers: range, evaluator: PlannedEvaluator) -> None:
    await gather((_store(store, number, evaluator) for number in numbers), at_once=256)


async def _store(store: Store, number: int, evaluator: PlannedEvaluator) -> None:
    log = _log(number)
    await store.save_log(_planned(number).id, log, (0.5,) * len(log.system_turns))
    identity = evaluation_id(log.id, evaluator.id, {})
    planned = PlannedEvaluation(identity=identity, log=log.id, evaluator=evaluator.id)
    made = _outcome(log) if evaluator.kind == "outcome" else _core(log, number)
    for stage, result in made:
        await store.save_stage(planned, stage, result)


def _setup() -> Setup:
    return Setup(config={"name": "stored campaign"}, recjury=recjury.__version__)


def _evaluator(kind: str) -> PlannedEvaluator:
    made = OutcomeEvaluator() if kind == "outcome" else CoreEvaluator()
    settings = {"benchmark": kind}
    return PlannedEvaluator(
        id=evaluator_id(kind, settings),
        kind=kind,
        name=kind,
        settings=settings,
        metrics=made.metrics,
        stages=tuple(each.name for each in made.stages),
    )


def _planned(number: int) -> PlannedConversation:
    scenario, system = divmod(number, len(SYSTEMS))
    return PlannedConversation(
        id=digest(["stored conversation", number]),
        system=SYSTEMS[system],
        scenario=f"made-up#{scenario}",
        corpus="made-up",
        settings={"system": {"name": SYSTEMS[system]}, "user": "rule"},
    )


def _log(number: int) -> ConversationLog:
    scenario, system = divmod(number, len(SYSTEMS))
    log = made_up_log(scenario, rounds=1 + random.Random(number).randrange(4))
    # The text names the system: two systems never say the same.
    first, *rest = log.interaction
    said = first.model_copy(update={"text": f"{SYSTEMS[system]}: {first.text}"})
    return log.model_copy(update={"system": SYSTEMS[system], "interaction": (said, *rest)})


def _outcome(log: ConversationLog) -> Iterator[tuple[str, StageResult]]:
    record = ConversationRecord(log, (0.5,) * len(log.system_turns))
    yield LOG, StageResult(tuple(compute(metric, record) for metric in COMPUTED_METRICS))
    asked = persuasiveness_subject("rule").scored(int(log.id, 16) % 3)
    yield PERSUASIVE, StageResult((asked,))


def _core(log: ConversationLog, number: int) -> Iterator[tuple[str, StageResult]]:
    drawn = random.Random(f"core {number}")
    lost = drawn.random() < 0.01
    ratings = [_rating(each, drawn, number) for each in Factor]
    if lost:
        ratings[-1] = Rating(
            evaluator="judge",
            factor=list(Factor)[-1],
            score=None,
            status=Status.UNREADABLE,
            reason="no number was found",
        )
    yield "rate", StageResult(tuple(ratings))
    scores = {role: float(drawn.randrange(20, 96)) for role in Role}
    statements = tuple(
        Statement(
            role=role,
            round=number,
            speaker="judge",
            text=_WHY,
            score=scores[role],
            calls=(digest([log.id, role, number]),),
        )
        for number in (1, 2)
        for role in Role
    )
    transcript = DebateTranscript(
        log=log.id, max_rounds=2, protocol="core-debate", judges=("judge",), statements=statements
    )
    mean = sum(scores.values()) / len(scores)
    verdict = Verdict(score=mean, spoke=len(scores), rounds=2, agreed=False)
    debate = Debate(transcript, verdict)
    yield "debate", StageResult((overall(debate),), debate=debate)


def _rating(factor: Factor, drawn: random.Random, number: int) -> Rating:
    return Rating(
        evaluator="judge",
        factor=factor,
        score=float(drawn.randrange(5)),
        rationale=_WHY,
        rubric="core-judges/1",
        calls=(digest([number, factor]),),
    )


def main() -> None:
    """Fill the store that is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("kind", choices=("outcome", "core"))
    parser.add_argument("store")
    asked = parser.parse_args()
    with Store.open(asked.store) as store:
        print(fill(store, asked.count, asked.kind))


if __name__ == "__main__":
    run(main)
