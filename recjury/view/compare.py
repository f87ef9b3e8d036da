"""Two systems, versions, users, evaluators or campaigns, paired: by metric, and by scenario."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple, get_args

import pandas as pd

from recjury.errors import UserError
from recjury.files import nearest
from recjury.records import Metric
from recjury.results.caveats import Logs, about_campaign, about_scores
from recjury.results.compare import By, by_scenario, compare
from recjury.results.comparison import metrics_by, ratings_of_all
from recjury.results.metrics import Metrics, metrics_of
from recjury.results.ratings import Missing, about_worst, played_trials, with_worst
from recjury.results.sentences import Row, answer, rows_of, shown, signed
from recjury.store import Store
from recjury.view.axes import Axis, scale_of
from recjury.view.campaign import Caveat
from recjury.view.data import Campaign
from recjury.view.overview import by_evaluator, plot_of, turned
from recjury.view.rendering import Page
from recjury.view.trials import first_words

_SPANS = (0.25, 0.5, 1.0)  # of a scale, to either side of zero

MOST = 100
"""So many scenarios are listed; of more, half of them from each end."""

_MOST_BARS = 400

Key = tuple[str, ...]
"""What tells one scenario from another, as `results.compare.by_scenario` has it."""


class Sides(NamedTuple):
    """What is compared, and the frame that has it.

    `all_pairs` is whether p allows for the other pairs, `lost` what is said of lost scores, and
    `caveats` is what is not to be trusted of both.
    """

    by: By
    missing: Missing
    a: str
    b: str
    names: list[str]
    frame: pd.DataFrame
    metrics: Metrics
    all_pairs: bool
    lost: str
    caveats: list[str]


def compare_page(store: Store, query: Mapping[str, str], id: str) -> Page:  # noqa: A002
    """`a` and `b`, by default the first two, of what `by` names; scenarios by gap in `metric`.

    With `missing` "worst", a score that a failure cost is the worst of its scale. Raises UserError
    for names that are not there, and if there is nothing to compare.
    """
    campaign = Campaign(store, id)
    sides = _sides(campaign, query)
    rows = _rows(campaign, sides)
    lead = query.get("metric") or next((row["metric"] for row in rows if row["n"]), "")
    metric, both = sides.metrics[lead], (sides.a, sides.b)
    gaps = by_scenario(sides.frame, *both, metric=lead, by=sides.by)
    span = _span(rows, sides.metrics)
    return Page(
        "compare.j2",
        {
            "campaign": campaign.link(),
            "name": campaign.name,
            "sides": sides,
            "choices": {"by": get_args(By), "missing": get_args(Missing)},
            "answer": [
                *answer(pd.DataFrame(rows), sides.metrics).splitlines(),
                *filter(None, [sides.lost]),
            ],
            "paired": bool(rows[0]["paired"]),
            "n": max(row["n"] for row in rows),
            "span": span,
            "groups": by_evaluator(_drawn(row, sides.metrics, span) for row in rows if row["n"]),
            "metric": lead,
            "wins": int((gaps["gap"] > 0).sum()),
            "losses": int((gaps["gap"] < 0).sum()),
            "ties": int((gaps["gap"] == 0).sum()),
            "scale": scale_of(metric),
            "bars": bars(gaps, metric),
            "gaps": list(scenarios(store, gaps, metric, _conversations(sides, gaps), both)),
            "hidden": max(0, len(gaps) - MOST),
            "caveats": list(map(Caveat.of, sides.caveats)),
        },
    )


def _sides(campaign: Campaign, query: Mapping[str, str]) -> Sides:
    by: By = next((each for each in get_args(By) if each == query.get("by")), "system")
    missing: Missing = "worst" if query.get("missing") == "worst" else "left out"
    store, frame, names = campaign.store, campaign.ratings, campaign.store.campaigns()
    if by != "campaign":
        names = [str(name) for name in frame[by].drop_duplicates()]
    if by == "system":
        older = played_trials(store, campaign.name, all_versions=True)["system"].unique()
        names = list(dict.fromkeys((*names, *map(str, older))))
    first = query.get("a") or (campaign.name if by == "campaign" else "")
    a, b = _two((first, query.get("b", "")), names, by)
    campaigns = [a, b] if by == "campaign" else [campaign.name]
    versions = by == "system" and "@" in a + b
    if len(campaigns) > 1 or versions:
        frame = campaign.once(
            "ratings",
            lambda: ratings_of_all(store, campaigns, all_versions=versions),
            *(*campaigns, versions),
        )
    own = frame[frame[by].isin([a, b])]
    caveats = campaign.once("caveats", lambda: _caveats(campaign, own, by), by, a, b)
    metrics, lost = metrics_by(store, campaigns, by), ""
    if missing == "worst":
        lost = about_worst(own)
        frame = with_worst(frame, metrics_of(store, *campaigns))
    all_pairs = len(campaigns) == 1 and not versions
    return Sides(by, missing, a, b, names, frame, metrics, all_pairs, lost, caveats)


def _caveats(campaign: Campaign, own: pd.DataFrame, by: By) -> list[str]:
    about = about_scores(own, by=by), Logs.read(campaign.store, own).about_lists()
    return [*chain(*about), *(about_campaign(campaign) if by != "campaign" else ())]


def _two(wanted: Sequence[str], names: Sequence[str], by: By) -> tuple[str, str]:
    """The names of both sides; one that is not given is the first that is left."""
    for name in filter(None, wanted):
        if name not in names:
            raise UserError(f"there is no {by} {name!r}{nearest(name, names)}: {', '.join(names)}")
    a, b = wanted
    left = iter([name for name in names if name not in wanted])
    a = a or next(left, "")
    b = b or next(left, "")
    if not (a and b) or a == b:
        raise UserError(f"two {by}s are wanted, there is {', '.join(names) or 'none'}")
    return a, b


def _rows(campaign: Campaign, sides: Sides) -> list[Row]:
    """The differences of a and b by metric, corrected for as many tests as the campaign's page."""
    names = () if sides.all_pairs else (sides.a, sides.b)
    known = campaign.scores if sides.frame is campaign.ratings else None
    order = list(sides.metrics)
    table = campaign.once(
        "compared",
        lambda: compare(sides.frame, names, by=sides.by, order=order, table=known),
        *(sides.by, sides.missing, names),
    )
    own = table[table["a"].isin([sides.a, sides.b]) & table["b"].isin([sides.a, sides.b])]
    return [turned(row, sides.a) for row in rows_of(own)]


