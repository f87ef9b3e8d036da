"""The result of an optimisation: every instruction with its ancestors and its correlations."""

from collections.abc import Iterator, Mapping
from typing import Any

from recjury.judges.face.instructions import Instruction
from recjury.papers.face.optimise.candidates import InstructionCandidate
from recjury.papers.face.optimise.state import Journal
from recjury.records import Record


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

    def released_form(self) -> tuple[Instruction, ...]:
        """The final set in the format of `face-instructions` files, named by index in the pool."""
        return tuple(
            Instruction(
                text=line.text,
                iteration=line.index or 0,
                index=line.index or 0,
                rank=line.rank or 0,
                filename=f"{line.rank:02}_itr{line.index}.txt",
            )
            for line in self.chosen
        )


def build_report(journal: Journal, initial: InstructionCandidate) -> OptimisationReport:
    """The report of a journal whose last step is done. Raises KeyError if it is not done."""
    steps = journal.steps
    final = steps["final"]
    ranks = {name: rank for rank, name in enumerate(final["chosen"], start=1)}
    candidates = [initial, *_candidates(steps)]
    lineage = {one.id: one.parent for one in candidates}
    index = {name: place for place, name in enumerate(_kept(steps))}
    facts = _facts(steps, initial.id)
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
            **facts.get(one.id, {}),
        )
        for one in candidates
    ]
    return OptimisationReport(
        settings=dict(journal.settings),
        initial=lines[0],
        instructions=tuple(lines[1:]),
        together=final["together"][0],
        together_coverage=final["together"][1],
        pulls=sum(step.get("pulls", 0) for step in steps.values()),
        failed_calls=sum(step["failed_calls"] for step in steps.values()),
    )


def _candidates(steps: Mapping[str, Any]) -> Iterator[InstructionCandidate]:
    for step in steps.values():
        yield from (InstructionCandidate.read(row) for row in step.get("candidates", ()))


def _kept(steps: Mapping[str, Any]) -> Iterator[str]:
    """The pool, in the order in which instructions were added."""
    for name, step in steps.items():
        if name.endswith("/trained") and name != "0/trained":
            yield from step["measured"]


def _facts(steps: Mapping[str, Any], initial: str) -> dict[str, dict[str, Any]]:
    """The results of the steps for each instruction, as fields of `InstructionReport`."""
    facts: dict[str, dict[str, Any]] = {}
    final = steps["final"]
    trained = [step["measured"] for name, step in steps.items() if name.endswith("/trained")]
    validated = {initial: final["initial"], **final["measured"]}
    for step in steps.values():
        for arm in step.get("arms", ()):
            facts[arm["id"]] = {key: arm[key] for key in ("value", "particles", "pulls")}
    for kind, rows in (("train", trained), ("validation", [validated])):
        for row in rows:
            for name, (correlation, coverage) in row.items():
                own = facts.setdefault(name, {})
                own |= {kind: correlation, f"{kind}_coverage": coverage}
    return facts


def _ancestors(name: str, lineage: Mapping[str, str | None]) -> Iterator[str]:
    parent = lineage.get(name)
    while parent is not None:
        yield parent
        parent = lineage.get(parent)
