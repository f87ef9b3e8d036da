"""Scores beside people's labels of the same places: what agreement is computed from."""

import math

import pandas as pd

from recjury.agreement.labels import Labels
from recjury.errors import UserError
from recjury.files import nearest
from recjury.results import Resampling
from recjury.stats import Array, Coefficient, Correlations, correlations
from recjury.stats import interval as interval_of

PLACE = ["conversation", "turn"]
FEWEST_CLUSTERS = 8
"""Of fewer, the ends of an interval would come from resamples that hold one or two of them."""

_NAMED = 3  # conversations in a line
_NONE = Coefficient(math.nan, math.nan, math.nan)
NOTHING = Correlations(_NONE, _NONE, _NONE, _NONE, _NONE, 0)
_TOLD_APART = {"data set": ("corpus", "subset"), "system": ("scored_system", "system")}


def beside(scores: pd.DataFrame, labels: Labels) -> pd.DataFrame:
    """A row for each score and each label of its place: `score`, `metric`, `label`, `aspect`.

    `scores` has conversation, turn, metric, score, and if known corpus and system; other columns
    stay. Where several data sets or systems have conversations of one id, those of one data set and
    of one system are joined. Raises UserError if they cannot be told apart, or if no conversation
    has both.
    """
    means = labels.means().rename(columns={"metric": "aspect", "score": "label"})
    scores = scores.rename(columns={"system": "scored_system"})
    scores = scores.assign(**{c: "" for c in ("corpus", "scored_system") if c not in scores})
    joined = means.merge(scores, on=PLACE)
    for what, (scored, labelled) in _TOLD_APART.items():
        sides = ((scores, scored), (means, labelled))
        several = {
            id_
            for frame, column in sides
            for id_, names in frame.groupby("conversation")[column].unique().items()
            if len(names) > 1
        }
        fits = joined[scored].astype(str) == joined[labelled].astype(str)
        is_alike = joined["conversation"].isin(several)
        lost = joined[is_alike & ~fits.groupby(joined["conversation"]).transform("any")]
        if len(lost):
            row = lost.iloc[0]
            raise UserError(
                f"conversation {row.conversation!r} is there in more than one {what}: scores have "
                f"it in {row[scored] or 'none'!r}, labels in {row[labelled]!r}. Name the {what} "
                f"alike: labels and scores as CSV have the column `{labelled}`"
            )
        used = [set(of[column][of["conversation"].isin(several)]) for of, column in sides]
        _check_spelling(what, *used)
        joined = joined[~is_alike | fits]
    if not len(joined):
        scored_ids, labelled_ids = (set(each["conversation"]) for each in (scores, means))
        raise UserError(
            "no conversation has both a score and a label: scores are of "
            f"{some(scored_ids) or 'none'}, labels of {some(labelled_ids)}. `recjury judge "
            "--labels ...` rates the labelled ones"
        )
    return joined


def _check_spelling(what: str, scored: set[str], labelled: set[str]) -> None:
    """Raise UserError if a name of one side alone is nearly one of the other side alone."""
    for name in sorted(map(str, labelled - scored)):
        if near := nearest(name, map(str, scored - labelled)):
            raise UserError(f"labels have the {what} {name!r}, scores do not{near}")


def agreed(both: pd.DataFrame, resampling: Resampling, *, fewest: int = 5) -> Correlations:
    """How far `score` and `label` go together, over all and within systems; NaN if fewer than that.

    Rows of one `cluster` are drawn together; of fewer than 8 clusters there is no interval.
    """
    if len(both) < fewest:
        return NOTHING._replace(n=len(both))
    clusters = both["cluster"]
    draws = resampling.draws(list(clusters))
    found = correlations(both["score"], both["label"], clusters, both["system"], draws=draws)
    if clusters.nunique() >= FEWEST_CLUSTERS:
        return found
    none = {"low": math.nan, "high": math.nan}
    each = {name: getattr(found, name)._replace(**none) for name in Correlations._fields[:-1]}
    return found._replace(**each)


def interval(draws: Array, clusters: int) -> tuple[float, float]:
    """The 95 % interval of a figure; NaN if there are fewer than 8 clusters."""
    enough = clusters >= FEWEST_CLUSTERS
    return interval_of(draws, clusters=clusters) if enough else (math.nan, math.nan)


def some(names: set[str]) -> str:
    """The first three names, and how many more there are."""
    several = sorted(map(str, names))
    more = f" and {len(several) - _NAMED} more" if len(several) > _NAMED else ""
    return ", ".join(several[:_NAMED]) + more
