"""`Labels`: people's scores in a frame, the dialogues they rated, and scores joined with them."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import pandas as pd

from recjury.corpora import Recording
from recjury.errors import UserError
from recjury.files import nearest
from recjury.results import Resampling
from recjury.stats import Correlations, correlations

COLUMNS = ("conversation", "turn", "metric", "rater", "score", "subset", "system", "cluster")
PLACE = ["conversation", "turn"]
"""What is rated: a turn, or with -1 the dialogue."""

_NAMED = 3  # conversations in a line
_TOLD_APART = {"subset": "data set", "system": "system"}


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
        return [list(of["score"]) for _, of in rows.groupby([*PLACE, "system"], sort=False)]


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


def with_labels(scores: pd.DataFrame, labels: Labels) -> pd.DataFrame:
    """A row for each score and each label of its place: `score`, `metric`, `label`, `aspect`.

    `scores` has conversation, turn, metric, score, and if known corpus and system; other columns
    stay. Where several data sets or systems have conversations of one id, those of one data set and
    of one system are joined. Raises UserError if they cannot be told apart, or if no conversation
    has both.
    """
    means = labels.means().rename(columns={"metric": "aspect", "score": "label"})
    scores = scores.rename(columns={"corpus": "scored_subset", "system": "scored_system"})
    scores = scores.assign(
        **{f"scored_{name}": "" for name in _TOLD_APART if f"scored_{name}" not in scores}
    )
    joined = means.merge(scores, on=PLACE)
    for name in _TOLD_APART:
        joined = _told_apart(joined, scores, means, name)
    if not len(joined):
        scored, labelled = (set(each["conversation"]) for each in (scores, means))
        raise UserError(
            "no conversation has both a score and a label: scores are of "
            f"{some(scored) or 'none'}, labels of {some(labelled)}. `recjury judge --labels ...` "
            "rates the labelled ones"
        )
    return joined


def _told_apart(
    joined: pd.DataFrame, scores: pd.DataFrame, means: pd.DataFrame, name: str
) -> pd.DataFrame:
    """The rows of one subset (or system) where conversations of several have one id."""
    sides = ((scores, f"scored_{name}"), (means, name))
    several = {id_ for of, column in sides for id_ in _of_several(of, column)}
    is_alike = joined["conversation"].isin(several)
    fits = joined[f"scored_{name}"].astype(str) == joined[name].astype(str)
    scored, labelled = (
        set(of[column][of["conversation"].isin(several)].astype(str)) for of, column in sides
    )
    if lost := {*joined["conversation"][is_alike]} - {*joined["conversation"][fits]}:
        raise UserError(
            f"conversation {min(lost)!r} is there in more than one {_TOLD_APART[name]}: scores are "
            f"of {some(scored)}, labels of {some(labelled)}. Name them alike: labels and scores as "
            f"CSV have the column `{name}`"
        )
    for each in sorted(labelled - scored):
        if near := nearest(each, scored - labelled):
            raise UserError(f"labels have the {_TOLD_APART[name]} {each!r}, scores do not{near}")
    return joined[~is_alike | fits]


def _of_several(of: pd.DataFrame, column: str) -> Iterable[str]:
    """The conversations that have several names in a column."""
    names = of.groupby("conversation")[column].nunique()
    return names.index[names > 1]


def agreement(both: pd.DataFrame, resampling: Resampling, *, fewest: int = 5) -> Correlations:
    """How far `score` and `label` go together, over all and within systems; NaN if fewer than that.

    Rows of one `cluster` are drawn together; of fewer than 8 clusters there is no interval.
    """
    columns = (both[name] for name in ("score", "label", "cluster", "system"))
    return correlations(*columns, **resampling._asdict(), fewest=fewest)


def some(names: set[str]) -> str:
    """The first three names, and how many more there are."""
    several = sorted(map(str, names))
    more = f" and {len(several) - _NAMED} more" if len(several) > _NAMED else ""
    return ", ".join(several[:_NAMED]) + more
