"""Conversations that are rated as a test says, in a store."""

import asyncio
from collections.abc import Sequence
from typing import Any

from recjury.records import (
    DEBATE,
    ConversationLog,
    Debate,
    Finding,
    Rating,
    Statement,
    Status,
    Turn,
)
from recjury.store import PlannedConversation, PlannedEvaluator, Store

METRICS = [
    {"name": "overall", "title": "Overall", "high": 100},
    {"name": "novelty", "title": "Novelty", "high": 4},
    {"name": "rounds", "title": "Rounds", "low": 1},
]


def said(*texts: str, ending: str = "round limit", **scenario: Any) -> ConversationLog:
    """A log in which user and system take turns."""
    turns = [
        Turn(speaker="system" if number % 2 else "user", text=text)
        for number, text in enumerate(texts)
    ]
    return log_of(turns, ending=ending, **scenario)


def log_of(
    turns: Sequence[Turn], *, ending: str = "round limit", **scenario: Any
) -> ConversationLog:
    values = {"scenario": {"id": "s1", "corpus": "sample", **scenario}, "interaction": turns}
    return ConversationLog.model_validate(values | {"ending": ending})


def rated(metric: str, score: float | None, reason: str = "", **more: Any) -> Rating:
    status = Status.OK if score is not None else Status.UNREADABLE
    return Rating(
        **{"metric": metric, "rater": "main", "score": score, "status": status} | more,
        rationale=reason,
    )


def debated(*rounds: Sequence[float | None]) -> Debate:
    """A debate by the scores of each round; None abstains."""
    roles = ("Common User", "Domain Expert", "Linguist", "HCI Expert")
    statements = [
        Statement(role=role, round=number, speaker="main", text=f"I give {score}.", score=score)
        if score is not None
        else Statement(role=role, round=number, speaker="main", status=Status.NOT_APPLICABLE)
        for number, scores in enumerate(rounds, 1)
        for role, score in zip(roles, scores, strict=False)
    ]
    last = [score for score in rounds[-1] if score is not None]
    verdict = Rating(metric="overall", rater=DEBATE, score=sum(last) / len(last))
    return Debate(statements=tuple(statements), verdict=verdict)


def put(
    store: Store,
    log: ConversationLog,
    *judgings: Sequence[Finding],
    system: str = "mine",
    number: int = 0,
    metrics: Sequence[dict[str, Any]] = METRICS,
) -> str:
    """A finished run of one conversation, which `core` has judged; its id."""
    run = store.start("films", {"name": "films"}, {})
    id_ = f"{number}{system}".ljust(32, "0")
    evaluator = PlannedEvaluator(
        f"core-{len(metrics)}", "core", "core", {}, list(metrics), max(1, len(judgings))
    )
    about = (system, "v1", "llm", "1", log.scenario.corpus, log.scenario.id, 0)
    store.plan(run, [PlannedConversation(id_, number, *about)], [evaluator])

    async def save() -> None:
        await store.save_log(id_, log, play=id_, seconds=[0.5] * log.rounds)
        for judging, findings in enumerate(judgings):
            await store.save_evaluation(id_, evaluator.id, judging, list(findings), tries=0)

    asyncio.run(save())
    store.end(run, "finished")
    return id_
