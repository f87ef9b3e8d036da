"""The released particles of CRSArena-Eval: JSON lines, although the file name ends in `.json`."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from recjury.corpora.data_problems import Fault, Problem
from recjury.corpora.json_rows import ClosedRow
from recjury.errors import DataError
from recjury.input_files import read_rows
from recjury.records import (
    Decomposition,
    DialogueAct,
    Particle,
    ScoreTarget,
    TurnParticles,
)

NO_FEEDBACK = "NO_FEEDBACK_PROVIDED"
"""The file's marker for a particle on which the user gave no feedback."""

_MARKS = re.compile(r"[\W_]+")


class _Particle(ClosedRow):
    particle_ind: int
    dialogue_act: str
    particle: str
    user_feedback: str


class _Row(ClosedRow):
    conv_id: str
    turn_ind: int
    assistant_utterance: str
    particles: list[_Particle]


def read_crsarena_particles(path: Path) -> dict[ScoreTarget, TurnParticles]:
    """The particles of every system turn in the file, by place, in file order.

    Raises DataError, with the line, for another form, an act that is not one of the five,
    particles that are not numbered from 0, and a turn that occurs twice.
    """
    found: dict[ScoreTarget, TurnParticles] = {}
    for number, row in read_rows(path, _Row):
        place = ScoreTarget(row.conv_id, row.turn_ind)
        if place in found:
            raise DataError(f"a second {place}", path=path, line=number)
        if [each.particle_ind for each in row.particles] != list(range(len(row.particles))):
            raise DataError(f"{place}: expected particles 0, 1, 2, ...", path=path, line=number)
        try:
            particles = tuple(map(_particle, row.particles))
        except ValueError as error:
            raise DataError(f"{place}: {error}", path=path, line=number) from None
        found[place] = TurnParticles(turn=row.turn_ind, particles=particles)
    if not found:
        raise DataError("holds no turn", path=path)
    return found


def _particle(given: _Particle) -> Particle:
    feedback = None if given.user_feedback == NO_FEEDBACK else given.user_feedback
    return Particle(act=DialogueAct(given.dialogue_act), mention=given.particle, feedback=feedback)


def by_conversation(particles: Mapping[ScoreTarget, TurnParticles]) -> dict[str, Decomposition]:
    """The particles grouped by conversation, with turns in order."""
    turns: dict[str, list[TurnParticles]] = {}
    for place, own in particles.items():
        turns.setdefault(place.conversation, []).append(own)
    return {
        conversation: Decomposition(
            decomposer="file", turns=tuple(sorted(some, key=lambda own: own.turn))
        )
        for conversation, some in turns.items()
    }


def not_in_turn(place: ScoreTarget, own: TurnParticles, text: str) -> Iterator[Problem]:
    """The particles of a turn that are not in its `text`; case and punctuation are ignored."""
    folded = _folded(text)
    for number, particle in enumerate(own.particles):
        if _folded(particle.mention) not in folded:
            what = f"particle {number}: {particle.mention[:60]!r} is not in the turn"
            yield Problem(Fault.NOT_IN_TURN, place, "", what)


def _folded(text: str) -> str:
    return f" {_MARKS.sub(' ', text.casefold()).strip()} "
