"""`align`: how far scores agree with people's labels, beside what reads no word of the log."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import pandas as pd

from recjury.agreement.beside import FEWEST_CLUSTERS, PLACE, agreed, beside, interval, some
from recjury.agreement.defects import defects
from recjury.agreement.labels import Labels
from recjury.errors import UserError
from recjury.files import nearest
from recjury.results import Findings, Resampling
from recjury.results.sentences import listed
from recjury.stats import (
    Coefficient,
    coefficients,
    krippendorff_alpha,
    one_against_the_rest,
    rounded,
)

LENGTH, SYSTEM_MEAN = "(length of the replies)", "(mean of the system)"
_PREDICTORS = LENGTH, SYSTEM_MEAN
_FEWEST = {"place": 5, "system": 3}


Level = Literal["place", "system"]
"""What is correlated: dialogues and turns, or the means of systems."""

Row = Mapping[str, Any]
"""One metric held against one aspect of one subset: as in the JSON, with their names."""


def align(
    scores: pd.DataFrame,
    labels: Labels,
    pairs: Sequence[str] = (),
    *,
    level: Level = "place",
    resamples: int = 2000,
    seed: int = 0,
) -> Findings:
    """Pearson, Spearman and Kendall by subset and metric, over all and within systems.

    `scores` has the columns of `read_scores`. Metrics are compared with the label of the same name
    ("face.relevance" with "relevance"), or as `pairs` say ("core.overall=dialogue_overall"). With
    `level` "system", the means of systems are correlated. Raises UserError if no conversation has
    both, and if nothing is paired.
    """
    means, resampling = labels.means(), Resampling(resamples, seed)
    paired = _paired(scores, sorted(set(means["metric"])), pairs)
    both = beside(scores, labels)
    both = both[both["metric"].map(paired) == both["aspect"]]
    both = _by_system(both) if level == "system" else _with_predictors(both, labels)
    rows: list[Row] = []
    data: dict[str, Any] = {}
    for (subset, aspect), own in means.groupby(["subset", "metric"], sort=False):
        metrics = [metric for metric, name in paired.items() if name == aspect]
        if not metrics:
            continue
        found = both[(both["subset"] == subset) & (both["aspect"] == aspect)]
        by_metric = {name: found[found["metric"] == name] for name in (*metrics, *_PREDICTORS)}
        whole = len(own) if level == "place" else own["system"].nunique()
        told = {
            name: _told(of, len(of) / whole, name, level, resampling)
            for name, of in by_metric.items()
            if len(of) or name in metrics
        }
        about = {"subset": str(subset), "aspect": str(aspect)}
        rows += ({**about, "metric": name, **each} for name, each in told.items())
        differences = [*_differences([by_metric[name] for name in metrics], resampling)]
        data.setdefault(str(subset), {})[str(aspect)] = {
            **(told[metrics[0]] if len(metrics) == 1 else {name: told[name] for name in metrics}),
            "predictors": {name: told[name] for name in _PREDICTORS if name in told},
            "ceiling": people_agree(labels.units(str(subset), str(aspect))),
            **({"differences": differences} if differences else {}),
        }
    return Findings(
        title=f"{labels.name}: scores and people",
        answer=_answer(rows),
        tables={"Agreement with people, with 95 % intervals": _table(rows), **_defects(rows)},
        notes=(*_notes(data), *_without_interval(rows)),
        problems=tuple(_alone(scores, means, paired)),
        data=data,
        numbers=_numbers(rows),
    )


def _by_system(both: pd.DataFrame) -> pd.DataFrame:
    """The means of systems."""
    keys = ["subset", "aspect", "metric", "system"]
    wide = both.groupby(keys, sort=False)[["score", "label"]].mean().reset_index()
    return wide.assign(cluster=wide["system"])


def _with_predictors(both: pd.DataFrame, labels: Labels) -> pd.DataFrame:
    """The length of the replies, and the mean label of the system's other places, are metrics."""
    means = labels.means().rename(columns={"metric": "aspect", "score": "label"})
    of_system = means.groupby(["subset", "aspect", "system"])["label"]
    rest = (of_system.transform("sum") - means["label"]) / (of_system.transform("size") - 1)
    several = means.groupby(["subset", "aspect"])["system"].transform("nunique") > 1
    predicted = means.assign(metric=SYSTEM_MEAN, score=rest.where(several)).dropna()
    lengths = _lengths(labels)
    parts = [both, predicted, beside(lengths, labels)] if len(lengths) else [both, predicted]
    return pd.concat(parts, ignore_index=True)


