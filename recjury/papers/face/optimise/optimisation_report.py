"""The result of an optimisation: every instruction with its ancestors and its correlations."""

from collections.abc import Iterator, Mapping
from typing import Any

from recjury.judges.face.instructions import Instruction
from recjury.papers.face.optimise.measuring import Measured
from recjury.papers.face.optimise.search import Found, Search
from recjury.records import JSON, Record


class InstructionReport(Record):
    """One instruction of the report.

    `index` is its number in the pool, from 0 (None for the initial one and for rewrites that were
    not selected). `parents` are its ancestors, nearest first. `value`, `particles` and `pulls` are
    those of the bandit (None if it was not played). `train` and `validation` are correlations; None
    if not evaluated or undefined. `rank` is its position among the chosen ones, from 1.
    """

    id: str
    iteration: int
    index: int | None
    text: str
    parents: tuple[str, ...]
    particle: str
    critique: str
    calls: tuple[str, ...]
    value: float | None = None
    particles: int | None = None
    pulls: int | None = None
    train: float | None = None
    train_coverage: float | None = None
    validation: float | None = None
    validation_coverage: float | None = None
    rank: int | None = None

    def released(self, filename: str, rank: int) -> Instruction:
        """The instruction in the format of `face-instructions` files."""
        index = self.index or 0
        return Instruction(
            text=self.text, iteration=index, index=index, rank=rank, filename=filename
        )


class OptimisationReport(Record):
    """A finished run: its settings, its calls, all instructions, and the correlation of the chosen
    set."""

    settings: dict[str, Any]
    initial: InstructionReport
    instructions: tuple[InstructionReport, ...]
    together: float | None
    together_coverage: float
    pulls: int
    failed_calls: int

    @property
    def pool(self) -> tuple[InstructionReport, ...]:
        """The instructions that selection kept, by index."""
        return tuple(line for line in self.instructions if line.index is not None)

    @property
    def chosen(self) -> tuple[InstructionReport, ...]:
        """The final set, best first."""
        ranked = (line for line in self.instructions if line.rank is not None)
        return tuple(sorted(ranked, key=lambda line: line.rank or 0))


def build_report(search: Search, found: Found, settings: Mapping[str, JSON]) -> OptimisationReport:
    """The report of a search that has ended."""
    candidates = (found.first, *search.rewritten.values())
    lineage = {one.id: one.parent for one in candidates}
    index = {name: place for place, name in enumerate(search.pool)}
    ranks = {name: rank for rank, name in enumerate(found.chosen.names, start=1)}
    trained = {found.first.id: found.trained, **search.trained}
    validated = {found.first.id: found.validated, **found.chosen.measured}
    lines = [
        InstructionReport(
            id=one.id,
            iteration=one.iteration,
            index=index.get(one.id),
            text=one.text,
            parents=tuple(_ancestors(one.id, lineage)),
            particle=one.particle,
            critique=one.critique,
            calls=one.calls,
            rank=ranks.get(one.id),
            **(search.arms[one.id]._asdict() if one.id in search.arms else {}),
            **_figures("train", trained.get(one.id)),
            **_figures("validation", validated.get(one.id)),
        )
        for one in candidates
    ]
    return OptimisationReport(
        settings=dict(settings),
        initial=lines[0],
        instructions=tuple(lines[1:]),
        together=found.chosen.together.correlation,
        together_coverage=found.chosen.together.coverage,
        pulls=search.pulls,
        failed_calls=search.failed_calls,
    )


def _figures(side: str, found: Measured | None) -> dict[str, Any]:
    return {} if found is None else {side: found.correlation, f"{side}_coverage": found.coverage}


def _ancestors(name: str, lineage: Mapping[str, str | None]) -> Iterator[str]:
    parent = lineage.get(name)
    while parent is not None:
        yield parent
        parent = lineage.get(parent)
