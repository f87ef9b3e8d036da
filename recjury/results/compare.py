"""Differences between systems, users, evaluators or campaigns, paired by scenario."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recjury.errors import UserError
from recjury.files import nearest
from recjury.results.metrics import in_order
from recjury.results.ratings import STANDARD, Resampling, bases_of, scenarios_of, scores
from recjury.stats import FEWEST_CLUSTERS, Array, holm, interval, sign_flips

By = Literal["system", "user", "evaluator", "campaign"]

DECIDED = 0.05
_POWER_LOST = 0.2
_KEYS = ["user", "corpus", "scenario"]
COLUMNS = [
    *("a", "b", "metric", "difference", "low", "high", "p", "decided"),
    *("mean_a", "mean_b", "n", "paired", "comparable", "more"),
]


def compare(
    frame: pd.DataFrame,
    names: Sequence[str] = (),
    *,
    by: By = "system",
    metrics: Sequence[str] = (),
    order: Sequence[str] = (),
    resampling: Resampling = STANDARD,
    table: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """A row for each two of `names` and each metric: a minus b, with what is decided.

    Without names, all that the frame has `by` are compared two by two; one name is compared with
    each other. Scenarios that both have finished are paired, repeats averaged first; if there are
    none, `paired` is False. Verdicts and means of factors are compared where both rest on the same
    factors; if they never do, `comparable` is False. `low` and `high` are a 95 % bootstrap interval
    over scenarios. `p` is of sign flips, corrected by Holm's method: the leading metric over all
    pairs, and all others over all pairs. `decided` is p < .05. `n` counts scenarios, and about
    `more` would decide with a probability of 80 %, if the difference stays as it is; of less than
    8 scenarios, at least so many.

    `metrics` restricts what is compared, and `order` says how metrics stand in tables; the first
    one leads. `table` are the frame's scores, where they are known. Raises UserError for a name or
    a metric that the frame lacks, and if there is nothing to compare.
    """
    sides = _sides(frame, by, table)
    pairs = _pairs(_known(frame, names, by), sides, by)
    values = _Values(sides, _chosen(sides, metrics, order))
    rows = _rows([values.pair(*each) for each in pairs], values, resampling)
    return _decided(rows, values.metrics[0])


def by_scenario(
    frame: pd.DataFrame,
    a: str,
    b: str,
    *,
    metric: str,
    by: By = "system",
    table: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """The values of two sides where both have one, repeats averaged: a, b, and gap (a minus b).

    A row for each user, corpus and scenario, and for each system if others are compared; the
    largest gap first. Empty if a side has no such metric. `table` is as in `compare`.
    """
    values = _Values(_sides(frame[frame[by].isin([a, b])], by, table), [metric])
    pair = values.pair(a, b)
    both = pd.DataFrame({"a": pair.x[:, 0], "b": pair.y[:, 0]}, index=values.index).dropna()
    return both.assign(gap=both["a"] - both["b"]).sort_values("gap", ascending=False)


class _Side(NamedTuple):
    """A value for each scenario and metric, and on which factors it rests."""

    values: pd.DataFrame
    bases: pd.DataFrame


def _sides(frame: pd.DataFrame, by: By, known: pd.DataFrame | None = None) -> dict[str, _Side]:
    """The sides by name; metrics of evaluators lose the evaluator's name."""
    keys = [each for each in (("system", *_KEYS) if by != "system" else _KEYS) if each != by]
    sides = {}
    for name in frame[by].drop_duplicates().astype(str):
        own = frame[frame[by] == name]
        if by == "system" and known is not None:
            table = known[known.index.get_level_values("system") == name]
        else:
            table = scores(own)
        bases = bases_of(own, table)
        table = table.dropna(axis=1, how="all")
        for each in (table, bases) if by == "evaluator" else ():
            each.columns = [str(id_).removeprefix(f"{name}.") for id_ in each.columns]
        values = table.groupby(level=keys, observed=True).mean()
        had = table.notna().reindex(columns=bases.columns, fill_value=False)
        sides[name] = _Side(values, _joined(bases.where(had), keys))
    return sides