def _lengths(labels: Labels) -> pd.DataFrame:
    """The words of what a system said, in each turn and in the dialogue, as scores."""
    rows: list[tuple[Any, ...]] = []
    for each in labels.recordings:
        words = [len(t.text.split()) if t.speaker == "system" else 0 for t in each.interaction]
        places = {-1: sum(words), **dict(enumerate(words))}
        about = (each.corpus, each.system)
        rows += ((each.id, turn, *about, LENGTH, float(n)) for turn, n in places.items())
    return pd.DataFrame(rows, columns=[*PLACE, "corpus", "system", "metric", "score"])


def _told(
    both: pd.DataFrame, coverage: float, metric: str, level: str, resampling: Resampling
) -> dict[str, Any]:
    """The correlations of a metric with people."""
    found = agreed(both, resampling, fewest=_FEWEST[level])
    within = {"pearson": found.within_pearson, "spearman": found.within_spearman}
    if metric == SYSTEM_MEAN or level == "system":  # within a system it says nothing
        within = dict.fromkeys(within, Coefficient(math.nan, math.nan, math.nan))
    return {
        **{name: getattr(found, name)._asdict() for name in ("pearson", "spearman", "kendall")},
        "within_system": {name: each._asdict() for name, each in within.items()},
        "n": found.n,
        "clusters": both["cluster"].nunique(),
        "coverage": coverage,
        "defects": defects(both),
    }


def _differences(
    judged: Sequence[pd.DataFrame], resampling: Resampling
) -> Iterator[dict[str, Any]]:
    """Pearson's r of each metric less that of the first, over the places that both have."""
    first = judged[0]
    keys = [key for key in ("conversation", "turn", "system") if key in first]
    for other in judged[1:]:
        both = first.merge(other[[*keys, "score", "metric"]], on=keys, suffixes=("", "_other"))
        if len(both) < _FEWEST["place"]:
            continue
        draws, y = resampling.draws(list(both["cluster"])), rounded(both["label"])
        one, two = (
            coefficients(rounded(both[name]), y, both["system"], draws)[:, 0]
            for name in ("score", "score_other")
        )
        low, high = interval(two - one, both["cluster"].nunique())
        names = {"a": both["metric_other"].iloc[0], "b": both["metric"].iloc[0]}
        value = float(two[0] - one[0])
        yield names | {"value": value, "low": low, "high": high, "n": len(both)}


def people_agree(units: list[list[float]]) -> dict[str, Any] | None:
    """How far people agree on units of single ratings; None if there are none of two people."""
    if not any(len(unit) > 1 for unit in units):
        return None
    return {
        "alpha": krippendorff_alpha(units),
        "alpha_interval": krippendorff_alpha(units, "interval"),
        "one_against_the_rest": one_against_the_rest(units),
        "places": len(units),
    }


def _paired(scores: pd.DataFrame, aspects: Sequence[str], pairs: Sequence[str]) -> dict[str, str]:
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
    chosen: dict[str, str] = {}
    for pair in pairs:
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


def _alone(scores: pd.DataFrame, means: pd.DataFrame, paired: Mapping[str, str]) -> Iterator[str]:
    """One line for each kind of what could not be compared."""
    aspects = set(paired.values())
    scored = set(scores[scores["metric"].isin(list(paired))]["conversation"])
    labelled = set(means[means["metric"].isin(aspects)]["conversation"])
    if alone := scored - labelled:
        yield f"{len(alone)} scored conversations have no label: {some(alone)}"
    if alone := labelled - scored:
        yield f"{len(alone)} labelled conversations have no score: {some(alone)}"
    constant = means[means["metric"].isin(aspects)].groupby(["subset", "metric"])["score"].nunique()
    for subset, aspect in constant[constant == 1].index:
        yield f"{subset}, {aspect}: all labels are equal, so nothing correlates"