def _span(rows: Sequence[Row], metrics: Metrics) -> float:
    """The part of a scale that all intervals fit in, to either side of zero."""
    widest = 0.0
    for row in rows:
        scale = scale_of(metrics[row["metric"]])
        if scale and row["n"]:
            widest = max(widest, _reach(row) / scale.width)
    return next((span for span in _SPANS if widest <= span), _SPANS[-1])


def _drawn(row: Row, metrics: Metrics, span: float) -> Row:
    """A metric's row with a plot, which spans the same part of each metric's scale."""
    scale = scale_of(metrics[row["metric"]])
    half = scale.width * span if scale else _reach(row) or 1.0
    # The dot stands on the side of who is better.
    better = turned(row, row["b"]) if metrics[row["metric"]].lower_is_better else row
    return {**row, "plot": plot_of(better, Axis(-half, half))}


def _reach(row: Row) -> float:
    """How far a difference and its interval are from zero."""
    ends = [abs(row[name]) for name in ("difference", "low", "high")]
    return max((end for end in ends if end == end), default=0.0)


def _conversations(sides: Sides, gaps: pd.DataFrame) -> dict[tuple[str, Key], str]:
    """The first conversation of each side in each scenario."""
    if not len(gaps):
        return {}
    keys = list(gaps.index.names)
    frame = sides.frame[sides.frame[sides.by].isin([sides.a, sides.b])]
    rows = frame.drop_duplicates([sides.by, *keys])[[sides.by, "conversation", *keys]].astype(str)
    return {
        (name, tuple(key)): conversation
        for name, conversation, *key in rows.itertuples(index=False, name=None)
    }


class Gap(NamedTuple):
    """A scenario: the values of both sides, and their conversations (an id, "" where none)."""

    key: str
    scenario: str
    words: str
    values: tuple[str, str]
    gap: str
    x: tuple[float, float] | None
    conversations: tuple[str, str]


def scenarios(
    store: Store,
    gaps: pd.DataFrame,
    metric: Metric,
    conversations: Mapping[tuple[str, Key], str],
    names: tuple[str, str],
) -> Iterator[Gap]:
    """The scenarios, the largest gap first. `conversations` are ids by name and scenario."""
    if len(gaps) > MOST:
        gaps = pd.concat([gaps.head(MOST // 2), gaps.tail(MOST // 2)])
    keys = _keys(gaps)
    pairs = [tuple(conversations.get((name, key), "") for name in names) for key in keys]
    logs = dict(store.logs(first for first, _ in pairs if first))
    values, scale = gaps[["a", "b", "gap"]].to_numpy().tolist(), scale_of(metric)
    for key, (first, second), (a, b, gap) in zip(keys, pairs, values, strict=True):
        yield Gap(
            key=_joined(key),
            scenario=key[-1],
            words=first_words(logs[first]) if first in logs else "",
            values=(shown(a, metric), shown(b, metric)),
            gap=signed(gap, metric),
            x=(scale.place(a), scale.place(b)) if scale else None,
            conversations=(first, second),
        )


def bars(gaps: pd.DataFrame, metric: Metric) -> list[tuple[str, float, str]]:
    """The scenarios for a drawing, each with its gap and what it says; of very many, every k-th."""
    every = -(-len(gaps) // _MOST_BARS) or 1
    found = list(zip(map(_joined, _keys(gaps)), gaps["gap"], strict=True))[::every]
    return [(key, gap, f"{key}, {signed(gap, metric)}") for key, gap in found]


def _keys(gaps: pd.DataFrame) -> list[Key]:
    return [tuple(map(str, key)) for key in gaps.index]


def _joined(parts: Sequence[str]) -> str:
    return "/".join(parts)
