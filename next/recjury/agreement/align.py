"""`align`: how far scores agree with people's labels, beside what reads no word of the log."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from recjury.agreement.labels import Labels
from recjury.errors import UserError
from recjury.files import nearest
from recjury.results import Findings
from recjury.stats import (
    Coefficient,
    Correlations,
    Draws,
    coefficients,
    correlations,
    interval,
    krippendorff_alpha,
    one_against_the_rest,
    rounded,
)

if TYPE_CHECKING:
    import pandas as pd

LENGTH, SYSTEM_MEAN = "(length of the replies)", "(mean of the system)"
_PLACE = ["conversation", "turn"]
_FEWEST = 5  # dialogues with a score and a label
_FEWEST_SYSTEMS = 3
_NAMED = 3  # conversations in a line
_NOTHING = Coefficient(math.nan, math.nan, math.nan)


class Aligned(NamedTuple):
    """One metric held against one aspect of one subset: its correlations and its coverage."""

    subset: str
    aspect: str
    metric: str
    found: Correlations
    coverage: float


def align(
    scores: "pd.DataFrame",
    labels: Labels,
    pairs: Sequence[str] = (),
    *,
    level: str = "place",
    resamples: int = 2000,
    seed: int = 0,
) -> Findings:
    """Pearson, Spearman and Kendall by subset and metric, over all and within systems.

    `scores` has the columns of `read_scores`. Metrics are compared with the label of the same name
    ("face.relevance" with "relevance"), or as `pairs` say ("core.overall=dialogue_overall"). With
    `level` "system", the means of systems are correlated. Raises UserError if no conversation has
    both, and if nothing is paired.
    """
    means = labels.means()
    if level == "system":
        means = means.assign(cluster=means["system"])
    paired = _paired(scores, sorted(set(means["metric"])), pairs)
    _check_common(scores, means)
    rows: list[Aligned] = []
    data: dict[str, Any] = {}
    for (subset, aspect), own in means.groupby(["subset", "metric"], sort=False):
        metrics = [metric for metric, name in paired.items() if name == aspect]
        if metrics:
            work = _Aspect(str(subset), str(aspect), own, labels, level, resamples, seed)
            found, told = work.aligned(scores, metrics)
            rows += found
            data.setdefault(str(subset), {})[str(aspect)] = told
    return Findings(
        title=f"{labels.name}: scores and people",
        answer=_answer(rows),
        tables={"Agreement with people, with 95 % intervals": _table(rows)},
        notes=tuple(_notes(data)),
        problems=tuple(_alone(scores, means, paired)),
        data=data,
    )


class _Aspect(NamedTuple):
    """One aspect of one subset, with its labels."""

    subset: str
    aspect: str
    own: "pd.DataFrame"
    labels: Labels
    level: str
    resamples: int
    seed: int

    def aligned(
        self, scores: "pd.DataFrame", metrics: Sequence[str]
    ) -> tuple[list[Aligned], dict[str, Any]]:
        """The rows of the metrics and of what reads no word, and the JSON of all."""
        rows = [self._row(metric, self._joined(scores, metric)) for metric in metrics]
        plain = {LENGTH: self._lengths(), SYSTEM_MEAN: self._system_means()}
        simple = [self._row(name, frame) for name, frame in plain.items() if len(frame)]
        told = {row.metric: _json(row) for row in rows}
        one = told[metrics[0]] if len(metrics) == 1 else told
        differences = [*self._differences(scores, metrics)]
        return [*rows, *simple], {
            **one,
            "predictors": {row.metric: _json(row) for row in simple},
            "ceiling": self._ceiling(),
            **({"differences": differences} if differences else {}),
        }

    def _joined(self, scores: "pd.DataFrame", metric: str) -> "pd.DataFrame":
        """The labels that have a score; with level "system", the means of systems."""
        own = scores[scores["metric"] == metric]
        places = own.groupby(_PLACE, observed=True)["score"].mean().rename("x").reset_index()
        joined = self.own.rename(columns={"score": "y"}).merge(places, on=_PLACE)
        if self.level != "system":
            return joined
        both = joined.groupby("system", sort=False)[["x", "y"]].mean().reset_index()
        return both.assign(cluster=both["system"])

    def _lengths(self) -> "pd.DataFrame":
        """The labels with the number of words of the system's turns that they are about."""
        if self.level == "system":
            return self.own[:0]
        said = {each.id: each.interaction for each in self.labels.recordings}

        def words(conversation: str, turn: int) -> float:
            turns = said.get(conversation, ())
            chosen = turns if turn < 0 else turns[turn : turn + 1]
            return float(sum(len(t.text.split()) for t in chosen if t.speaker == "system"))

        known = self.own[self.own["conversation"].isin(said)]
        lengths = [words(*place) for place in known[_PLACE].itertuples(index=False)]
        return known.rename(columns={"score": "y"}).assign(x=lengths)

    def _system_means(self) -> "pd.DataFrame":
        """The labels with the mean label of the system's other places."""
        own = self.own.rename(columns={"score": "y"})
        by_system = own.groupby("system")["y"]
        if self.level == "system" or by_system.ngroups < 2:
            return own[:0]
        counts, sums = by_system.transform("size"), by_system.transform("sum")
        return own.assign(x=(sums - own["y"]) / (counts - 1)).dropna()

    def _row(self, metric: str, joined: "pd.DataFrame") -> Aligned:
        whole = self.own["system"].nunique() if self.level == "system" else len(self.own)
        fewest = _FEWEST_SYSTEMS if self.level == "system" else _FEWEST
        share = len(joined) / whole
        if len(joined) < fewest:
            found = Correlations(_NOTHING, _NOTHING, _NOTHING, _NOTHING, _NOTHING, len(joined))
        else:
            draws = Draws(joined["cluster"], times=self.resamples, seed=self.seed)
            columns = (joined["x"], joined["y"], joined["cluster"], joined["system"])
            found = correlations(*columns, draws=draws)
        if metric == SYSTEM_MEAN or self.level == "system":  # within a system it says nothing
            found = found._replace(within_pearson=_NOTHING, within_spearman=_NOTHING)
        return Aligned(self.subset, self.aspect, metric, found, share)

    def _differences(
        self, scores: "pd.DataFrame", metrics: Sequence[str]
    ) -> Iterator[dict[str, Any]]:
        """Pearson's r of each metric less that of the first, over the places that both have."""
        first = self._joined(scores, metrics[0])
        for metric in metrics[1:]:
            both = first.merge(self._joined(scores, metric)[[*_PLACE, "x"]], on=_PLACE)
            if len(both) < _FEWEST:
                continue
            draws = Draws(both["cluster"], times=self.resamples, seed=self.seed)
            y = rounded(both["y"])
            one, other = (
                coefficients(rounded(both[name]), y, both["system"], draws)[:, 0]
                for name in ("x_x", "x_y")
            )
            low, high = interval(other - one, clusters=both["cluster"].nunique())
            value = float(other[0] - one[0])
            yield {"a": metric, "b": metrics[0], "value": value, "low": low, "high": high} | {
                "n": len(both)
            }

    def _ceiling(self) -> dict[str, Any] | None:
        """How far people agree with each other, where single ratings are known."""
        units = self.labels.units(self.subset, self.aspect)
        if not any(len(unit) > 1 for unit in units):
            return None
        return {
            "alpha": krippendorff_alpha(units),
            "alpha_interval": krippendorff_alpha(units, "interval"),
            "one_against_the_rest": one_against_the_rest(units),
            "places": len(units),
        }