def _without_interval(rows: Sequence[Row]) -> Iterator[str]:
    """Why intervals are missing."""
    few: dict[str, dict[str, int]] = {}
    for row in rows:
        if row["clusters"] < FEWEST_CLUSTERS and not math.isnan(row["spearman"]["value"]):
            fewest = few.setdefault(row["subset"], {}).get(row["aspect"], FEWEST_CLUSTERS)
            few[row["subset"]][row["aspect"]] = min(fewest, row["clusters"])
    for subset, aspects in few.items():
        numbers = listed([f"{number} of {aspect}" for aspect, number in aspects.items()])
        yield (
            f"{subset}: no interval with fewer than {FEWEST_CLUSTERS} clusters: there are {numbers}"
        )


def _answer(rows: Sequence[Row]) -> str:
    """Whether the metrics say more than what reads no word."""
    known = [row for row in rows if not math.isnan(row["spearman"]["value"])]
    own = [row for row in known if row["metric"] not in _PREDICTORS]
    if not own:
        return "No metric has enough scores beside labels for a correlation."
    best = max(own, key=lambda row: float(row["spearman"]["value"]))
    place = best["subset"], best["aspect"]
    plain = [
        row["spearman"]["value"]
        for row in known
        if row["metric"] in _PREDICTORS and (row["subset"], row["aspect"]) == place
    ]
    beside_it = f"; what reads no word of the log reaches {max(plain):.2f}" if plain else ""
    return (
        f"{best['metric']} agrees best with people: rho {_cell(best['spearman'])} with "
        f"{best['aspect']} on {best['subset']}{beside_it}."
    )


def _table(rows: Sequence[Row]) -> pd.DataFrame:
    found = pd.DataFrame(
        {
            "data": row["subset"],
            "label": row["aspect"],
            "metric": row["metric"],
            **{name: _cell(row[name]) for name in ("pearson", "spearman", "kendall")},
            "within systems": _cell(row["within_system"]["spearman"]),
            "n": row["n"],
            "clusters": row["clusters"],
            "coverage": f"{row['coverage']:.0%}",
        }
        for row in rows
    )
    one = len(found) and found["data"].nunique() == 1
    return found.drop(columns="data") if one else found


def _numbers(rows: Sequence[Row]) -> pd.DataFrame:
    """Rho of each metric by label, to be drawn."""
    drawn = [
        {"system": row["metric"].removesuffix(row["aspect"]).rstrip(".") or "scores", "scale": 1}
        | {"metric": f"{row['subset']}, {row['aspect']}", "n": row["n"]}
        | {"mean": row["spearman"]["value"], **row["spearman"]}
        for row in rows
    ]
    numbers = pd.DataFrame(drawn).dropna(subset="mean") if drawn else pd.DataFrame()
    numbers.attrs["title"] = "Spearman's rho"
    return numbers


def _defects(rows: Sequence[Row]) -> dict[str, pd.DataFrame]:
    about = ("subset", "aspect", "metric")
    found = [{k: r[k] for k in about} | r["defects"] for r in rows if r["defects"]]
    return {"Ratings of at most 3 are defects": pd.DataFrame(found)} if found else {}


def _cell(found: Mapping[str, float]) -> str:
    if math.isnan(found["value"]):
        return "-"
    is_bare = math.isnan(found["low"])
    return f"{found['value']:.3f}" + (
        "" if is_bare else f" [{found['low']:.2f}, {found['high']:.2f}]"
    )


def _notes(data: Mapping[str, Any]) -> Iterator[str]:
    for subset, aspects in data.items():
        for aspect, told in aspects.items():
            where = f"{subset}, {aspect}"
            for each in told.get("differences", ()):
                low_high = f" [{each['low']:+.3f}, {each['high']:+.3f}]"
                yield (
                    f"{where}: r of {each['a']} less r of {each['b']}: {each['value']:+.3f}"
                    f"{'' if math.isnan(each['low']) else low_high}, n = {each['n']}"
                )
            if (ceiling := told["ceiling"]) and ceiling["alpha"] is not None:
                rest = ceiling["one_against_the_rest"]
                yield (
                    f"{where}: people's alpha {ceiling['alpha']:.3f}"
                    + (f", one against the rest rho {rest:.3f}" if rest is not None else "")
                )