def _joined(bases: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """The bases of all repeats of a scenario, each once."""
    rests = bases.melt(var_name="id", value_name="on", ignore_index=False).dropna().reset_index()
    each = rests[[*keys, "id", "on"]].astype(str).drop_duplicates().sort_values("on")
    return (each.set_index([*keys, "id"])["on"] + ";").groupby(level=[*keys, "id"]).sum().unstack()


def _known(frame: pd.DataFrame, names: Sequence[str], by: By) -> list[str]:
    """The names as the frame has them; `name@version` may be the beginning of a version."""
    rows = frame.drop_duplicates(by)[[by, "version"]].astype(str).to_numpy().tolist()
    whole = {name: f"{name.partition('@')[0]}@{version}" for name, version in rows}
    found: list[str] = []
    for name in dict.fromkeys(names):
        begins = [each for each in whole if "@" in name and whole[each].startswith(name)]
        meant = [name] if name in whole else begins
        if len(meant) != 1:
            known = ", ".join(sorted(whole))
            also = "; behind @ is how the hash of a version begins, no label" if "@" in name else ""
            near = nearest(name, whole)
            raise UserError(f"there is no {by} {name!r}{near}: there are {known}{also}")
        found += meant
    return found


def _pairs(names: list[str], sides: Iterable[str], by: By) -> list[tuple[str, str]]:
    if len(names) == 1:
        pairs = [(names[0], other) for other in sides if other != names[0]]
    else:
        pairs = list(combinations(names or sides, 2))
    if not pairs:
        known = ", ".join(sides) or "none with a score"
        also = "; an earlier version is NAME@ and how it begins" if by == "system" else ""
        raise UserError(f"two {by}s are wanted, there is {known}{also}")
    return pairs


def _chosen(sides: Mapping[str, _Side], metrics: Sequence[str], order: Sequence[str]) -> list[str]:
    """The metrics that are compared, the leading one first."""
    known = dict.fromkeys(id_ for side in sides.values() for id_ in map(str, side.values))
    if not known:
        raise UserError("there are no scores yet: nothing can be compared")
    for name in metrics:
        if not any(is_meant(id_, name) for id_ in known):
            raise UserError(f"there is no score of {name!r}{nearest(name, known)}")
    chosen = [id_ for id_ in known if any(is_meant(id_, name) for name in metrics)]
    places = {id_: place for place, id_ in enumerate(order)}
    return sorted(
        in_order(chosen if metrics else known), key=lambda id_: places.get(id_, len(places))
    )


def is_meant(id_: str, name: str) -> bool:
    """Whether a name is that of a metric: `core.overall`, or `overall` of any evaluator."""
    return id_ == name or id_.endswith(f".{name}")


class _Pair(NamedTuple):
    """Two sides, and their values of each scenario and metric `[n, k]`."""

    a: str
    b: str
    x: Array
    y: Array
    paired: bool
    comparable: NDArray[np.bool_]


class _Values:
    """The values of all sides on the same rows, so that all figures share one set of draws."""

    def __init__(self, sides: Mapping[str, _Side], metrics: list[str]):
        empty = [side.values.iloc[:, :0] for side in sides.values()]
        self.index = pd.concat(empty).index.drop_duplicates()
        self.metrics, self.scenarios = metrics, scenarios_of(self.index)
        self._met = {name: self.index.isin(side.values.index) for name, side in sides.items()}
        self._sides = {
            name: [table.reindex(self.index, columns=metrics).to_numpy() for table in side]
            for name, side in sides.items()
        }

    def pair(self, a: str, b: str) -> _Pair:
        """The values of two sides, where both rest on the same factors; if paired, of both."""
        (x, of_x), (y, of_y) = self._sides[a], self._sides[b]
        paired = bool((self._met[a] & self._met[b]).any())
        if paired:
            x, y = (np.where(np.isnan(x - y), np.nan, each) for each in (x, y))
        same_x, same_y = _same(of_x, of_y, paired=paired), _same(of_y, of_x, paired=paired)
        had = ~np.isnan(x).all(axis=0) & ~np.isnan(y).all(axis=0)
        x, y = np.where(same_x, x, np.nan), np.where(same_y, y, np.nan)
        has = ~np.isnan(x).all(axis=0) & ~np.isnan(y).all(axis=0)
        return _Pair(a, b, x, y, paired, has | ~had)


def _same(own: Any, others: Any, *, paired: bool) -> NDArray[np.bool_]:
    """Where the factors are those of the other side; nothing rests on other factors than `None`."""
    if paired:
        return np.asarray(pd.isna(own) | pd.isna(others) | (own == others), dtype=bool)
    columns = zip(own.T, others.T, strict=True)
    shared = [pd.isna(mine) | pd.Series(mine).isin(pd.unique(its)) for mine, its in columns]
    return np.array(shared, dtype=bool).T


def _p_values(pairs: Sequence[_Pair], scenarios: Sequence[str], seed: int) -> Array:
    """A row for each pair, a column for each metric: by sign flips, or by SciPy if unpaired."""
    differences = [pair.x - pair.y if pair.paired else pair.x * np.nan for pair in pairs]
    p = sign_flips(np.hstack(differences), scenarios, seed=seed).reshape(len(pairs), -1)
    for row, pair in enumerate(pairs):
        for column in () if pair.paired else range(p.shape[1]):
            p[row, column] = _shuffled(pair.x[:, column], pair.y[:, column], seed)
    return p


def _shuffled(x: Array, y: Array, seed: int) -> float:
    """The p-value of a difference between two groups of scenarios; NaN without two of them."""
    x, y = x[~np.isnan(x)], y[~np.isnan(y)]
    if min(len(x), len(y)) < 2:
        return math.nan
    from scipy import stats  # a third of what `recjury status` would import otherwise

    def difference(one: Array, other: Array, axis: int) -> Array:
        return np.asarray(one.mean(axis=axis) - other.mean(axis=axis))

    found = stats.permutation_test(
        (x, y), difference, n_resamples=9_999, batch=500, vectorized=True, rng=seed
    )
    return float(found.pvalue)


class _Row(NamedTuple):
    """A difference with its standard error, and a p-value that is not corrected yet."""

    a: str
    b: str
    metric: str
    paired: bool
    comparable: bool
    n: int
    unequal: int
    mean_a: float
    mean_b: float
    difference: float
    low: float
    high: float
    p: float
    se: float


def _rows(pairs: Sequence[_Pair], sides: _Values, resampling: Resampling) -> Iterator[_Row]:
    """The differences of all pairs on all metrics."""
    draws = resampling.draws(sides.scenarios)
    p_values = _p_values(pairs, sides.scenarios, resampling.seed)
    values = np.hstack([each for pair in pairs for each in (pair.x, pair.y)])
    shape = (len(pairs), 2, len(sides.metrics))
    means = draws.mean(values).reshape(-1, *shape)
    clusters = draws.clusters(values).reshape(shape).min(axis=1)
    gaps_of = [np.where(pair.x == pair.y, np.nan, pair.x - pair.y) for pair in pairs]
    unequal = draws.clusters(np.hstack(gaps_of)).reshape(clusters.shape)
    for (row, column), n in np.ndenumerate(clusters):
        pair, (mean_a, mean_b) = pairs[row], means[:, row, :, column].T
        gaps = mean_a - mean_b
        low, high = interval(gaps, clusters=n)
        se, p = np.nanstd(gaps[1:]) if n else math.nan, p_values[row, column]
        about = (pair.a, pair.b, sides.metrics[column], pair.paired)
        differing = unequal[row, column] if pair.paired else n
        known = bool(pair.comparable[column]), int(n), int(differing)
        yield _Row(*about, *known, *map(float, (mean_a[0], mean_b[0], gaps[0], low, high, p, se)))


def _decided(rows: Iterable[_Row], lead: str) -> pd.DataFrame:
    """The rows with corrected p-values, by families: the leading metric, and all others."""
    table = pd.DataFrame(rows)
    table["more"] = math.nan
    for is_lead in (True, False):
        family = (table["metric"] == lead) == is_lead
        tests = int(table["p"][family].notna().sum())
        table.loc[family, "p"] = holm(table["p"][family])
        is_open = family & (table["p"] >= DECIDED) & (table["difference"] != 0)
        table.loc[is_open, "more"] = _more(table[is_open], tests)
    return table.assign(decided=table["p"] < DECIDED)[COLUMNS]


def _more(rows: pd.DataFrame, tests: int) -> Array:
    """How many more scenarios would decide, for differences and spreads that stay as they are.

    All signs alike are the least p that flips can give, so below some number nothing is decided. A
    spread that is known of few scenarios tells no more than that 8 are needed.
    """
    from scipy import stats

    n, unequal = rows["n"].to_numpy(), rows["unequal"].to_numpy()
    fewest = np.ceil(fewest_scenarios(max(1, tests)) * n / np.maximum(1, unequal))
    z = stats.norm.isf(DECIDED / max(1, tests) / 2) + stats.norm.isf(_POWER_LOST)
    errors = (rows["se"] / rows["difference"]).to_numpy()
    known = np.where(n < FEWEST_CLUSTERS, FEWEST_CLUSTERS, np.ceil(n * (z * errors) ** 2))
    return np.asarray(np.maximum(1, np.maximum(fewest, known) - n))


def fewest_scenarios(tests: int = 1) -> int:
    """Of fewer, sign flips decide nothing, whatever the differences are."""
    return math.floor(math.log2(2 * tests / DECIDED)) + 1