def _paired(scores: "pd.DataFrame", aspects: Sequence[str], pairs: Sequence[str]) -> dict[str, str]:
    """The aspect of each metric that is compared. Raises UserError."""
    metrics = sorted(set(scores["metric"]))
    if not pairs:
        found = {m: a for m in metrics for a in aspects if m.rpartition(".")[2] == a}
        if not found:
            raise UserError(
                f"no metric has the name of a label: labels are {', '.join(aspects)}, metrics "
                f"{', '.join(metrics[:10])}: pair them, as in --pair {metrics[0]}={aspects[0]}"
                if metrics
                else "there is no score"
            )
        return found
    chosen = {}
    for pair in pairs:
        metric, _, aspect = pair.partition("=")
        for what, name, known in (("metric", metric, metrics), ("label", aspect, aspects)):
            if name not in known:
                raise UserError(
                    f"--pair {pair}: there is no {what} {name!r}{nearest(name, known)}: "
                    f"there are {', '.join(known[:20])}"
                )
        chosen[metric] = aspect
    return chosen


def _check_common(scores: "pd.DataFrame", means: "pd.DataFrame") -> None:
    scored, labelled = (set(each["conversation"]) for each in (scores, means))
    if not scored & labelled:
        raise UserError(
            "no conversation has both a score and a label: scores are of "
            f"{_some(scored) or 'none'}, labels of {_some(labelled)}. `recjury judge --labels ...` "
            "rates the labelled ones"
        )


