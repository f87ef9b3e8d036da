"""Comparisons in words: who is ahead, whether that is decided, how many scenarios would tell."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from recjury.records import Metric
from recjury.stats import FEWEST_CLUSTERS

_SPACE = "\N{NO-BREAK SPACE}"
_LARGE_SCALE = 20
_MOST = 10  # times as many scenarios as were played; to see a smaller difference nobody plays more

Row = Mapping[str, Any]


def shown(value: float, metric: Metric) -> str:
    """A score as tables show it; nothing is minus zero."""
    decimals = 1 if (metric.high or 0) > _LARGE_SCALE else 2
    # NumPy rounds .925 the other way, and one number must not be shown in two ways.
    return f"{round(float(value), decimals) + 0.0:.{decimals}f}"


def cell(value: float, row: Row, metric: Metric) -> str:
    """`2.91 [2.70, 3.10]`, which no table breaks; without an interval, `2.91`."""
    return f"{shown(value, metric)} {interval(row, metric)}".strip().replace(" ", _SPACE)


def interval(row: Row, metric: Metric) -> str:
    """`[0.41, 0.78]`, or nothing where there is none."""
    if row["low"] != row["low"]:
        return ""
    return f"[{shown(row['low'], metric)}, {shown(row['high'], metric)}]"


def signed(value: float, metric: Metric) -> str:
    """A difference with its sign."""
    return f"{'+' if value > 0 else ''}{shown(value, metric)}"


def p_text(p: float) -> str:
    """`p = .012`, `p < .001`, `p = 1`, or `no test`."""
    if math.isnan(p):
        return "no test"
    if p < 0.001:
        return "p < .001"
    return f"p = {p:.3f}".replace("0.", ".").replace("1.000", "1")


def listed(names: Sequence[str], most: int = 6) -> str:
    """Names as in a sentence, `a, b and c`; of many, the first and how many more."""
    shown = [*names[:most], *([f"{len(names) - most} more"] if len(names) > most else [])]
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


def wanted(row: Row) -> str:
    """About how many scenarios would decide, those that are there included."""
    number = row["n"] + row["more"]
    if row["n"] < FEWEST_CLUSTERS:
        return f"at least {FEWEST_CLUSTERS if math.isnan(number) else number:.0f}"
    if number > _MOST * row["n"]:
        return f"more than {_MOST * row['n']:,}"
    size = 10 if number >= 100 else 1
    return f"about {round(number / size) * size:,}"


def advice(row: Row) -> str:
    """What would decide a difference ("play about 40"); empty if that is known or out of reach."""
    is_near = row["n"] + row["more"] <= _MOST * row["n"]  # not true of NaN
    return f"play {wanted(row)}" if is_near else ""


def answer(table: pd.DataFrame, metrics: Mapping[str, Metric]) -> str:
    """Who is ahead by the leading metric of a comparison, and what else is decided."""
    leads = [_lead(row, metrics) for row in rows_of(table)]
    first = [lead for lead in leads if lead.metric == leads[0].metric]
    said = _of_two(first[0]) if len(first) == 1 else f"{_of_many(first)} {_apart(first)}".strip()
    others = [lead for lead in leads if lead.metric != leads[0].metric and lead.row["n"]]
    return "\n".join(filter(None, (said, _of_others(others, pairs=len(first)))))


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame."""
    names = list(map(str, table.columns))
    return [dict(zip(names, row, strict=True)) for row in table.itertuples(index=False)]


class _Lead(NamedTuple):
    """A difference, told from the side that is ahead; `by` has its interval."""

    metric: str
    ahead: str
    behind: str
    by: str
    row: Row


def _lead(row: Row, metrics: Mapping[str, Metric]) -> _Lead:
    metric = metrics[row["metric"]]
    better = -row["difference"] if metric.lower_is_better else row["difference"]
    sides = (row["b"], row["a"]) if better < 0 else (row["a"], row["b"])
    sign = -1 if row["difference"] < 0 else 1
    low, high = sorted((sign * row["low"], sign * row["high"]))
    by = cell(abs(row["difference"]), {"low": low, "high": high}, metric)
    return _Lead(row["metric"], *sides, by.replace(_SPACE, " "), row)


