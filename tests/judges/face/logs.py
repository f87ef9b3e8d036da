"""A log, particles and a gateway that FACE's tests share."""

from collections.abc import Callable, Iterable

from recjury.llm import Gateway, ScriptedModel
from recjury.llm.scripted import Line
from recjury.records import (
    ChatRequest,
    ConversationLog,
    Decomposition,
    DialogueAct,
    Ending,
    Particle,
    Scenario,
    Speaker,
    Turn,
    TurnParticles,
)
from tests.answers import in_the_form_asked
from tests.judges.cases import SPEC, MemoryRecorder

REC, ASK, OTHER = DialogueAct.RECOMMENDATION, DialogueAct.PREFERENCE_ELICITATION, DialogueAct.OTHERS
HEAT = Particle(act=REC, mention="Try Heat (1995)", feedback="Heat is great")
SLOW = Particle(act=OTHER, mention="It is slow")


def log(*texts: str) -> ConversationLog:
    """A conversation that the user opens; by default the system speaks at turns 1 and 3."""
    said = texts or ("A heist film?", "Try Heat (1995). It is slow.", "Heat is great", "Bye!")
    speakers = (Speaker.USER, Speaker.SYSTEM)
    return ConversationLog(
        system="kbrd_redial",
        scenario=Scenario(corpus="crsarena-eval/redial", record="kbrd_redial_1"),
        interaction=tuple(
            Turn(speaker=speakers[number % 2], text=text) for number, text in enumerate(said)
        ),
        ending=Ending.RECORDED,
    )


def decomposition(*particles: Particle) -> Decomposition:
    """Turn 1 as `particles`, turn 3 as none."""
    own = particles or (HEAT, SLOW)
    return Decomposition(
        decomposer="test",
        turns=(TurnParticles(turn=1, particles=own), TurnParticles(turn=3, particles=())),
    )


def scripted(
    script: Iterable[Line] | Callable[[ChatRequest], Line],
) -> tuple[Gateway, ScriptedModel]:
    """A gateway to a scripted model called "main"."""
    model = ScriptedModel(in_the_form_asked(script))
    return Gateway({"main": SPEC}, MemoryRecorder(), providers={"main": model}), model
