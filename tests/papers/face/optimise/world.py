"""A small world to optimise in: places with labels, and a model that some instructions suit.

An instruction says how good it is ("quality 0.45"); the rater's score of a particle follows the
label so closely, and is noise for the rest. Rewriting an instruction gives one that is somewhat
better or worse. All of it depends on the request alone, so that a run that was killed can be held
against one that was not.
"""

import hashlib
import math
import re
from random import Random

from recjury.errors import ParseError
from recjury.judges.face.face_prompts import Situation
from recjury.judges.face.scorer import Target
from recjury.llm import SupportsComplete, finished_text, read_reply
from recjury.papers.face.optimise.examples import LabelledExample
from recjury.records import Aspect, ChatRequest, DialogueAct, Message, Particle, Reply
from tests.endpoint import Answer, Body, prompt

ASPECT = Aspect.DIALOGUE_OVERALL
INITIAL = "Look at the particle. (quality 0.10)"

_QUALITY = re.compile(r"\(quality (-?\d\.\d\d)\)")
_PARTICLE = re.compile(r"particle (\d+) of a place worth (\d)")


def piece(number: int, worth: int) -> Target:
    """A particle: its number, and the label that a perfect rater would see in it."""
    text = f"particle {number} of a place worth {worth}"
    particle = Particle(act=DialogueAct.RECOMMENDATION, mention=text)
    return Target(Situation("", "", ""), 0, number, particle)


class AskingScorer:
    """Scores by asking the model, once a particle."""

    def __init__(self, gateway: SupportsComplete):
        self._gateway = gateway

    async def score(self, instruction: str, particle: Target) -> float | None:
        text = f"Score this.\n{instruction}\n{self.describe(particle)}"
        request = ChatRequest("main", (Message("user", (text,)),), "score", temperature=0.6)
        return (await read_reply(self._gateway, request, _score)).value

    def describe(self, particle: Target) -> str:
        return particle.particle.mention


def examples(count: int, *, first: int = 0, particles: int = 3) -> list[LabelledExample]:
    """Places with labels from 0 to 4 that all occur."""
    return [
        LabelledExample(
            f"place {place}",
            float(place % 5),
            tuple(piece(10 * place + n, place % 5) for n in range(particles)),
        )
        for place in range(first, first + count)
    ]


def quality(text: str) -> float:
    """How good the instruction in `text` is."""
    found = _QUALITY.search(text)
    assert found is not None, text
    return float(found[1])


def noisy_score(instruction: str, particle: str, *, samples: int = 5) -> float:
    """The mean of `samples` whole scores from 0 to 4, a multiple of 0.2 for five."""
    found = _PARTICLE.search(particle)
    assert found is not None, particle
    good, rng = quality(instruction), Random(instruction + found[0])
    seen = good * (int(found[2]) - 2) / math.sqrt(2) + math.sqrt(1 - good * good) * rng.gauss()
    share = 1 / (1 + math.exp(-1.5 * seen))
    return sum(rng.random() < share for _ in range(4 * samples)) / samples


def play(body: Body) -> Answer:
    """The model's reply: a score, or a critique with a rewritten instruction."""
    text = prompt(body)
    rng = Random(hashlib.sha256(f"{text}{body.get('seed')}".encode()).hexdigest())
    if text.startswith("Score this."):
        return f"{noisy_score(text, text):.1f}"
    better = min(0.95, max(0.0, quality(text) + rng.gauss(0.02, 0.15)))
    return (
        "<critique>It says too little.</critique>\n<instructions>"
        f"Step 1: is it useful? [{rng.randrange(10**6)}] (quality {better:.2f})</instructions>"
    )


def _score(reply: Reply) -> float:
    try:
        return float(finished_text(reply))
    except ValueError:
        raise ParseError("no number") from None
