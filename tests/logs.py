"""Logs and asks for tests of judges and debates."""

import weakref
from collections.abc import Callable, Iterable

from recjury.corpora import open_corpus
from recjury.llm import Ask, Gateway, Model, ScriptedModel
from recjury.records import ConversationLog, Request, Scenario, Turn, Unit
from recjury.store import Store

CATALOGUE = open_corpus("sample").catalogue
HEAT, ALIEN, THIEF = (CATALOGUE.resolve(name) for name in ("Heat (1995)", "Alien (1979)", "Thief"))
SCENARIO = Scenario(
    id="s1",
    corpus="sample",
    history=(Turn(speaker="user", text="I like slow crime films."),),
    targets=(HEAT,),
)


def log_of(*turns: Turn, scenario: Scenario = SCENARIO, linked: bool = False) -> ConversationLog:
    return ConversationLog(
        scenario=scenario, interaction=turns, ending="round limit", linked=linked
    )


LOG = log_of(
    Turn(speaker="system", text="How about Alien?", items=(ALIEN, THIEF)),
    Turn(speaker="user", text="No, I said crime."),
    Turn(speaker="system", text="Then Heat, for its patience.", items=(HEAT,)),
    Turn(speaker="user", text="Yes, thank you."),
)


def ask_of(
    replies: Iterable[str] | Callable[[Request, str], str], *, aliases: tuple[str, ...] = ("main",)
) -> tuple[Ask, ScriptedModel]:
    """An `Ask` over a store in memory, whose models all say what the script says."""
    model = ScriptedModel(replies)
    models = {alias: Model(name=alias) for alias in aliases}
    store = Store(":memory:")
    gateway = Gateway(models, store, lambda _: model)
    weakref.finalize(gateway, store.close)
    return Ask(gateway, Unit("c", "conversation", "evaluation")), model


def said(request: Request) -> str:
    """A prompt as the model reads it."""
    return "\n".join(message.text for message in request.messages)
