"""A campaign: who is ahead of whom, what not to trust, factors, debates, where to look."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from recjury.errors import UserError
from recjury.records import DEBATE, Metric
from recjury.results import Findings, StoredCampaign, summary_of
from recjury.results.compare import by_scenario
from recjury.results.sentences import Row, answer, shown
from recjury.store import Store
from recjury.view.data import Campaign, chosen
from recjury.view.debates import panels
from recjury.view.overview import Overview, by_evaluator
from recjury.view.progress import live
from recjury.view.rendering import Page
from recjury.view.trials import options

FILTERS = ("corpus", "user", "scenario", "evaluator", "status")
"""What narrows all of the page."""

_LOWEST = 10
_ENOUGH = 5  # trials that two raters have both rated


class Caveat(NamedTuple):
    """What is not to be trusted, why, and the trials that it is about."""

    claim: str
    why: str
    address: str = ""

    @classmethod
    def of(cls, line: str, address: str = "") -> Self:
        """That of a note: what stands before a colon is the claim."""
        claim, colon, why = line.partition(": ")
        return cls(f"{claim}{colon.strip()}", why, address) if colon else cls("", line, address)


_Want = tuple[str, dict[str, str], str]
"""What is listed, its query, and what is said of the first one."""


class Look(NamedTuple):
    """How many trials there are of a kind, a link to them, and the one that tells most."""

    number: int
    address: str
    text: str
    about: str = ""
    trial: str = ""
    name: str = ""


def campaign_page(store: Store, query: Mapping[str, str], id: str) -> Page:  # noqa: A002
    """The page of a campaign, of what fits the query. Raises UserError if there is none."""
    campaign = Campaign(store, id)
    filters = {key: query[key] for key in FILTERS if query.get(key)}
    trials = chosen(campaign.trials, filters)
    part = _part(campaign, trials, filters)
    frame = part.ratings
    found = campaign.once("summary", lambda: summary_of(part), *sorted(filters.items()))
    view = Overview(campaign, found.data, filters)
    running, (ticks, pairs) = live(store, campaign.name), view.pairs()
    factors = {id_: own for id_, own in campaign.factors.items() if any(map(view.has, own))}
    shown = {*view.beside, *(id_ for own in factors.values() for id_ in own)}
    _, others = view.factors(id_ for id_ in view.metrics if id_ not in shown)
    drawn = {each.system: each for each in panels(part)}
    return Page(
        "campaign.j2",
        {
            "name": campaign.name,
            "campaign": campaign.link(),
            "query": dict(query),
            "options": options(campaign.trials, ("corpus", "user"))
            | options(campaign.ratings, ("evaluator",))
            | options(campaign.trials, ("status",)),
            "about": _about(campaign, frame),
            "live": running,
            "view": view,
            "answer": _lines(found, view),
            "ticks": ticks,
            "pairs": pairs,
            "caveats": [*_while(running), *_chosen(filters), *_caveats(found, view)],
            "factors": [(id_, *view.factors(own)) for id_, own in factors.items()],
            "agreement": _agreement(frame, campaign.factors),
            "others": by_evaluator(others),
            "panels": [drawn[system] for system in view.names if system in drawn],
            "looks": [*_reversals(part, view, pairs), *looks(campaign, trials, filters)],
            "trials": len(trials),
        },
    )


def _part(campaign: Campaign, trials: pd.DataFrame, filters: Mapping[str, str]) -> StoredCampaign:
    """What fits of the campaign. Raises UserError if nothing does."""
    if not filters:
        return campaign
    part = campaign.only(trials["id"], evaluator=filters.get("evaluator", ""))
    if not len(part.ratings):
        said = ", ".join(f"{key} {value!r}" for key, value in filters.items())
        raise UserError(f"no trial is left by {said}: leave it out")
    return part


def _about(campaign: Campaign, frame: pd.DataFrame) -> dict[str, Any]:
    """What was played, with whom, and rated by whom."""
    rated = frame[(frame["rater"] != DEBATE) & frame["score"].notna()]
    by_model = rated[rated["rater"].astype(str) != rated["kind"].astype(str)]
    runs = campaign.store.runs(campaign.name)
    models = campaign.store.config(campaign.name).get("models", {})
    return {
        "systems": frame["system"].nunique(),
        "scenarios": len(frame[["corpus", "scenario"]].drop_duplicates()),
        "corpora": _names(frame, "corpus"),
        "users": _names(frame, "user"),
        "raters": [_with_model(rater, models) for rater in _names(by_model, "rater")],
        "state": runs[0].state if runs else "planned",
        "started": runs[-1].started_at[:16].replace("T", " ") if runs else "",
        "reason": runs[0].reason if runs else "",
    }


def _with_model(alias: str, models: Mapping[str, Any]) -> str:
    """`main (gpt-4o-mini)`: who it is that rates."""
    name = models.get(alias, {}).get("name", alias)
    return alias if name == alias else f"{alias} ({name})"


def _names(frame: pd.DataFrame, column: str) -> list[str]:
    return [str(each) for each in frame[column].drop_duplicates() if str(each)]


def _lines(found: Findings, view: Overview) -> list[str]:
    """What is said below the line that says who is ahead."""
    rows = found.data["comparisons"]
    leading = [row for row in rows if row["metric"] == view.lead]
    if not all(row["comparable"] for row in leading) or not rows:
        return found.answer.splitlines()
    own = [bool(row["decided"]) for row in leading]
    said = [f"{sum(own)} of {len(own)} differences between two systems are decided."]
    return [*said[: len(own) > 1], *answer(pd.DataFrame(rows), view.metrics).splitlines()[1:]]


def _while(running: Any) -> Iterator[Caveat]:
    if running:
        yield Caveat(
            "The campaign is running.",
            f"{running.planned - running.done:,} conversations are open, and the first scenarios "
            "need not be like the others.",
        )
        yield Caveat(
            "Nothing is called decided before the end.",
            "Whoever looks often enough finds a difference that is none.",
        )


def _chosen(filters: Mapping[str, str]) -> Iterator[Caveat]:
    if status := filters.get("status"):
        yield Caveat(
            f"Only {status} trials are here.",
            "They are chosen by what came of them: means and differences are of these alone.",
        )


def _caveats(found: Findings, view: Overview) -> Iterator[Caveat]:
    """The notes, and what failed with a link to it."""
    for line in (*found.problems, *found.notes):
        system, _, why = line.partition(": ")
        address = ""
        if system in view.names:
            status = "failed" if line in found.problems and "failed" in why else "unscored"
            address = view.trials(system=system, status=status)
        yield Caveat.of(line, address)


def _agreement(frame: pd.DataFrame, factors: Iterable[str]) -> dict[str, float]:
    """The mean correlation of each two raters, by factor, over the trials that both have rated."""
    own = frame[frame["score"].notna() & (frame["rater"] != DEBATE)]
    found: dict[str, float] = {}
    for evaluator in (id_.rpartition(".")[0] for id_ in factors):
        rated = own[own["evaluator"] == evaluator]
        if rated["rater"].nunique() < 2:
            continue
        for metric, rows in rated.groupby("metric", observed=True):
            wide = rows.pivot_table("score", "conversation", "rater", observed=True)
            matrix = wide.corr(min_periods=_ENOUGH).to_numpy()
            pairs = matrix[np.triu_indices(len(matrix), 1)]
            if (~np.isnan(pairs)).any():
                found[f"{evaluator}.{metric}"] = float(np.nanmean(pairs))
    return found


def _reversals(part: StoredCampaign, view: Overview, pairs: Sequence[Row]) -> Iterator[Look]:
    """The scenarios in which the system that is second is ahead of the first."""
    for pair in pairs[:1]:
        a, b, sign = pair["a"], pair["b"], -1 if view.metrics[view.lead].lower_is_better else 1
        gaps = by_scenario(part.ratings, a, b, metric=view.lead, table=part.scores)["gap"]
        text = f"scenarios in which {b} is ahead of {a}"
        about = "where the loser wins is where the lead is explained"
        if number := int((sign * gaps < 0).sum()):
            yield Look(number, f"{view.compare(pair)}#gaps", text, about)


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
