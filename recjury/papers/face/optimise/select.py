"""Choose the instructions with the highest correlation with people: FACE's last step, and FACE*.

Each instruction is ranked alone. There are too many sets of 16 out of 96 to try them all, and their
pooled correlation on the same few labels would mostly fit noise.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from recjury.papers.face.optimise.instruction_result import (
    InstructionResult,
    correlate_scored,
    evaluate_instruction,
    pooled_over,
)
from recjury.papers.face.optimise.labelled_particles import (
    Correlate,
    LabelledExample,
    P,
    SupportsScore,
)

_LEAST_COVERAGE = 0.5


class Measured(NamedTuple):
    """An instruction's correlation on a set of labelled places, and the share of them with a
    score."""

    correlation: float | None
    coverage: float

    @property
    def usable(self) -> float | None:
        """The correlation if at least half of the places have a score, else None."""
        return self.correlation if self.coverage >= _LEAST_COVERAGE else None


class Chosen(NamedTuple):
    """The chosen names, best first; the correlation of every instruction; and that of the chosen
    set."""

    names: tuple[str, ...]
    measured: Mapping[str, Measured]
    together: Measured


def best_instructions(measured: Mapping[str, Measured], count: int) -> tuple[str, ...]:
    """The names with the highest correlations; undefined ones come last, ties keep their order."""
    order = {name: place for place, name in enumerate(measured)}

    def key(name: str) -> tuple[bool, float, int]:
        value = measured[name].usable
        return (value is None, -(value or 0.0), order[name])

    return tuple(sorted(measured, key=key)[:count])


async def choose(
    instructions: Mapping[str, str],
    examples: Sequence[LabelledExample[P]],
    scorer: SupportsScore[P],
    correlate: Correlate,
    *,
    count: int,
    done: Callable[[], None] = lambda: None,
) -> Chosen:
    """The `count` best of `instructions` (texts by name) on `examples` (line 20 of Algorithm 1).

    With the scorer of another model this is FACE*. `done` is called after each instruction.
    """
    found: dict[str, InstructionResult] = {}
    for name, text in instructions.items():
        found[name] = await evaluate_instruction(text, examples, scorer, correlate)
        done()
    measured = {name: Measured(one.correlation, one.coverage) for name, one in found.items()}
    names = best_instructions(measured, count)
    labels = [example.label for example in examples]
    pooled = correlate_scored(pooled_over([found[name] for name in names]), labels, correlate)
    return Chosen(names, measured, Measured(pooled.correlation, pooled.coverage))
