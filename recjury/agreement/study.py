"""A campaign with people's labels: what analyses are made of, and how one is registered."""

from collections.abc import Callable
from typing import NamedTuple

import pandas as pd

from recjury.agreement.labels import Labels, with_labels
from recjury.agreement.scores import named
from recjury.errors import UserError
from recjury.records import DEBATE
from recjury.results import Findings, Resampling, StoredCampaign
from recjury.results.ratings import FACTOR_KINDS, STANDARD, TRIAL

FEWEST = 10
"""Scenarios or conversations: over fewer, nothing that is computed means anything."""


class Study(NamedTuple):
    """A campaign, people's labels if there are any, and the bootstrap's settings."""

    campaign: StoredCampaign
    labels: Labels | None = None
    resampling: Resampling = STANDARD

    def factors(self) -> pd.DataFrame:
        """The factors' ratings: trial, evaluator, rater, metric, score. Raises UserError."""
        rows = self.campaign.ratings[
            self.campaign.ratings["kind"].isin(FACTOR_KINDS)
            & (self.campaign.ratings["rater"] != DEBATE)
        ]
        rows = rows[rows["metric"].notna()]
        if not rows["score"].notna().any():
            raise UserError(
                f"{self.campaign.name} has no scores of factors: rate it with `core`, as in "
                f"`recjury judge --campaign {self.campaign.name} --config judges.yaml`"
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
        every = StoredCampaign(self.campaign.store, self.campaign.name, all_versions=True)
        names = named(every.played, self.labels)
        trials = self.campaign.played[["conversation", *TRIAL]].astype(str)
        rated = rated.astype(dict.fromkeys(TRIAL, str)).merge(trials, on=TRIAL)
        ids = rated["conversation"]
        rated = rated.assign(conversation=ids.map(names["name"]), system=ids.map(names["system"]))
        rated = rated.dropna(subset="conversation")
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

    run: Callable[[Study], Findings]
    shows: str
    needs: str

    @property
    def about(self) -> str:
        """One line for lists."""
        return f"{self.shows}; needs {self.needs}"
