"""`Labels`: people's scores as a frame in which people are raters, and the dialogues they rated."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import pandas as pd

from recjury.corpora import Recording

COLUMNS = ("conversation", "turn", "metric", "rater", "score", "subset", "system", "cluster")


class Labels(NamedTuple):
    """Scores that people gave.

    `frame` has a row for each score: conversation, turn (the index in the interaction; -1: the
    dialogue), metric (what was rated), rater, score, subset of the data, system, and cluster:
    rows of one cluster are drawn together in a resample. `recordings` are the dialogues, as far as
    their texts are known; a scenario's id is that of the conversation. With `majority`, a label is
    what most raters gave, else the mean.
    """

    name: str
    frame: pd.DataFrame
    recordings: tuple[Recording, ...] = ()
    majority: bool = False

    def means(self) -> pd.DataFrame:
        """A row for each label, with its score; `raters` says how many gave one."""
        keys = [column for column in COLUMNS if column not in ("rater", "score")]
        by_label = self.frame.groupby(keys, observed=True, sort=False)["score"]
        scores = by_label.agg(_most_given) if self.majority else by_label.mean()
        return scores.to_frame().assign(raters=by_label.size()).reset_index()

    def of_conversations(self, frame: pd.DataFrame) -> "pd.Series[bool]":
        """Which rows of a frame of ratings are of conversations that have a label by their ids.

        Labels of recordings and of other people's data name scenarios instead.
        """
        return frame["conversation"].astype(str).isin(self.frame["conversation"])

    def units(self, subset: str, metric: str) -> list[list[float]]:
        """The single scores of each label."""
        rows = self.frame[(self.frame["subset"] == subset) & (self.frame["metric"] == metric)]
        return [
            list(of["score"])
            for _, of in rows.groupby(["conversation", "turn", "system"], sort=False)
        ]


def _most_given(scores: "pd.Series[float]") -> float:
    """The score that most raters gave; the mean of those that as many gave."""
    return float(scores.mode().mean())


def labels_of(
    name: str,
    rows: Iterable[tuple[Any, ...]],
    recordings: Iterable[Recording] = (),
    *,
    majority: bool = False,
) -> Labels:
    """Labels from rows in the order of the columns."""
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return Labels(name, frame, tuple(recordings), majority)
