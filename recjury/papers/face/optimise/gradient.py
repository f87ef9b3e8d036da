"""Textual gradients: what is wrong with an instruction, shown on one particle (FACE, eq. 2)."""

import re
from typing import NamedTuple

from recjury.errors import ParseError
from recjury.llm import finished_text
from recjury.prompts import Pack
from recjury.records import Aspect, Level, Message, Reply


class Task(NamedTuple):
    """The purpose of the instructions: an aspect, and the criteria that the scorer always shows."""

    aspect: Aspect
    criteria: str


class Case(NamedTuple):
    """An instruction with a particle, the particle's score, and the label.

    `particle` is the particle as prompts show it. `score` is None if no reply of the rater could be
    parsed. `label` is that of the whole turn or dialogue, on the aspect's scale.
    """

    instruction: str
    particle: str
    score: float | None
    label: float


def gradient_message(pack: Pack, task: Task, case: Case, *, rewrite: bool) -> Message:
    """The message that asks for a critique, and with `rewrite` also for new instructions."""
    whole = "turn" if task.aspect.level is Level.TURN else "dialogue"
    shown = pack.render(
        "case",
        aspect=str(task.aspect).replace("_", " "),
        low=task.aspect.low,
        high=task.aspect.high,
        criteria=task.criteria,
        instruction=case.instruction,
        particle=case.particle,
        score=None if case.score is None else f"{case.score:.2f}",
        label=f"{case.label:.2f}",
        whole=whole,
    )
    fewest, most = pack.manifest["words"]
    asked = pack.render("both" if rewrite else "criticise", whole=whole, fewest=fewest, most=most)
    return Message("user", (*shown, "\n\n", *asked))


def read_critique(reply: Reply) -> str:
    """The critique in a reply. Raises ParseError unless there is exactly one."""
    return tagged(reply, "critique")


def tagged(reply: Reply, tag: str) -> str:
    """The only text between <tag> and </tag>.

    Raises ParseError if there is none, more than one, or an empty one, and for a truncated reply.
    """
    found = re.findall(rf"<{tag}>(.*?)</{tag}>", finished_text(reply), re.DOTALL | re.IGNORECASE)
    if len(found) != 1:
        raise ParseError(f"expected one text between <{tag}> and </{tag}>, got {len(found)}")
    text: str = found[0].strip()
    if not text:
        raise ParseError(f"nothing stands between <{tag}> and </{tag}>")
    return text
