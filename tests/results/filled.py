"""A store with conversations that are rated as a test says."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from recjury.records import (
    DEBATE,
    ConversationLog,
    Debate,
    Event,
    ItemRef,
    Rating,
    Scenario,
    Statement,
    Status,
    Turn,
)
from recjury.store import PlannedConversation, PlannedEvaluator, Store

METRICS = [
    {"name": "overall", "title": "Overall", "high": 100},
    {"name": "novelty", "title": "Novelty", "high": 4},
    {"name": "success", "title": "Success", "high": 1},
    {"name": "rounds", "title": "Rounds", "low": 1, "lower_is_better": True},
]

Scores = Mapping[str, Sequence[float | None]]
"""The scores of a system by metric, one for each scenario."""


def log_of(
    scenario: str, text: str = "Try Heat.", *, items: int = 0, **more: Any
) -> ConversationLog:
    shown = tuple(ItemRef(id=f"f{number}", name=f"Film {number}") for number in range(items))
    turns = (
        Turn(speaker="user", text="A film?\nPlease."),
        Turn(speaker="system", text=text, items=shown, events=(Event(kind="card", value=[1]),)),
    )
    about = Scenario(
        id=scenario,
        corpus="sample",
        history=(Turn(speaker="user", text="Hello."),),
        targets=(ItemRef(id="f1", name="Film 1"),),
    )
    values = {"scenario": about, "interaction": turns, "ending": "round limit"} | more
    return ConversationLog.model_validate(values)


def rating(metric: str, score: float | None, rater: str = "main") -> Rating:
    status = Status.OK if score is not None else Status.UNREADABLE
    reason = "" if score is not None else "no rating tag"
    rater = DEBATE if metric == "overall" else rater
    return Rating(metric=metric, rater=rater, score=score, status=status, reason=reason)


def debate(score: float, *silent: str) -> Debate:
    roles = ("Linguist", "HCI Expert")
    said = [
        Statement(role=role, round=1, speaker="main", status=Status.NOT_APPLICABLE, reason="none")
        if role in silent
        else Statement(role=role, round=1, speaker="main", text="I think so.", score=score)
        for role in roles
    ]
    return Debate(statements=tuple(said), verdict=rating("overall", score))


def evaluator(name: str = "core", kind: str = "rubric") -> PlannedEvaluator:
    return PlannedEvaluator(f"{kind}-{name}", kind, name, {}, METRICS, 1)


def fill(
    store: Store,
    scores: Mapping[str, Scores],
    *,
    campaign: str = "films",
    config: Mapping[str, Any] | None = None,
    evaluators: Sequence[PlannedEvaluator] | None = None,
    user: str = "llm",
    version: str = "1111aaaa",
    first: int = 0,
    logs: Mapping[str, ConversationLog] | None = None,
    repeats: int = 1,
) -> None:
    """A finished run: each system met scenarios from number `first` on, `repeats` times.

    All `evaluators` give the same scores.
    """
    evaluators = evaluators or [evaluator()]
    run = store.start(campaign, {"name": campaign, **(config or {})}, {})
    plan: dict[str, tuple[PlannedConversation, list[Rating]]] = {}
    for system, by_metric in scores.items():
        for number in range(len(next(iter(by_metric.values())))):
            found = [rating(metric, values[number]) for metric, values in by_metric.items()]
            for repeat in range(repeats):
                scenario = f"s{first + number}"
                id_ = f"{version}-{system}-{user}-{scenario}-{repeat}"
                about = (system, version, user, "1", "sample", scenario, repeat)
                plan[id_] = PlannedConversation(id_, len(plan), *about), found
    store.plan(run, [each for each, _ in plan.values()], evaluators)

    async def save() -> None:
        for id_, (each, found) in plan.items():
            log = (logs or {}).get(each.system) or log_of(each.scenario, f"I am {each.system}.")
            await store.save_log(id_, log, play=id_, seconds=[0.5])
            for one in evaluators:
                await store.save_evaluation(id_, one.id, 0, found, tries=0)

    asyncio.run(save())
    store.end(run, "finished")
