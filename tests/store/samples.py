"""A small campaign: two systems on two scenarios, rated by two evaluators."""

from collections.abc import Sequence

from recjury.records import (
    DEBATE,
    Completion,
    ConversationLog,
    Debate,
    Ending,
    Evidence,
    Finding,
    Message,
    Rating,
    Request,
    Scenario,
    Statement,
    Status,
    Turn,
    Unit,
)
from recjury.store import PlannedConversation, PlannedEvaluator, Store

UNIT = Unit("films", "a1", "")
CORE = PlannedEvaluator("e-core", "core", "core", {"kind": "core"}, [{"name": "overall"}], 2)
OUTCOME = PlannedEvaluator("e-outcome", "outcome", "outcome", {}, [{"name": "success"}], 1)


def planned(id_: str, ordinal: int, version: str = "v1") -> PlannedConversation:
    """`a1` is the conversation of system a on scenario 1."""
    return PlannedConversation(id_, ordinal, id_[0], version, "llm", "u1", "sample", id_[1], 0)


PLAN = tuple(planned(id_, ordinal) for ordinal, id_ in enumerate(("a1", "b1", "a2", "b2")))


def started(
    store: Store,
    plan: Sequence[PlannedConversation] = PLAN,
    evaluators: Sequence[PlannedEvaluator] = (CORE, OUTCOME),
    campaign: str = "films",
) -> int:
    """A run of the campaign, with its plan."""
    run = store.start(campaign, {"name": campaign}, {"recjury": "1"})
    store.plan(run, plan, evaluators)
    return run


def talk(
    text: str = "Try Heat.", ending: Ending = "round limit", failure: str = ""
) -> ConversationLog:
    turns = (Turn(speaker="system", text=text, failure=failure), Turn(speaker="user", text="No."))
    return ConversationLog(scenario=Scenario(id="1"), interaction=turns, ending=ending)


async def play(store: Store, *ids: str) -> None:
    for id_ in ids:
        await store.save_log(id_, talk(), play=f"play of {id_}", seconds=[0.5])


def rating(metric: str = "success", score: float | None = 1, turn: int | None = None) -> Rating:
    status = Status.UNREADABLE if score is None else Status.OK
    return Rating(metric=metric, rater="judge", score=score, status=status, turn=turn)


def debate(calls: tuple[str, ...] = ()) -> Debate:
    statements = (
        Statement(role="linguist", round=1, speaker="main", text="Good.", score=70, calls=calls),
        Statement(role="expert", round=1, speaker="main", status=Status.CALL_FAILED, reason="gone"),
    )
    return Debate(statements=statements, verdict=Rating(metric="overall", rater=DEBATE, score=70))


FINDINGS: tuple[Finding, ...] = (
    rating("groundness", 4, turn=2),
    Evidence(name="n", value=5),
    debate(),
    Evidence(name="none", value=None),
    Evidence(name="list", value=[{"a": "1e5"}, 0.1]),
    Rating(metric="tone", rater="judge", status=Status.NOT_APPLICABLE, reason="no list"),
    Rating(metric="fit", rater="judge", score=2.5, rationale="because", calls=("k1", "k2")),
)


def request(*parts: str) -> Request:
    return Request((Message("system", ("You are a judge.",)), Message("user", parts)), "judge")


def reply(call: str, text: str = "3", cost: float | None = 0.25) -> Completion:
    return Completion(text, call=call, code="a1b2", tokens_in=40, tokens_out=9, cost=cost)
