"""Analyses: tables and figures, each as a class whose fields are its settings."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import ClassVar

from pydantic_core import PydanticUndefined, to_json

from recjury.errors import ConfigError
from recjury.records import JSON, ExpectedCalls, Record
from recjury.tables.figure import Figure
from recjury.tables.table import Column, Table, table_of


class Input(StrEnum):
    """What an analysis may need; the values are the options that give it."""

    CAMPAIGN = "campaign"  # a campaign of the store
    LABELS = "labels"  # people's labels
    CONFIG = "config"  # a campaign file, whose models are asked
    DATA = "data"  # the folder of public data
    OUT = "out"  # the folder of what is made


_HOW_TO_GIVE = {
    Input.LABELS: "annotations:FILE of `recjury annotate import`, or public: crsarena-eval:FILE",
    Input.CONFIG: "a campaign file with the models to ask, such as one of examples/recipes",
    Input.DATA: "the folder of public data (or set RECJURY_DATA); docs/data.md names its sources",
    Input.OUT: "the folder to write",
}


class WorkProgress:
    """How far work is: the `share` that is done (0 to 1), and what is being done.

    `seconds_left` is an estimate, if there is one.
    """

    share = 0.0
    doing = "reading data"
    seconds_left: float | None = None

    def at(self, share: float, doing: str, seconds_left: float | None = None) -> None:
        """Note how far the work is."""
        self.share, self.doing, self.seconds_left = share, doing, seconds_left

    def say(self, line: str) -> None:
        """Tell of a finished part, such as an epoch; here nobody listens."""


@dataclass(frozen=True, kw_only=True)
class AnalysisInput:
    """What the common options give to an analysis.

    `store` is the store's URL; `campaign` begins the id of one of its campaigns (None: the newest).
    `labels` are "FORM:PATH". `config` is a campaign file, of which `changes` replace keys. `data`
    is the folder of public data, `out` the folder that a training writes.
    """

    store: str
    campaign: str | None = None
    labels: str | None = None
    config: Path | None = None
    changes: Mapping[str, object] = field(default_factory=dict)
    data: Path | None = None
    out: Path | None = None
    progress: WorkProgress = field(default_factory=WorkProgress)

    def require(self, user: str, *needs: Input) -> None:
        """Raise ConfigError if something is missing that `user` needs."""
        for need in needs:
            if need in _HOW_TO_GIVE and not getattr(self, need):
                raise ConfigError(f"{user} needs --{need}: {_HOW_TO_GIVE[need]}")


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What an analysis found.

    `figures` and the contents of `files` are by name, to be written where the user says; a
    figure's name has no ending. `problems` count what could not be done (a call that failed, a
    prompt without a readable reply) by reason: the command ends with exit code 3 if there are any.
    `report` is what a training notes of itself, for JSON.
    """

    tables: tuple[Table, ...] = ()
    figures: Mapping[str, Figure] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    problems: Mapping[str, int] = field(default_factory=dict)
    report: Mapping[str, JSON] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Table:
        """The table of this name. Raises KeyError."""
        for table in self.tables:
            if table.name == name:
                return table
        raise KeyError(f"{name}: the tables are {', '.join(each.name for each in self.tables)}")

    def as_json(self) -> dict[str, JSON]:
        """The rows of each table by its name, notes, problems, and the names of the files."""
        found: dict[str, JSON] = {
            "tables": {table.name: table.as_json() for table in self.tables},
            "notes": [*(note for table in self.tables for note in table.notes), *self.notes],
            "problems": dict(self.problems),
            "files": [*(f"{name}.svg" for name in self.figures), *self.files],
        }
        return {**found, "report": self.report} if self.report else found

    def _repr_html_(self) -> str:
        """The tables as notebooks show them."""
        return "".join(table._repr_html_() for table in self.tables)


class Analysis(Record, ABC):
    """A table or figure as one class: its fields are the settings that `--set` changes.

    The first line of the docstring says what it shows, a field's description what it means.
    `source` is the paper with its table or figure, empty for our own. `needs` must be given,
    `takes` are used if they are. `calls` says how many calls of models it makes, in words.
    """

    source: ClassVar[str] = ""
    needs: ClassVar[tuple[Input, ...]] = ()
    takes: ClassVar[tuple[Input, ...]] = ()
    calls: ClassVar[str] = "none"

    def plan(self, given: AnalysisInput) -> Iterable[ExpectedCalls]:  # noqa: ARG002
        """The calls to models that it would make. Raises UserError."""
        return ()

    @abstractmethod
    async def run(self, given: AnalysisInput) -> Findings:
        """What it finds. Raises UserError."""

    @classmethod
    def summary(cls) -> str:
        """What it shows, in one line."""
        return (cls.__doc__ or "").strip().partition("\n")[0]

    @classmethod
    def settings(cls) -> Table:
        """Each setting with its default and its meaning."""
        columns = (Column("setting"), Column("default"), Column("meaning"))
        rows = [
            {"setting": name, "default": _shown(field.default), "meaning": field.description or ""}
            for name, field in cls.model_fields.items()
        ]
        return table_of("settings", columns, rows)


class Trainer(Analysis):
    """A training: what it makes is a folder, and what it finds is how good that is."""

    needs: ClassVar[tuple[Input, ...]] = (Input.OUT,)


class LocalTrainer(Trainer):
    """A training in this process, which an interrupt ends at once."""

    @abstractmethod
    def train(self, given: AnalysisInput) -> Findings:
        """Write the folder, and say how good it is. Raises UserError."""

    async def run(self, given: AnalysisInput) -> Findings:
        """The same, without waiting for anything."""
        return self.train(given)


def _shown(default: object) -> str:
    if default is PydanticUndefined:
        return "(needed)"
    return "" if default is None else to_json(default).decode().strip('"')
