"""`align`: how far scores agree with people's labels, beside what reads no word of the log."""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal, NamedTuple

import pandas as pd

from recjury.agreement.labels import (
    SUBJECT,
    Labels,
    agreement,
    beyond_chance,
    lacking,
    with_labels,
)
from recjury.errors import UserError
from recjury.files import nearest
from recjury.results import Findings, Resampling
from recjury.results.ratings import STANDARD
from recjury.stats import (
    FEWEST_CLUSTERS,
    coefficients,
    interval,
    krippendorff_alpha,
    one_against_the_rest,
    rounded,
)

LENGTH, SYSTEM_MEAN = "(length of the replies)", "(mean of the system)"
_PREDICTORS = LENGTH, SYSTEM_MEAN
_FEWEST = {"place": 5, "system": 3}
_HIGHEST_DEFECT = 3  # rating

Level = Literal["place", "system"]
"""What is correlated: dialogues and turns, or the means of systems."""

Row = dict[str, Any]
"""What is found about an aspect of a subset of the labels; in the JSON, too."""


class _Cell(NamedTuple):
    """A metric beside an aspect of a subset: what it is about, the rows, how many labels it has."""

    subset: str
    aspect: str
    metric: str
    rows: pd.DataFrame
    labels: int

    @property
    def about(self) -> Row:
        return {"subset": self.subset, "aspect": self.aspect, "metric": self.metric}


def align(
    scores: pd.DataFrame,
    labels: Labels,
    pairs: Sequence[str] = (),
    *,
    level: Level = "place",
    resampling: Resampling = STANDARD,
) -> Findings:
    """Pearson, Spearman and Kendall by subset and metric, over all and within systems.

    `scores` has the columns of `read_scores`. Metrics are compared with the label of the same name
    ("face.relevance" with "relevance"), or as `pairs` say ("core.overall=dialogue_overall"). With
    `level` "system", the means of systems are correlated. Raises UserError if no conversation has
    both, and if nothing is paired.
    """
    labels = labels.with_systems(scores)
    means = labels.means()
    paired = _paired(scores, sorted(set(means["metric"])), pairs)
    both = with_labels(scores, labels)
    both = both[both["metric"].map(paired) == both["aspect"]]
    unlabelled = lacking(scores[scores["metric"].isin(list(paired))], both)
    alone = tuple(_alone(means, both, paired))
    both = _by_system(both) if level == "system" else _with_predictors(both, labels)
    cells = list(_cells(both, means, paired, level))
    rows = [each.about | _correlated(each, level, resampling) for each in cells]
    defects = [each.about | found for each in cells for found in _defects(each.rows)]
    table = pd.DataFrame(rows)
    found = {
        "rows": rows,
        "people": list(_people(cells, labels)),
        "differences": list(_differences(cells, resampling)),
        "defects": defects,
    }
    return Findings(
        title=f"{labels.name}: scores and people",
        answer=_answer(table),
        tables={"Agreement with people, with 95 % intervals": _shown(table)}
        | ({"Ratings of at most 3 are defects": pd.DataFrame(defects)} if defects else {}),
        notes=tuple(_notes(found, unlabelled)),
        problems=alone,
        data=found,
        numbers=_numbers(table),
    )


def _cells(
    both: pd.DataFrame, means: pd.DataFrame, paired: Mapping[str, str], level: Level
) -> Iterator[_Cell]:
    """The metrics of each label, and after them what reads no word, if it is known."""
    for (subset, aspect), own in means.groupby(["subset", "metric"], sort=False):
        number = len(own) if level == "place" else own["system"].nunique()
        metrics = [metric for metric, name in paired.items() if name == aspect]
        rows = both[(both["subset"] == subset) & (both["aspect"] == aspect)]
        for metric in (*metrics, *_PREDICTORS) if metrics else ():
            of = rows[rows["metric"] == metric]
            if len(of) or metric in metrics:
                yield _Cell(str(subset), str(aspect), metric, of, number)


def _by_system(both: pd.DataFrame) -> pd.DataFrame:
    """The means of systems."""
    keys = ["subset", "aspect", "metric", "system"]
    wide = both.groupby(keys, sort=False)[["score", "label"]].mean().reset_index()
    return wide.assign(cluster=wide["system"])


def _with_predictors(both: pd.DataFrame, labels: Labels) -> pd.DataFrame:
    """The length of replies and the mean label of the system's other dialogues are metrics."""
    means = labels.means().rename(columns={"metric": "aspect", "score": "label"})
    of_system = means.groupby(["subset", "aspect", "system"])["label"]
    rest = (of_system.transform("sum") - means["label"]) / (of_system.transform("size") - 1)
    several = means.groupby(["subset", "aspect"])["system"].transform("nunique") > 1
    predicted = means.assign(metric=SYSTEM_MEAN, score=rest.where(several)).dropna()
    lengths = _lengths(labels)
    parts = [both, predicted, with_labels(lengths, labels)] if len(lengths) else [both, predicted]
    return pd.concat(parts, ignore_index=True)


