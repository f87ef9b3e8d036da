"""Why FACE gave a score: what turns, particles and instructions contribute to it."""

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar, TypeVar

from pydantic import Field

from recjury.errors import ConfigError
from recjury.papers.face.contributions import Contributions, Part
from recjury.papers.face.face_scores import label_file
from recjury.papers.face.scorings import Scoring, Scorings, scorings_of_files, scorings_of_store
from recjury.plugins import Names
from recjury.records import Aspect
from recjury.tables import (
    Analysis,
    AnalysisInput,
    Cell,
    Column,
    Findings,
    Input,
    Table,
    TableFormat,
    formatted,
    table_of,
)

_WIDTH = 60  # characters of a text in a table

Key = TypeVar("Key")


class Explain(Analysis):
    """Why FACE gave a score: what turns, particles and instructions contribute to it.

    A contribution is a part's share of the difference between the score and the mean of that aspect
    over all conversations at hand. The contributions of all turns add up to that difference; so do
    those of all particles, and those of all instructions.
    """

    source: ClassVar[str] = "FACE, section 2"
    takes: ClassVar[tuple[Input, ...]] = (Input.CAMPAIGN, Input.LABELS)

    conversation: str = Field(description="its id, or the beginning of it")
    aspects: Names = Field((), description="only these aspects")
    turn: int | None = Field(None, ge=0, description="only this turn (0 is the first)")
    top: int = Field(5, ge=1, description="the most particles and instructions of an aspect")
    runs: Path | None = Field(
        None, description="a folder of {aspect}.jsonl in place of a campaign; with `particles`"
    )
    particles: Path | None = Field(None, description="with `runs`: the file of the particles")

    async def run(self, given: AnalysisInput) -> Findings:
        """The score of each aspect, and tables of its parts."""
        source = self._source(given)
        named = tuple(dict.fromkeys(map(_aspect, self.aspects)))
        wanted = named or source.aspects(self.conversation, turn=self.turn)
        rows = _Rows(self.top)
        for aspect in wanted:
            name, scoring, found = source.explain(self.conversation, aspect, turn=self.turn)
            rows.add(name, aspect, scoring, found)
        return Findings(tables=rows.tables(), files={"samples.csv": rows.samples()})

    def _source(self, given: AnalysisInput) -> Scorings:
        if self.runs is None:
            if self.particles is not None:
                raise ConfigError("particles go with runs")
            return scorings_of_store(given)
        if self.particles is None:
            raise ConfigError("runs need particles, and --labels with their conversations")
        if given.campaign is not None:
            raise ConfigError("--campaign is for the scores of a store: leave it out with runs")
        return scorings_of_files(self.runs, self.particles, label_file(given))


_CONTRIBUTION = (Column("score", digits=3), Column("contribution", digits=3), Column("scores"))
_COLUMNS = {
    "scores": (
        *(Column(name) for name in ("conversation", "aspect", "turn")),
        Column("score", digits=3),
        Column("reference", "mean of all here", 3),
    ),
    "turns": (Column("aspect"), Column("turn"), *_CONTRIBUTION, Column("text")),
    "particles": (
        *(Column(name) for name in ("aspect", "turn", "particle", "act")),
        *_CONTRIBUTION,
        *(Column(name) for name in ("mention", "feedback")),
    ),
    "instructions": (Column("aspect"), Column("instruction"), *_CONTRIBUTION),
}
_SAMPLES = ("aspect", "turn", "particle", "instruction", "score", "samples", "call")


class _Rows:
    """The rows of the tables, of all aspects."""

    def __init__(self, top: int):
        self._top = top
        self._rows: dict[str, list[dict[str, Cell]]] = {name: [] for name in _COLUMNS}
        self._samples: list[dict[str, Cell]] = []

    def add(self, name: str, aspect: Aspect, scoring: Scoring, found: Contributions) -> None:
        """Add one score with its parts; of particles and instructions the strongest."""
        turns = list(found.turns)
        self._rows["scores"].append(
            {
                "conversation": name,
                "aspect": str(aspect),
                "turn": turns[0] if len(turns) == 1 else None,
                "score": found.score,
                "reference": found.reference,
            }
        )
        for turn, part in found.turns.items():
            text = _short(scoring.log.interaction[turn].text)
            self._add("turns", aspect, part, turn=turn, text=text)
        for (turn, number), part in _strongest(found.particles.items(), self._top):
            particle = scoring.particle(turn, number)
            self._add(
                "particles",
                aspect,
                part,
                turn=turn,
                particle=number,
                act=str(particle.act),
                mention=_short(particle.mention),
                feedback=_short(particle.feedback or "-"),
            )
        for instruction, part in _strongest(found.instructions.items(), self._top):
            self._add("instructions", aspect, part, instruction=instruction)
        self._samples += (
            {
                "aspect": str(aspect),
                "turn": score.turn,
                "particle": score.particle,
                "instruction": by.instruction,
                "score": by.score,
                "samples": " ".join("-" if each is None else str(each) for each in by.samples),
                "call": by.call,
            }
            for score in scoring.scores
            if score.turn in found.turns
            for by in score.by
        )

    def tables(self) -> tuple[Table, ...]:
        """A row for each score, each turn, and the strongest particles and instructions."""
        return tuple(table_of(name, _COLUMNS[name], rows) for name, rows in self._rows.items())

    def samples(self) -> bytes:
        """As CSV, the score of each particle by each instruction, with the call behind it."""
        table = table_of("samples", [Column(name) for name in _SAMPLES], self._samples)
        return formatted(table, TableFormat.CSV).encode()

    def _add(self, table: str, aspect: Aspect, part: Part, **cells: Cell) -> None:
        self._rows[table].append({"aspect": str(aspect), **cells, **part._asdict()})


def _strongest(parts: Iterable[tuple[Key, Part]], count: int) -> list[tuple[Key, Part]]:
    """Those with the largest absolute contributions, the largest first."""
    return sorted(parts, key=lambda pair: -abs(pair[1].contribution))[:count]


def _aspect(name: str) -> Aspect:
    try:
        return Aspect(name.strip().lower().replace("-", "_"))
    except ValueError:
        raise ConfigError(f"{name!r} is not an aspect: expected {', '.join(Aspect)}") from None


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _WIDTH else line[: _WIDTH - 3] + "..."
