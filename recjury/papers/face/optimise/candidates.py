"""The rewrites of one iteration, and the particles that show what is wrong with an instruction.

See Algorithm 1.
"""

from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

from recjury.llm import gather
from recjury.papers.face.optimise.examples import LabelledParticle, SupportsScore
from recjury.papers.face.optimise.gradient import Case
from recjury.papers.face.optimise.measuring import scored
from recjury.papers.face.optimise.rewrite import Rewriter
from recjury.records import digest

_WRITERS = 64  # cases at once; each has several calls to make


class InstructionCandidate(NamedTuple):
    """An instruction and its origin.

    `parent` is the instruction that was rewritten (None for the initial one), `particle` the one
    that showed what was wrong with it, and `critique` the fault found. `calls` are the model calls.
    """

    id: str
    text: str
    iteration: int
    parent: str | None = None
    particle: str = ""
    critique: str = ""
    calls: tuple[str, ...] = ()


class Assignment(NamedTuple):
    """An instruction to improve, and the index of the training particle that it is shown on."""

    parent: InstructionCandidate
    particle: int


def new_candidate(text: str, iteration: int, **origin: Any) -> InstructionCandidate:
    """A candidate whose name is derived from its text and iteration: 12 hex digits."""
    return InstructionCandidate(digest([text, iteration])[:12], text, iteration, **origin)


def assignments(
    beam: Sequence[InstructionCandidate], particles: int, wanted: int | None, rng: Random
) -> list[Assignment]:
    """Assign particles to instructions.

    With None, each instruction is shown on all particles, as in Algorithm 1. Otherwise `wanted`
    different particles are drawn and distributed over the beam.
    """
    if wanted is None:
        return [Assignment(parent, place) for parent in beam for place in range(particles)]
    drawn = rng.sample(range(particles), min(wanted, particles))
    return [Assignment(beam[turn % len(beam)], place) for turn, place in enumerate(drawn)]


async def rewrites(
    assigned: Sequence[Assignment],
    particles: Sequence[LabelledParticle],
    scorer: SupportsScore,
    rewriter: Rewriter,
    *,
    iteration: int,
) -> list[InstructionCandidate]:
    """All rewrites in the order of `assigned`; repeated texts are kept once."""

    async def improved(one: Assignment) -> list[InstructionCandidate]:
        shown = particles[one.particle]
        score = await scored(one.parent.text, shown.particle, scorer)
        case = Case(one.parent.text, scorer.describe(shown.particle), score, shown.label)
        purpose = f"face-optimise/{rewriter.task.aspect}/{iteration}"
        return [
            new_candidate(
                rewrite.text,
                iteration,
                parent=one.parent.id,
                particle=shown.name,
                critique=rewrite.critique,
                calls=rewrite.calls,
            )
            for rewrite in await rewriter.rewrite(case, purpose=purpose)
        ]

    found = await gather((improved(one) for one in assigned), at_once=_WRITERS)
    return list(distinct_texts(one for some in found for one in some))


def distinct_texts(
    candidates: Iterable[InstructionCandidate], known: Iterable[InstructionCandidate] = ()
) -> Iterator[InstructionCandidate]:
    """The candidates whose texts, apart from white space, are new."""
    seen = {" ".join(one.text.split()) for one in known}
    for one in candidates:
        text = " ".join(one.text.split())
        if text not in seen:
            seen.add(text)
            yield one