def _lengths(labels: Labels) -> pd.DataFrame:
    """The words of what a system said, in each turn and in the dialogue, as scores."""
    rows: list[tuple[Any, ...]] = []
    for each in labels.recordings:
        words = [len(t.text.split()) if t.speaker == "system" else 0 for t in each.interaction]
        by_turn = {-1: sum(words), **dict(enumerate(words))}
        about = (each.corpus, each.system)
        rows += ((each.id, turn, *about, LENGTH, float(n)) for turn, n in by_turn.items())
    return pd.DataFrame(rows, columns=[*SUBJECT, "corpus", "system", "metric", "score"])


def _correlated(cell: _Cell, level: Level, resampling: Resampling) -> Row:
    """The correlations of a metric with people, each with its interval, as in the JSON."""
    found = agreement(cell.rows, resampling, fewest=_FEWEST[level])
    row: Row = {}
    for name in ("pearson", "spearman", "kendall", "within_pearson", "within_spearman"):
        value, low, high = getattr(found, name)
        if name.startswith("within") and (cell.metric == SYSTEM_MEAN or level == "system"):
            value = low = high = math.nan  # within a system it says nothing
        row |= {name: value, f"{name}_low": low, f"{name}_high": high}
    clusters = cell.rows["cluster"].nunique()
    return row | {"n": found.n, "clusters": clusters, "coverage": found.n / cell.labels}


def _defects(both: pd.DataFrame) -> Iterator[Row]:
    """Ratings from 1 to 5 as two classes: defects, and what satisfies (Jia et al. 2024, section 5).

    The rate of defects among labels; precision, recall and F1 of the scores for both classes; F1
    weighted by class, as a plain mean (macro) and over both (micro, which is the accuracy). Nothing
    unless all scores and labels are from 1 to 5, with labels of both classes.
    """
    is_defect = both["label"] <= _HIGHEST_DEFECT
    values = both[["score", "label"]].to_numpy()
    if is_defect.nunique() < 2 or values.min() < 1 or values.max() > 5:
        return
    said, rate = both["score"] <= _HIGHEST_DEFECT, float(is_defect.mean())
    found = {"rate": rate}
    for name, truth, given in (("", is_defect, said), ("satisfied ", ~is_defect, ~said)):
        right = float((truth & given).sum())
        found[f"{name}precision"] = right / given.sum() if given.any() else math.nan
        found[f"{name}recall"] = right / truth.sum()
        found[f"{name}f1"] = 2 * right / (truth.sum() + given.sum())
    one, other = found["f1"], found["satisfied f1"]
    means = {"weighted f1": rate * one + (1 - rate) * other, "macro f1": (one + other) / 2}
    yield found | means | {"micro f1": float((is_defect == said).mean())}


def _differences(cells: Sequence[_Cell], resampling: Resampling) -> Iterator[Row]:
    """Pearson's r of each metric less that of the label's first, over what both have rated."""
    for (subset, aspect), of in groupby(cells, lambda cell: cell[:2]):
        first, *others = [cell for cell in of if cell.metric not in _PREDICTORS]
        keys = [key for key in ("conversation", "turn", "system") if key in first.rows]
        for other in others:
            scored = other.rows[[*keys, "score"]]
            both = first.rows.merge(scored, on=keys, suffixes=("", "_other"))
            if len(both) < _FEWEST["place"]:
                continue
            draws, y = resampling.draws(list(both["cluster"])), rounded(both["label"])
            one, two = (
                coefficients(rounded(both[name]), y, both["system"], draws)[:, 0]
                for name in ("score", "score_other")
            )
            number = both["cluster"].nunique()
            low, high = interval(two - one, clusters=number, fewest=FEWEST_CLUSTERS)
            about = {"subset": subset, "aspect": aspect, "a": other.metric, "b": first.metric}
            value = float(two[0] - one[0])
            yield about | {"value": value, "low": low, "high": high, "n": len(both)}


def _people(cells: Sequence[_Cell], labels: Labels) -> Iterator[Row]:
    """How far people agree on each label."""
    for subset, aspect in dict.fromkeys((cell.subset, cell.aspect) for cell in cells):
        if alpha := people_agree(labels.units(subset, aspect)):
            yield {"subset": subset, "aspect": aspect, **alpha}


def people_agree(units: list[list[float]]) -> dict[str, Any] | None:
    """How far people agree on units of single ratings; None if there are none of two people."""
    if not any(len(unit) > 1 for unit in units):
        return None
    return {
        "alpha": krippendorff_alpha(units),
        "alpha_interval": krippendorff_alpha(units, "interval"),
        "one_against_the_rest": one_against_the_rest(units),
        "subjects": len(units),
    }


