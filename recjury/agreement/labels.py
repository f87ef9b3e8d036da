"""`Labels`: people's scores in a frame, the dialogues they rated, and scores joined with them."""

from collections.abc import Iterable
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recjury.corpora import Recording
from recjury.errors import UserError
from recjury.results import Resampling
from recjury.stats import Correlations, correlations, holm

COLUMNS = ("conversation", "turn", "metric", "rater", "score", "subset", "system", "cluster")
SUBJECT = ["conversation", "turn"]
"""What is rated: a turn, or with -1 the dialogue."""

UNKNOWN = "unknown"
"""The system of labels that name none."""

_NAMED = 3  # conversations in a line
_NORMAL = NormalDist()
_LEVEL = 0.05
_MOST = 0.999_999  # of a correlation; 1 is infinite on Fisher's scale
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

    def with_systems(self, scores: pd.DataFrame) -> "Labels":
        """Labels that name no system get that of their scored conversation.

        None gets one if a conversation is of several systems, which `with_labels` refuses.
        """
        if "system" not in scores or set(self.frame["system"]) != {UNKNOWN}:
            return self
        own = scores[scores["conversation"].isin(self.frame["conversation"])]
        by_id = own.groupby("conversation")["system"]
        if (by_id.nunique() > 1).any():
            return self
        system = self.frame["conversation"].map(by_id.first()).fillna(UNKNOWN)
        return self._replace(frame=self.frame.assign(system=system))

    def units(self, subset: str, metric: str) -> list[list[float]]:
        """The single scores of each label."""
        rows = self.frame[(self.frame["subset"] == subset) & (self.frame["metric"] == metric)]
        return [list(of["score"]) for _, of in rows.groupby([*SUBJECT, "system"], sort=False)]


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
    """A row for each score and each label of its subject: `score`, `metric`, `label`, `aspect`.

    `scores` has conversation, turn, metric, score, and if known corpus and system; other columns
    stay. Data sets and systems are matched, too, unless both sides have no name in common or the
    scores name none. Raises UserError if conversations of one id cannot be told apart, or if no
    conversation has both.
    """
    means = labels.means().rename(columns={"metric": "aspect", "score": "label"})
    scores = scores.rename(columns={"corpus": "subset"})
    names = [name for name in _TOLD_APART if name in scores]
    alike = [name for name in names if _in_common(scores[name], means[name])]
    keys, other = [*SUBJECT, *alike], [name for name in names if name not in alike]
    joined = means.merge(scores.drop(columns=other), on=keys)
    if not len(joined):
        scored, labelled = (some(set(each["conversation"])) for each in (scores, means))
        raise UserError(
            f"no conversation has both a score and a label: scores are of {scored or 'none'}, "
            f"labels of {labelled}: expected ids of scenarios, or of conversations as `recjury "
            "replay` lists them. Dialogues that came with labels are rated by `recjury judge "
            "--labels FORM:PATH`"
        )
    for name in other:
        for each in (scores, means):
            _check_told_apart(each[each["conversation"].isin(joined["conversation"])], keys, name)
    return joined


def _in_common(scored: "pd.Series[Any]", labelled: "pd.Series[Any]") -> bool:
    """Whether scores and labels name their data sets or systems alike; a version always counts."""
    return not set(scored).isdisjoint(labelled) or any("@" in name for name in set(labelled))


def _check_told_apart(rows: pd.DataFrame, keys: list[str], name: str) -> None:
    """Raises UserError if a conversation is there in several data sets (or systems)."""
    several = rows.groupby(keys)[name].nunique()
    for about in several.index[several > 1][:1]:
        own = rows[rows["conversation"] == about[0]]
        raise UserError(
            f"conversation {about[0]!r} is there in more than one {_TOLD_APART[name]}: "
            f"{some(set(own[name]))}. Name them alike: labels and scores as CSV have the column "
            f"`{name}`"
        )


def lacking(own: pd.DataFrame, both: pd.DataFrame) -> str:
    """The conversations that are not among `both`: how many there are, and the first; or "".

    Systems count, too, where they are named alike.
    """
    keys = ["conversation"]
    if "system" in own and _in_common(own["system"], both["system"]):
        keys.append("system")
    rows, known = (set(each[keys].itertuples(index=False, name=None)) for each in (own, both))
    left = {" of ".join(map(str, each)) for each in rows - known}
    return f"{len(left)} ({some(left)})" if left else ""


def agreement(both: pd.DataFrame, resampling: Resampling, *, fewest: int = 5) -> Correlations:
    """How far `score` and `label` go together, over all and within systems; NaN if fewer than that.

    Rows of one `cluster` are drawn together; of fewer than 8 clusters there is no interval.
    """
    columns = (both[name] for name in ("score", "label", "cluster", "system"))
    return correlations(*columns, **resampling._asdict(), fewest=fewest)


def beyond_chance(
    value: "pd.Series[float]", low: "pd.Series[float]", high: "pd.Series[float]"
) -> tuple["pd.Series[bool]", str]:
    """Which correlations are above 0 beyond chance, of all that were looked at; and a sentence.

    The p of each is by the width of its interval on Fisher's scale, with Holm's correction; one
    without an interval is not shown to be above 0.
    """
    z, lowest, highest = np.arctanh(np.clip([value, low, high], -_MOST, _MOST))
    errors = (highest - lowest) / (2 * _NORMAL.inv_cdf(0.975))
    p = [2 * (1 - _NORMAL.cdf(each)) for each in np.nan_to_num(np.abs(z) / errors)]
    above = pd.Series(holm(p) < _LEVEL, value.index) & (low > 0)
    many, level = f"of {len(value)} correlations with people", f"p < {_LEVEL}, Holm's correction"
    if above.any():
        return above, f"Above 0 ({level}): {above.sum()} {many}."
    without = int(low.isna().sum())
    rest = f"; {without} have no interval" if without else ""
    return above, f"None {many} is shown to be above 0 ({level}){rest}."


def some(names: set[str]) -> str:
    """The first three names, and how many more there are."""
    several = sorted(map(str, names))
    more = f" and {len(several) - _NAMED} more" if len(several) > _NAMED else ""
    return ", ".join(several[:_NAMED]) + more
