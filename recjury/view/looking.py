"""Where to look in a campaign: links to the trials that tell most."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pandas as pd

from recjury.records import Metric
from recjury.results.sentences import shown
from recjury.view.data import Campaign, chosen

_LOWEST = 10


class Look(NamedTuple):
    """How many trials there are of a kind, a link to them, and the one that tells most."""

    number: int
    address: str
    text: str
    about: str = ""
    trial: str = ""
    name: str = ""


def looks(campaign: Campaign, trials: pd.DataFrame, query: Mapping[str, str]) -> Iterator[Look]:
    """Lists of a campaign's trials with which a reader begins; empty ones are left out.

    `query` has narrowed the trials, and narrows what the links show.
    """
    verdict, name = campaign.verdict, campaign.metrics.title(campaign.verdict).lower()
    metric = campaign.metrics[verdict]
    kinds: list[_Want] = [
        (
            "debates without agreement",
            {"agreed": "no", "sort": "-spread"},
            "widest, {value} points",
        ),
        *_verdicts(verdict, metric, name),
        ("failed trials", {"status": "failed"}, "{value}"),
        ("trials that lack a score", {"status": "unscored"}, "first"),
    ]
    for text, wanted, about in kinds:
        whole = {**query, **wanted}
        found = chosen(trials, whole)
        if not len(found):
            continue
        row = found.iloc[0]
        value = row.get(wanted.get("sort", "").removeprefix("-"))
        number = len(found)
        if wanted.keys() == {"sort"}:  # the trials at one end of all that have a score
            number = min(_LOWEST, int(found[verdict].notna().sum()))
        yield Look(
            number,
            campaign.link("trials", **whole),
            text,
            about.format(value=shown(value, metric) if value is not None else row["reason"]),
            f"/t/{row['id']}",
            f"{row['system']}, {row['scenario']}",
        )


def reversals(trials: pd.DataFrame, id_: str, ahead: str, behind: str, metric: Metric) -> int:
    """In how many scenarios the system that is behind is ahead."""
    sides = trials[trials["system"].isin([ahead, behind]) & trials[id_].notna()]
    keys = ["user", "corpus", "scenario", "system"]
    wide = sides.groupby(keys, observed=True)[id_].mean().unstack("system")
    gaps = (wide[ahead] - wide[behind]) * (-1 if metric.lower_is_better else 1)
    return int((gaps < 0).sum())


_Want = tuple[str, dict[str, str], str]
"""What is listed, its query, and what is said of the first one."""


def _verdicts(id_: str, metric: Metric, name: str) -> Iterator[_Want]:
    if not id_:
        return
    yield f"trials with the lowest {name}", {"sort": id_}, "lowest, {value}"
    if metric.high is None:
        return
    width = metric.high - metric.low
    half, most = f"{metric.low + width / 2:g}", f"{metric.low + width * 3 / 4:g}"
    low = {"ending": "hit", "under": half, "sort": id_}
    yield f"hits with {name} under {half}", low, "lowest, {value}"
    high = {"ending": "round limit", "over": most, "sort": f"-{id_}"}
    yield f"trials with {name} over {most} and no hit", high, "highest, {value}"
