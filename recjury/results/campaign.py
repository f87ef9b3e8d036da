"""A campaign in a store, with its frames: what tables, analyses and pages are made of."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, TypeVar

import pandas as pd

from recjury.results.metrics import Metrics, metrics_of
from recjury.results.ratings import (
    STANDARD,
    Resampling,
    factors_of,
    means,
    planned_trials,
    ratings_of,
    scores,
)
from recjury.results.selection import Selection
from recjury.results.tables import statement_scores, turns
from recjury.results.trials import costs, trials_of
from recjury.store import Store

T = TypeVar("T")


class StoredCampaign:
    """A campaign in a store. What is asked of it is read once, and nobody may change it."""

    def __init__(self, store: Store, name: str = "", *, all_versions: bool = False):
        """By default the newest one. Raises UserError if there is none of this name.

        With `all_versions`, older versions of systems are there, too, as `name@version`.
        """
        self.store, self.name, self._all_versions = store, store.campaign(name), all_versions
        self._known: dict[Hashable, Any] = {}

    def once(self, kind: str, read: Callable[[], T], *about: Hashable) -> T:
        """What `read` returned the first time that it was asked for."""
        if (kind, *about) not in self._known:
            self._known[(kind, *about)] = read()
        found: T = self._known[(kind, *about)]
        return found

    @property
    def config(self) -> Mapping[str, Any]:
        """The configuration of its last run."""
        return self.once("config", lambda: self.store.config(self.name))

    @property
    def metrics(self) -> Metrics:
        """Its metrics by id, the leading one first."""
        return self.once("metrics", lambda: metrics_of(self.store, self.name))

    @property
    def planned(self) -> pd.DataFrame:
        """Its trials, played or not, without scores."""

        def read() -> pd.DataFrame:
            return planned_trials(self.store, self.name, all_versions=self._all_versions)

        return self.once("planned", read)

    @property
    def played(self) -> pd.DataFrame:
        """Those of its trials that were played."""
        return self.planned[self.planned["state"] != "planned"]

    @property
    def ratings(self) -> pd.DataFrame:
        """Its ratings, as `results.ratings` has them."""
        return self.once("ratings", lambda: ratings_of(self.store, self.name, self.played))

    @property
    def scores(self) -> pd.DataFrame:
        """A row for each trial and a column for each metric id, as `results.scores` has them."""
        return self.once("scores", lambda: scores(self.ratings))

    @property
    def statements(self) -> pd.DataFrame:
        """What roles said in debates, without the texts."""

        def read() -> pd.DataFrame:
            return statement_scores(self.store, self.name, self.played)

        return self.once("statements", read)

    @property
    def turns(self) -> pd.DataFrame:
        """Its turns, as `results.turns` has them."""

        def read() -> pd.DataFrame:
            said = turns(self.store, self.name)
            return said[said["conversation"].isin(self.played["conversation"].astype(str))]

        return self.once("turns", read)

    @property
    def trials(self) -> pd.DataFrame:
        """A row for each trial with all of its scores, as `results.trials` has them."""

        def read() -> pd.DataFrame:
            frames = self.planned, self.ratings, self.scores, self.statements
            return trials_of(*frames, costs(self.store, self.name))

        return self.once("trials", read)

    @property
    def factors(self) -> dict[str, list[str]]:
        """By the id of each mean of factors, the ids of the factors."""
        found = self.once("factors", lambda: factors_of(self.ratings))
        return {mean: [id_ for id_ in self.metrics if id_ in own] for mean, own in found.items()}

    def means(self, resampling: Resampling = STANDARD) -> pd.DataFrame:
        """A row for each system and metric: mean, low, high (95 %), n, coverage."""
        return means(self.scores, resampling)

    def of(self, selection: Selection) -> "StoredCampaign":
        """What was played of the selected trials, as a campaign. Raises UserError if nothing."""
        if not selection:
            return self
        played = self.trials[self.trials["state"] != "planned"]
        return self.only(selection.of(played)["id"])

    def only(self, conversations: Iterable[str], *, evaluator: str = "") -> "StoredCampaign":
        """A part of the campaign: some conversations, as one evaluator has rated them if named."""
        ids = frozenset(conversations)

        def own(frame: pd.DataFrame) -> pd.DataFrame:
            fits = frame["conversation"].isin(ids)
            return frame[fits & (frame["evaluator"] == evaluator)] if evaluator else frame[fits]

        part = StoredCampaign(self.store, self.name, all_versions=self._all_versions)
        part._known = {
            ("planned",): self.planned[self.planned["conversation"].isin(ids)],
            ("ratings",): own(self.ratings),
            ("statements",): own(self.statements),
            ("trials",): self.trials[self.trials["id"].isin(ids)],
        }
        return part
