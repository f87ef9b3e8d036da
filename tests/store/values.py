"""Values that the store's tests keep: a log, ratings, a debate, and calls."""

import sqlite3
from pathlib import Path
from typing import Any

from recjury.records import (
    CallRecord,
    ChatRequest,
    Choice,
    ConversationLog,
    Debate,
    DebateTranscript,
    Ending,
    Factor,
    ItemRef,
    Level,
    Message,
    Metric,
    Rating,
    Reply,
    Role,
    Scenario,
    Speaker,
    Statement,
    Status,
    Turn,
    Usage,
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
from recjury.store.sqlite_file import SqliteFile

NASTY = '=HYPERLINK("http://127.0.0.1")\r\nnext,line;"quoted" \x00 NUL \u2028 \U0001f3ac @x'


def identity(number: int) -> str:
    """A call's identity."""
    return digest(["call", number])


def conversation(number: int = 0, system: str = "retrieval") -> PlannedConversation:
    """A planned conversation."""
    return PlannedConversation(
        id=digest(["conversation", number, system]),
        system=system,
        scenario=f"sample/test#{number}",
        corpus="sample/test",
        repeat=0,
        seed=number,
        settings={"system": {"name": system}, "user": "rule"},
    )


def evaluator(kind: str = "core", version: int = 1, **changes: Any) -> PlannedEvaluator:
    """An evaluator to join a campaign."""
    settings = {"version": version}
    planned = PlannedEvaluator(
        id=evaluator_id(kind, settings),
        kind=kind,
        name=kind,
        settings=settings,
        metrics=(Metric(id="novelty", title="Novelty"),),
        stages=("rate", "debate"),
    )
    return planned.model_copy(update=changes)


def evaluation(
    by: PlannedEvaluator | None = None, number: int = 0, judging: int = 0, log_id: str = ""
) -> PlannedEvaluation:
    """The evaluation of a log: of `log(number)`, unless another is named."""
    by, about = by or evaluator(), log_id or log(number).id
    data = {"catalogue": "c1"}
    return PlannedEvaluation(
        identity=evaluation_id(about, by.id, data, judging),
        log=about,
        evaluator=by.id,
        judging=judging,
        data=data,
    )


def campaign(name: str = "first") -> Campaign:
    """A campaign to begin."""
    setup = Setup(config={"systems": ["retrieval"], "limit": 2}, recjury="0.1.0", seeds={"plan": 7})
    return Campaign(id=digest(name), name=name, setup=setup)


CAMPAIGN = digest("first")
"""What the first campaign is called."""


def log(number: int = 0, text: str = "Try Heat.", calls: tuple[str, ...] = ()) -> ConversationLog:
    """A finished conversation with one hit."""
    heat, alien = ItemRef(id="1", name="Heat (1995)"), ItemRef(id="2", name="Alien (1979)")
    scenario = Scenario(
        corpus="sample/test",
        record=str(number),
        history=(Turn(speaker=Speaker.USER, text="Hello"),),
        targets=(alien,),
    )
    interaction = (
        Turn(speaker=Speaker.SYSTEM, text=text, items=(heat, alien), calls=calls),
        Turn(speaker=Speaker.USER, text="I like it ü"),
    )
    return ConversationLog(
        system="retrieval",
        scenario=scenario,
        interaction=interaction,
        ending=Ending.HIT,
        hit_round=1,
        leaks_caught=1,
    )


def ratings(calls: tuple[str, ...] = (), rationale: str = "because") -> tuple[Rating, ...]:
    """Twelve ratings, the last one unreadable."""
    scored = tuple(
        Rating(evaluator="judge", factor=factor, score=3, rationale=rationale, calls=calls)
        for factor in list(Factor)[:-1]
    )
    unread = Rating(
        evaluator="judge",
        factor=list(Factor)[-1],
        score=None,
        status=Status.UNREADABLE,
        reason="rating 7 is outside 0 to 4",
    )
    return (*scored, unread)


def repaired(said: Debate) -> Debate:
    """The same debate, of which the first reply had to be repaired."""
    first, *more = said.transcript.statements
    statements = (first.model_copy(update={"repaired": "a trailing comma"}), *more)
    return said._replace(transcript=said.transcript.model_copy(update={"statements": statements}))


def debate(log_id: str, calls: tuple[str, ...] = ()) -> Debate:
    """A debate of one round in which all agree."""
    said = tuple(
        Statement(role=role, round=1, speaker="rule", text=f"{role} says", score=70, calls=calls)
        for role in Role
    )
    transcript = DebateTranscript(
        log=log_id, max_rounds=4, protocol="p1", judges=("judge",), statements=said
    )
    return Debate(transcript, Verdict(score=70.0, spoke=4, rounds=1, agreed=True))


def call(
    number: int = 0, parts: tuple[str, ...] = ("the rubric ", "the log"), reply: str = "3"
) -> CallRecord:
    """A finished call of two messages."""
    request = ChatRequest(
        model="judge",
        messages=(Message("system", ("You rate.",)), Message("user", parts)),
        purpose="judge/Novelty",
        max_tokens=64,
        schema={"type": "object"},
        sample=number % 3,
    )
    kept = Reply(
        call=identity(number),
        text=reply,
        finish_reason="stop",
        model="some-model",
        usage=Usage(prompt_tokens=10, completion_tokens=2, cost=0.25),
        logprobs=(("3", -0.1, (("3", -0.1), ("2", -2.5))),),
        latency=0.5,
        attempts=2,
    )
    return CallRecord(identity(number), request, kept, conversation().id, 1000.5)


def call_of_several(number: int = 2) -> CallRecord:
    """A finished call that asked for four replies at once; the third was cut off."""
    single = call(number)
    more = (Choice("4", "stop"), Choice("so", "length"), Choice("3", "stop"))
    return single._replace(
        request=single.request._replace(n=4), reply=single.reply._replace(further=more)
    )


def call_with_reasoning(number: int = 3) -> CallRecord:
    """A finished call that had to wait, asked for the second time, whose replies have thoughts
    apart."""
    several = call_of_several(number)
    first, second, *more = several.reply.further
    thought = (first._replace(reasoning="Hm, 4."), second, *more)
    reply = several.reply._replace(
        further=thought,
        reasoning="Perhaps 3.",
        waited=0.75,
        fingerprint="fp_1",
    )
    usage = reply.usage._replace(estimated=True)
    request = several.request._replace(attempt=1)
    return several._replace(request=request, reply=reply._replace(usage=usage))


def aspect_ratings() -> tuple[Rating, ...]:
    """What those add up to."""
    return (
        Rating(
            evaluator="face/main",
            factor="relevance",
            score=1.5,
            level=Level.TURN,
            turn=0,
            low=0,
            high=2,
        ),
    )


def begun(store: Store, conversations: int = 1) -> list[str]:
    """Begin the first campaign with some conversations and `core`; their ids."""
    planned = [conversation(number) for number in range(conversations)]
    store.begin(campaign())
    store.join(CAMPAIGN, [evaluator()])
    store.plan(CAMPAIGN, planned)
    return [each.id for each in planned]


def file_of(store: Store) -> Path:
    """The file of a store in SQLite."""
    assert isinstance(store.location, SqliteFile)
    return store.location.path


def alter(at: Path | Store, statement: str, *values: object) -> int:
    """Change a store behind recjury's back; returns how many rows were changed."""
    connection = sqlite3.connect(file_of(at) if isinstance(at, Store) else at)
    try:
        with connection:
            return connection.execute(statement, values).rowcount
    finally:
        connection.close()
