"""Logs, ratings and a gateway that the tests of judges and debates share."""

from collections.abc import Callable, Iterable

from recjury.campaign.planned_calls import count_calls
from recjury.judges import Evaluator
from recjury.llm import EndpointSpec, Gateway, ScriptedModel
from recjury.llm.scripted import Line
from recjury.records import (
    CallRecord,
    ChatRequest,
    ConversationLog,
    Ending,
    Factor,
    ItemRef,
    Rating,
    Reply,
    Scenario,
    Speaker,
    Turn,
)
from tests.answers import in_the_form_asked

HEAT = ItemRef(id="1", name="Heat (1995)")
RONIN = ItemRef(id="2", name="Ronin (1998)")
FARGO = ItemRef(id="3", name="Fargo (1996)")
SPEC = EndpointSpec(base_url="http://127.0.0.1:9/v1", name="scripted", retries=0)


class MemoryRecorder:
    """Keeps calls in a dict."""

    secret = b"of a test"

    def __init__(self) -> None:
        self.calls: dict[str, CallRecord] = {}

    async def recall(self, identity: str) -> Reply | None:
        kept = self.calls.get(identity)
        return None if kept is None else kept.reply

    async def record(self, call: CallRecord) -> None:
        self.calls[call.identity] = call


def gateway_of(
    script: Iterable[Line] | Callable[[ChatRequest], Line], *aliases: str
) -> tuple[Gateway, ScriptedModel]:
    """A gateway whose models all answer from one script, and that script."""
    model = ScriptedModel(in_the_form_asked(script))
    names = aliases or ("judge",)
    # A name of its own per alias: calls to different models are different calls.
    models = {name: SPEC.model_copy(update={"name": name}) for name in names}
    return Gateway(models, MemoryRecorder(), providers=dict.fromkeys(names, model)), model


def a_log(
    *said: str,
    items: tuple[ItemRef, ...] = (RONIN, FARGO),
    targets: tuple[ItemRef, ...] = (HEAT,),
    history: tuple[Turn, ...] = (Turn(speaker=Speaker.USER, text="Any good heist films?"),),
) -> ConversationLog:
    """A log in which the system says `said` in turn and the user answers "Tell me more."."""
    turns: list[Turn] = []
    for text in said or ("I would watch Ronin (1998).",):
        turns.append(Turn(speaker=Speaker.SYSTEM, text=text, items=items))
        turns.append(Turn(speaker=Speaker.USER, text="Tell me more."))
    return ConversationLog(
        system="some",
        scenario=Scenario(corpus="tests", record="1", history=history, targets=targets),
        interaction=tuple(turns),
        ending=Ending.ROUND_LIMIT,
    )


def ratings_of(score: float = 3, evaluator: str = "judge") -> tuple[Rating, ...]:
    """The same score for all twelve factors."""
    return tuple(
        Rating(
            evaluator=evaluator, factor=factor, score=score, rationale=f"What speaks for {factor}."
        )
        for factor in Factor
    )


def planned(evaluator: Evaluator, log: ConversationLog | None = None) -> dict[tuple[str, str], int]:
    """The calls that an evaluation of the log is to take, by model and kind."""
    calls = count_calls(evaluator.plan(log or a_log()), attempts=1)
    return {(each.model, each.kind): each.once for each in calls}
