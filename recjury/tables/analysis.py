"""Analyses: tables and figures, of papers or of our own, each a class with settings as fields."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import ClassVar

from recjury.errors import ConfigError
from recjury.records import ExpectedCalls, Record
from recjury.tables.table import Table


class Input(StrEnum):
    """What an analysis may need; the values are the options that give it."""

    CAMPAIGN = "campaign"  # a campaign of the store
    LABELS = "labels"  # people's labels
    CONFIG = "config"  # a campaign file, whose models are asked
    DATA = "data"  # the folder of public data


@dataclass(frozen=True, kw_only=True)
class AnalysisInput:
    """What the common options give to an analysis.

    `store` is the store's URL; `campaign` begins the id of one of its campaigns (None: the newest).
    `labels` are "FORM:PATH". `config` is a campaign file, `data` the folder of public data.
    `progress` is called with the share that is done (0 to 1) and what is being done.
    """

    store: str
    campaign: str | None = None
    labels: tuple[str, ...] = ()
    config: Path | None = None
    data: Path | None = None
    progress: Callable[[float, str], None] = lambda _share, _doing: None

    def require(self, needed: Input) -> None:
        """Raise ConfigError if an option is missing."""
        given = {
            Input.LABELS: bool(self.labels),
            Input.CONFIG: self.config is not None,
            Input.DATA: self.data is not None,
        }
        if not given.get(needed, True):
            raise ConfigError(f"it needs --{needed}: {_HOW_TO_GIVE[needed]}")


_HOW_TO_GIVE = {
    Input.LABELS: "people's labels, such as annotations:labels.json",
    Input.CONFIG: "a campaign file with the models to ask",
    Input.DATA: "the folder of public data (or set RECJURY_DATA)",
}


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What an analysis found.

    `files` are contents by name, to be written where the user says. `problems` count what could not
    be done (a call that failed, a prompt without a readable reply) by reason: the command ends with
    exit code 3 if there are any.
    """

    tables: tuple[Table, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    problems: Mapping[str, int] = field(default_factory=dict)


class Analysis(Record, ABC):
    """A table or figure as one class: its fields are the settings that `--set` changes.

    The first line of the docstring says what it shows. `source` is the paper with its table or
    figure, empty for our own. `needs` are checked before it runs; `takes` are used if they are
    given.
    """

    source: ClassVar[str] = ""
    needs: ClassVar[tuple[Input, ...]] = ()
    takes: ClassVar[tuple[Input, ...]] = ()

    def plan(self, given: AnalysisInput) -> Iterable[ExpectedCalls]:  # noqa: ARG002
        """The calls to models that it would make. Raises UserError."""
        return ()

    @abstractmethod
    async def run(self, given: AnalysisInput) -> Findings:
        """What it finds. Raises UserError."""
