"""What pages read of a campaign, kept while the store stays as it is."""

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote, urlencode

from recjury.results.ratings import factors_of, ratings, scores
from recjury.store import Store
from recjury.view.kept import MOST, kept
from recjury.view.listing import read_trials
from recjury.view.metrics import Metrics

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")


class Campaign:
    """A campaign as pages see it. Raises UserError if there is none of this name."""

    def __init__(self, store: Store, name: str):
        self.store, self.name = store, store.campaign(name)

    def link(self, page: str = "", **query: str) -> str:
        """The address of the campaign's page, or of one below it; "" in a query is left out."""
        where = f"/c/{quote(self.name, safe='')}{'/' if page else ''}{page}"
        wanted = {name: value for name, value in query.items() if value}
        return f"{where}?{urlencode(wanted)}" if wanted else where

    def kept(self, kind: str, read: Callable[[], T], *about: Hashable, most: int = MOST) -> T:
        """What `read` returns, until the store changes, or `most` others of its kind were read."""
        return kept(self.store, kind, (self.name, *about), read, most)

    @cached_property
    def metrics(self) -> Metrics:
        """Its metrics, the leading one first."""
        return Metrics.of(self.store, self.name)

    @property
    def ratings(self) -> "pd.DataFrame":
        """Its ratings, of the newest versions."""
        return self.kept("ratings", lambda: ratings(self.store, self.name))

    @property
    def scores(self) -> "pd.DataFrame":
        """The scores of its trials."""
        return self.kept("scores", lambda: scores(self.ratings))

    @property
    def trials(self) -> "pd.DataFrame":
        """Its trials, as `read_trials` has them."""
        return self.kept("trials", self._trials)

    @property
    def factors(self) -> dict[str, list[str]]:
        """By the id of each mean of factors, the ids of the factors."""
        found = self.kept("factors", lambda: factors_of(self.ratings))
        return {mean: [id_ for id_ in self.metrics if id_ in own] for mean, own in found.items()}

    @cached_property
    def scored(self) -> list[str]:
        """The ids of the metrics of which there is a score."""
        table = self.scores
        return [id_ for id_ in self.metrics if id_ in table and table[id_].notna().any()]

    @property
    def lead(self) -> str:
        """The metric that answers first, "" without scores."""
        return next(iter(self.scored), "")

    @property
    def verdict(self) -> str:
        """The metric that lists show first: a verdict, else the leading one."""
        return next((id_ for id_ in self.scored if id_.endswith(".overall")), self.lead)

    def _trials(self) -> "pd.DataFrame":
        return read_trials(self.store, self.name, self.ratings, self.scores)