def _alone(
    scores: "pd.DataFrame", means: "pd.DataFrame", paired: Mapping[str, str]
) -> Iterator[str]:
    """One line for each kind of what could not be compared."""
    aspects = set(paired.values())
    scored = set(scores[scores["metric"].isin(list(paired))]["conversation"])
    labelled = set(means[means["metric"].isin(aspects)]["conversation"])
    if alone := scored - labelled:
        yield f"{len(alone)} scored conversations have no label: {_some(alone)}"
    if alone := labelled - scored:
        yield f"{len(alone)} labelled conversations have no score: {_some(alone)}"
    constant = means[means["metric"].isin(aspects)].groupby(["subset", "metric"])["score"].nunique()
    for subset, aspect in constant[constant == 1].index:
        yield f"{subset}, {aspect}: all labels are equal, so nothing correlates"


def _some(names: set[str]) -> str:
    several = sorted(map(str, names))
    more = f" and {len(several) - _NAMED} more" if len(several) > _NAMED else ""
    return ", ".join(several[:_NAMED]) + more


def _answer(rows: Sequence[Aligned]) -> str:
    """Whether the metrics say more than what reads no word."""
    own = [row for row in rows if row.metric not in (LENGTH, SYSTEM_MEAN)]
    known = [row for row in own if not math.isnan(row.found.spearman.value)]
    if not known:
        return "No metric has enough scores beside labels for a correlation."
    best = max(known, key=lambda row: row.found.spearman.value)
    plain = [
        row.found.spearman.value
        for row in rows
        if (row.subset, row.aspect) == (best.subset, best.aspect)
        and row not in own
        and not math.isnan(row.found.spearman.value)
    ]
    value, low, high = best.found.spearman
    beside = f"; what reads no word of the log reaches {max(plain):.2f}" if plain else ""
    return (
        f"{best.metric} agrees best with people: rho {value:.2f} [{low:.2f}, {high:.2f}] with "
        f"{best.aspect} on {best.subset}{beside}."
    )


def _table(rows: Sequence[Aligned]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "data": row.subset,
                "label": row.aspect,
                "metric": row.metric,
                "pearson": _cell(row.found.pearson),
                "spearman": _cell(row.found.spearman),
                "kendall": _cell(row.found.kendall),
                "within systems": _cell(row.found.within_spearman),
                "n": row.found.n,
                "coverage": f"{row.coverage:.0%}",
            }
            for row in rows
        ]
    )


def _cell(found: Coefficient) -> str:
    if math.isnan(found.value):
        return "-"
    bounds = "" if math.isnan(found.low) else f" [{found.low:.2f}, {found.high:.2f}]"
    return f"{found.value:.3f}{bounds}"


def _notes(data: Mapping[str, Any]) -> Iterator[str]:
    for subset, aspects in data.items():
        for aspect, told in aspects.items():
            where = f"{subset}, {aspect}"
            for each in told.get("differences", ()):
                yield (
                    f"{where}: r of {each['a']} less r of {each['b']}: {each['value']:+.3f} "
                    f"[{each['low']:+.3f}, {each['high']:+.3f}], n = {each['n']}"
                )
            if (ceiling := told["ceiling"]) and ceiling["alpha"] is not None:
                rest = ceiling["one_against_the_rest"]
                yield (
                    f"{where}: people's alpha {ceiling['alpha']:.3f}"
                    + (f", one against the rest rho {rest:.3f}" if rest is not None else "")
                )


def _json(row: Aligned) -> dict[str, Any]:
    found = row.found
    return {
        "pearson": found.pearson._asdict(),
        "spearman": found.spearman._asdict(),
        "kendall": found.kendall._asdict(),
        "within_system": {
            "pearson": found.within_pearson._asdict(),
            "spearman": found.within_spearman._asdict(),
        },
        "n": found.n,
        "coverage": row.coverage,
    }