def _paired(scores: pd.DataFrame, aspects: Sequence[str], pairs: Sequence[str]) -> dict[str, str]:
    """The aspect of each metric that is compared. Raises UserError."""
    metrics = sorted(set(scores["metric"]))
    if not metrics:
        raise UserError("there is no score")
    alike = [f"{m}={a}" for m in metrics for a in aspects if m.rpartition(".")[2] == a]
    if not pairs and not alike:
        raise UserError(
            f"no metric has the name of a label: labels are {', '.join(aspects)}, metrics "
            f"{', '.join(metrics[:10])}: pair them, as in --pair {metrics[0]}={aspects[0]}"
        )
    chosen: dict[str, str] = {}
    for pair in pairs or alike:
        metric, _, aspect = pair.partition("=")
        for what, name, known in (("metric", metric, metrics), ("label", aspect, aspects)):
            if name not in known:
                raise UserError(
                    f"--pair {pair}: there is no {what} {name!r}{nearest(name, known)}: "
                    f"there are {', '.join(known[:20])}"
                )
        if metric in chosen:
            raise UserError(f"--pair {pair}: {metric} is held against {chosen[metric]} already")
        chosen[metric] = aspect
    return chosen


def _alone(means: pd.DataFrame, both: pd.DataFrame, paired: Mapping[str, str]) -> Iterator[str]:
    """One line for each kind of labels that could not be compared."""
    labelled = means[means["metric"].isin(set(paired.values()))]
    if alone := lacking(labelled, both):
        yield f"labelled conversations without a score: {alone}"
    constant = labelled.groupby(["subset", "metric"])["score"].nunique()
    for subset, aspect in constant[constant == 1].index:
        yield f"{subset}, {aspect}: all labels are equal, so nothing correlates"


def _answer(table: pd.DataFrame) -> str:
    """How many metrics go with people beyond chance, and the one that does so most."""
    known = table.dropna(subset="spearman")
    is_plain = known["metric"].isin(_PREDICTORS)
    judged = known[~is_plain]
    if not len(judged):
        return (
            "No metric has a correlation with people: it wants 5 scores of dialogues or turns "
            "beside labels, or 3 of systems, and neither side may be all equal."
        )
    above, sentence = beyond_chance(*(judged[f"spearman{end}"] for end in ("", "_low", "_high")))
    if not above.any():
        return sentence
    (best,) = judged[above].nlargest(1, "spearman").to_dict("records")
    at_best = (known["subset"] == best["subset"]) & (known["aspect"] == best["aspect"])
    plain = known["spearman"][is_plain & at_best]
    other = f"; what reads no word of the log reaches {plain.max():.2f}" if len(plain) else ""
    return (
        f"{sentence} Highest: {best['metric']}, rho {_cell(best, 'spearman')} with "
        f"{best['aspect']} on {best['subset']}{other}."
    )


def _shown(table: pd.DataFrame) -> pd.DataFrame:
    """The table as people read it."""
    shown = table[["subset", "aspect", "metric"]].rename(
        columns={"subset": "data", "aspect": "label"}
    )
    for name in ("pearson", "spearman", "kendall", "within_spearman"):
        heading = "within systems" if name == "within_spearman" else name
        shown[heading] = [_cell(row, name) for row in table.to_dict("records")]
    coverage = table["coverage"].map("{:.0%}".format)
    shown = shown.assign(n=table["n"], clusters=table["clusters"], coverage=coverage)
    return shown.drop(columns="data") if shown["data"].nunique() == 1 else shown


def _numbers(table: pd.DataFrame) -> pd.DataFrame:
    """Rho of each metric by label, to be drawn."""
    ends = {"spearman": "mean", "spearman_low": "low", "spearman_high": "high"}
    known = table.dropna(subset="spearman").rename(columns=ends)
    numbers = known[[*ends.values(), "n"]].assign(
        system=[
            metric.removesuffix(aspect).rstrip(".") or "scores"
            for metric, aspect in zip(known["metric"], known["aspect"], strict=True)
        ],
        metric=known["subset"] + ", " + known["aspect"],
        scale=1,
    )
    numbers.attrs["title"] = "Spearman's rho"
    return numbers


def _cell(row: Mapping[Hashable, Any], name: str) -> str:
    value, low, high = (float(row[f"{name}{end}"]) for end in ("", "_low", "_high"))
    if math.isnan(value):
        return "-"
    return f"{value:.3f}" + ("" if math.isnan(low) else f" [{low:.2f}, {high:.2f}]")


def _notes(found: Mapping[str, Sequence[Row]], unlabelled: str) -> Iterator[str]:
    if unlabelled:
        yield f"scored conversations without a label: {unlabelled}"
    known = [row for row in found["rows"] if not math.isnan(row["spearman"])]
    if any(row["clusters"] < FEWEST_CLUSTERS for row in known):
        yield f"with fewer than {FEWEST_CLUSTERS} clusters there is no interval"
    for each in found["differences"]:
        low_high = f" [{each['low']:+.3f}, {each['high']:+.3f}]"
        yield (
            f"{each['subset']}, {each['aspect']}: r of {each['a']} less r of {each['b']}: "
            f"{each['value']:+.3f}{'' if math.isnan(each['low']) else low_high}, n = {each['n']}"
        )
    for each in found["people"]:
        rest = each["one_against_the_rest"]
        if each["alpha"] is not None:
            yield (
                f"{each['subset']}, {each['aspect']}: people's alpha {each['alpha']:.3f}"
                + (f", one against the rest rho {rest:.3f}" if rest is not None else "")
            )
