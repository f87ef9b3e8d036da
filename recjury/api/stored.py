"""What a store has, from Python: frames, means, comparisons."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from recjury import results
from recjury.api.loops import done
from recjury.files import nearest
from recjury.results import Findings, Resampling, Selection, Wanted
from recjury.results.ratings import STANDARD
from recjury.results.selection import ALL
from recjury.store import Store

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_STORE = "recjury.db"


class Mean(NamedTuple):
    """The mean of a metric over `n` trials, its 95 % interval, and the share that has a score."""

    mean: float
    low: float
    high: float
    n: int
    coverage: float


class _Means(dict[str, Mean]):
    """The means of one system by metric id."""

    def __missing__(self, key: str) -> Mean:
        raise KeyError(f"{key}{nearest(key, self)}")


@dataclass(frozen=True)
class Run:
    """A campaign in a store. All is read when it is asked for, so it is never out of date."""

    store: str | Path
    campaign: str

    @property
    def summary(self) -> Findings:
        """Means by system, who is ahead, and what is not to be trusted."""
        with Store(self.store, readonly=True) as opened:
            return results.summary(opened, self.campaign)

    @property
    def systems(self) -> Mapping[str, Mapping[str, Mean]]:
        """Each system's means by metric id: `run.systems["mine"]["core.overall"].mean`."""
        found: dict[str, _Means] = {}
        for system, metric, *figures in self.means().itertuples(index=False):
            found.setdefault(system, _Means())[metric] = Mean(*figures)
        return found

    def ratings(self, *, all_versions: bool = False) -> "pd.DataFrame":
        """A row for each rating; the columns are those of `recjury.results.ratings`."""
        with Store(self.store, readonly=True) as opened:
            return results.ratings(opened, self.campaign, all_versions=all_versions)

    def scores(self) -> "pd.DataFrame":
        """A row for each trial and a column for each metric id; NaN where there is no score."""
        return results.scores(self.ratings())

    def means(self, resampling: Resampling = STANDARD) -> "pd.DataFrame":
        """A row for each system and metric: mean, low, high (95 %), n, coverage."""
        return results.means(self.scores(), resampling)

    def turns(self) -> "pd.DataFrame":
        """A row for each turn."""
        with Store(self.store, readonly=True) as opened:
            return results.turns(opened, self.campaign)

    def statements(self) -> "pd.DataFrame":
        """A row for each statement of a debate."""
        with Store(self.store, readonly=True) as opened:
            return results.statements(opened, self.campaign)

    def calls(self) -> "pd.DataFrame":
        """A row for each call to a model."""
        with Store(self.store, readonly=True) as opened:
            return results.calls(opened, self.campaign)

    def compare(
        self,
        *names: str,
        by: Literal["system", "user", "evaluator", "campaign"] = "system",
        metrics: tuple[str, ...] = (),
        selection: Selection = ALL,
        missing: Literal["left out", "worst"] = "left out",
        margins: Mapping[str, float] | None = None,
        resampling: Resampling = STANDARD,
    ) -> Findings:
        """Who is ahead of whom, by how much, and whether that is decided; all without names.

        The arguments are those of `recjury.results.comparison`.
        """
        with Store(self.store, readonly=True) as opened:
            return results.comparison(
                opened,
                names,
                by=by,
                campaign=self.campaign,
                metrics=metrics,
                selection=selection,
                missing=missing,
                margins=margins,
                resampling=resampling,
            )

    def conversations(self, selection: Selection = ALL) -> Findings:
        """The conversations, by default all, with their ids."""
        with Store(self.store, readonly=True) as opened:
            return results.conversation_list(opened, self.campaign, selection=selection)

    def replay(self, conversation: str) -> Findings:
        """A conversation with its ratings and its debate; an id, or how one begins."""
        with Store(self.store, readonly=True) as opened:
            return done(results.replay(opened, conversation))

    def explain(self, conversation: str, metric: str = "") -> Findings:
        """One conversation's ratings, down to prompts and replies."""
        with Store(self.store, readonly=True) as opened:
            return results.explain(opened, conversation, Wanted(metric=metric))

    def __str__(self) -> str:
        return self.summary.answer

    def _repr_html_(self) -> str:
        return self.summary._repr_html_()


class Stored(Mapping[str, Run]):
    """The campaigns of a store by name; the one that was run last is the first."""

    def __init__(self, store: str | Path = DEFAULT_STORE):
        """Raises UserError if there is no such store."""
        self._store = store
        with Store(store, readonly=True) as opened:
            self._names = opened.campaigns()

    def __getitem__(self, campaign: str) -> Run:
        if campaign not in self._names:
            raise KeyError(f"{campaign}{nearest(campaign, self._names)}")
        return Run(self._store, campaign)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    @property
    def newest(self) -> Run:
        """The campaign that was run last. Raises UserError if there is none."""
        return _run(self._store, "")


def open(store: str | Path = DEFAULT_STORE) -> Stored:  # noqa: A001 (`recjury.open` reads well)
    """The campaigns of a store. Raises UserError if there is no such store."""
    return Stored(store)


def _run(store: str | Path, campaign: str) -> Run:
    with Store(store, readonly=True) as opened:
        return Run(store, opened.campaign(campaign))


def ratings(store: str | Path = DEFAULT_STORE, campaign: str = "") -> "pd.DataFrame":
    """The ratings of a campaign, by default of the newest. Raises UserError."""
    return _run(store, campaign).ratings()


def means(store: str | Path = DEFAULT_STORE, campaign: str = "") -> "pd.DataFrame":
    """The means by system and metric of a campaign, by default of the newest. Raises UserError."""
    return _run(store, campaign).means()


def turns(store: str | Path = DEFAULT_STORE, campaign: str = "") -> "pd.DataFrame":
    """The turns of a campaign, by default of the newest. Raises UserError."""
    return _run(store, campaign).turns()


def statements(store: str | Path = DEFAULT_STORE, campaign: str = "") -> "pd.DataFrame":
    """The statements of a campaign's debates, by default of the newest. Raises UserError."""
    return _run(store, campaign).statements()


def calls(store: str | Path = DEFAULT_STORE, campaign: str = "") -> "pd.DataFrame":
    """The calls of a campaign, by default of the newest. Raises UserError."""
    return _run(store, campaign).calls()


def compare(*names: str, store: str | Path = DEFAULT_STORE, campaign: str = "") -> Findings:
    """The systems of a campaign compared, by default all of the newest. Raises UserError."""
    return _run(store, campaign).compare(*names)