def _of_two(lead: _Lead) -> str:
    row = lead.row
    sides = f"{row['a']} and {row['b']}"
    if not row["comparable"]:
        return _apart([lead])
    if not row["n"]:
        return f"{sides} have no scenario in which both have a score of {lead.metric}."
    if row["difference"] == 0:
        return f"{sides} are level on {lead.metric} in {row['n']} scenarios."
    said = f"{lead.ahead} is ahead of {lead.behind} by {lead.by} on {lead.metric}"
    if row["decided"]:
        return f"{said}: decided ({p_text(row['p'])})."
    return f"{said}: not decided ({p_text(row['p'])}). {_too_few(row)}"


def _too_few(row: Row) -> str:
    scenarios = "1 scenario is" if row["n"] == 1 else f"{row['n']} scenarios are"
    return f"{scenarios} too few to show such a difference: play {wanted(row)}."


def best_of(table: pd.DataFrame, metrics: Mapping[str, Metric]) -> str:
    """Who is ahead of all others on the leading metric of a comparison, or nothing."""
    leads = [_lead(row, metrics) for row in rows_of(table)]
    return _best([lead for lead in leads if lead.metric == leads[0].metric])


def _best(leads: Sequence[_Lead]) -> str:
    names = list(dict.fromkeys(name for lead in leads for name in (lead.row["a"], lead.row["b"])))
    ahead = [lead.ahead for lead in leads if lead.row["n"] and lead.row["difference"]]
    return next((name for name in names if ahead.count(name) == len(names) - 1), "")


def _apart(leads: Sequence[_Lead]) -> str:
    """Which sides have no verdicts that can be compared."""
    pairs = [
        f"{lead.row['a']} with {lead.row['b']}" for lead in leads if not lead.row["comparable"]
    ]
    if not pairs:
        return ""
    return f"{leads[0].metric} does not compare {listed(pairs)}: it rests on different factors."


def _of_many(leads: Sequence[_Lead]) -> str:
    best, leads = _best(leads), [lead for lead in leads if lead.row["comparable"]]
    if not leads:
        return ""
    own = [lead for lead in leads if lead.ahead == best]
    if not best:
        pairs = [f"{lead.ahead} over {lead.behind}" for lead in leads if lead.row["decided"]]
        which = f": {listed(pairs)}" if pairs else ""
        said = f"On {leads[0].metric} {len(pairs)} of {len(leads)} differences are decided{which}."
        return " ".join(filter(None, (said, _rest(leads))))
    parts = [
        f"{listed([f'{each.behind} by {each.by}' for each in some])}: {word}"
        for word, some in (
            ("decided", [each for each in own if each.row["decided"]]),
            ("not decided", [each for each in own if not each.row["decided"]]),
        )
        if some
    ]
    said = f"On {own[0].metric} {best} is ahead of {'; and of '.join(parts)}."
    return " ".join(filter(None, (said, _rest(own))))


def _rest(leads: Sequence[_Lead]) -> str:
    """How many scenarios would decide what is not decided and can be."""
    rest = [lead for lead in leads if lead.row["more"] == lead.row["more"]]
    return _too_few(max(rest, key=_number).row) if rest else ""


def _number(lead: _Lead) -> float:
    return float(lead.row["n"] + lead.row["more"])


def _of_others(leads: Sequence[_Lead], *, pairs: int) -> str:
    decided = [lead for lead in leads if lead.row["decided"]]
    if not leads:
        return ""
    if not decided:
        return "No difference on another metric is decided."
    if pairs > 1:
        return f"{len(decided)} of {len(leads)} differences on other metrics are decided."
    by_side: dict[str, list[str]] = {}
    for lead in decided:
        by_side.setdefault(lead.ahead, []).append(lead.metric)
    sides = [f"{name} is ahead on {listed(ids)}" for name, ids in by_side.items()]
    return f"Also decided: {'; '.join(sides)}."
