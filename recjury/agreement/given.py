"""What an analysis is given, and how it is registered."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd

from recjury.agreement.labels import Labels, with_labels
from recjury.errors import UserError
from recjury.records import DEBATE
from recjury.results import Findings, Resampling, ratings, statements, turns
from recjury.results.ratings import FACTOR_KINDS, TRIAL
from recjury.store import Store

FEWEST = 10
"""Scenarios or conversations: over fewer, nothing that is computed means anything."""


@dataclass(frozen=True)
class Given:
    """A campaign of a store, people's labels if there are any, and the bootstrap's settings."""

    store: Store
    campaign: str
    labels: Labels | None = None
    resamples: int = 2000
    seed: int = 0

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The campaign's ratings."""
        return ratings(self.store, self.campaign)

    @cached_property
    def turns(self) -> pd.DataFrame:
        """The campaign's turns."""
        return turns(self.store, self.campaign)

    @cached_property
    def statements(self) -> pd.DataFrame:
        """What roles said in debates."""
        return statements(self.store, self.campaign)

    @cached_property
    def config(self) -> Mapping[str, Any]:
        """The campaign's configuration."""
        return self.store.config(self.campaign)

    @property
    def resampling(self) -> Resampling:
        """The bootstrap's settings."""
        return Resampling(self.resamples, self.seed)

    def factors(self) -> pd.DataFrame:
        """The factors' ratings: trial, evaluator, rater, metric, score. Raises UserError."""
        rows = self.frame[self.frame["kind"].isin(FACTOR_KINDS) & (self.frame["rater"] != DEBATE)]
        rows = rows[rows["metric"].notna()]
        if not rows["score"].notna().any():
            raise UserError(
                f"{self.campaign} has no scores of factors: rate it with `core`, as in `recjury "
                f"judge --campaign {self.campaign} --config judges.yaml`"
            )
        keys = [*TRIAL, "evaluator", "rater", "metric"]
        return rows.groupby(keys, observed=True)["score"].mean().dropna().reset_index()

    def with_labels(self, rated: pd.DataFrame) -> pd.DataFrame:
        """Scores of trials joined with the labels of their conversations. Raises UserError."""
        if self.labels is None:
            raise UserError(
                "this analysis needs people's labels: --labels FORM:PATH. `recjury annotate` makes "
                "a page to give them"
            )
        names = dict.fromkeys(["conversation", *TRIAL[:-1]], str)
        trials = self.frame.drop_duplicates("conversation").astype(names)
        rated = rated.astype(dict.fromkeys(TRIAL[:-1], str))
        if (own := self.labels.of_conversations(trials)).any():
            rated = rated.merge(trials[own][["conversation", *TRIAL]], on=TRIAL)
        else:
            rated = rated.rename(columns={"scenario": "conversation"})
        return with_labels(rated.assign(turn=-1), self.labels)


def cluster_of(rated: pd.DataFrame) -> "pd.Series[str]":
    """The scenario of each row, with its corpus: what is drawn together in a resample."""
    return rated["corpus"].astype(str) + "/" + rated["scenario"].astype(str)


def check_enough(number: int) -> None:
    """Raises UserError if there is too little to analyse."""
    if number < FEWEST:
        raise UserError(
            f"{number} conversations with all that it needs are too few, {FEWEST} are wanted: "
            "play, rate or annotate more"
        )


class Analysis(NamedTuple):
    """An analysis: what it shows, and what it needs besides a campaign."""

    run: Callable[[Given], Findings]
    shows: str
    needs: str

    @property
    def about(self) -> str:
        """One line for lists."""
        return f"{self.shows}; needs {self.needs}"
