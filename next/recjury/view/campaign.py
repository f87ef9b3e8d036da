"""A campaign: the answer, systems, who is ahead of whom, what not to trust, factors, debates."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from recjury.errors import UserError
from recjury.records import DEBATE
from recjury.results import Findings, summary
from recjury.results.metrics import metrics_of
from recjury.results.ratings import factors_of
from recjury.results.sentences import answer
from recjury.store import Store
from recjury.view.debates import panels
from recjury.view.kept import frame_of, kept
from recjury.view.listing import chosen, listing, verdict_of
from recjury.view.looking import Look, looks, turned
from recjury.view.overview import Overview, Pair
from recjury.view.progress import live
from recjury.view.rendering import Page

if TYPE_CHECKING:
    import pandas as pd

FILTERS = ("corpus", "user", "scenario", "evaluator")
"""What narrows all of the page."""

_ENOUGH = 5  # trials that two raters have both rated


class Caveat(NamedTuple):
    """What is not to be trusted, why, and the trials that it is about."""

    claim: str
    why: str
    address: str = ""


def campaign_page(store: Store, query: Mapping[str, str], id: str) -> Page:  # noqa: A002
    """The page of a campaign, of what fits the query. Raises UserError if there is none."""
    name = store.campaign(id)
    filters = {key: query[key] for key in FILTERS if query.get(key)}
    frame = _chosen(frame_of(store, name), filters)
    found, metrics = _summary(store, name, frame, filters), metrics_of(store, name)
    view = Overview(found.data, metrics, f"/c/{quote(name, safe='')}", filters)
    trials = chosen(listing(store, name), filters)
    running, pairs = live(store, name), view.pairs()
    factors = {
        id_: [each for each in metrics if each in own]
        for id_, own in factors_of(frame).items()
        if any(map(view.has, own))
    }
    shown = {*view.beside, *(id_ for own in factors.values() for id_ in own)}
    by_evaluator = _by_evaluator(filter(view.has, [id_ for id_ in metrics if id_ not in shown]))
    drawn = {each.system: each for each in panels(store, name, trials, filters)}
    return Page(
        "campaign.j2",
        {
            "name": name,
            "campaign": f"/c/{quote(name, safe='')}",
            "query": dict(query),
            "options": _options(frame_of(store, name)),
            "about": _head(store, name, frame),
            "live": running,
            "view": view,
            "answer": _lines(found, view),
            "systems": view.systems(query.get("sort", "")),
            "pairs": pairs,
            "caveats": [*_while(running), *_caveats(found, view)],
            "factors": [
                (id_.rpartition(".")[0], own[0], view.factors(own, _agreement(frame, own)))
                for id_, own in factors.items()
            ],
            "others": [
                (evaluator, view.factors(own, {}).rows) for evaluator, own in by_evaluator.items()
            ],
            "panels": [drawn[system] for system in view.names if system in drawn],
            "looks": [*_turned(trials, view, pairs.rows), *_looks(trials, filters, view)],
            "trials": len(trials),
        },
    )


def _chosen(frame: "pd.DataFrame", filters: Mapping[str, str]) -> "pd.DataFrame":
    """The ratings that fit. Raises UserError if none does."""
    for key, value in filters.items():
        frame = frame[frame[key] == value]
        if not len(frame):
            raise UserError(f"no trial is left by {key} {value!r}: leave it out")
    return frame


def _summary(
    store: Store, name: str, frame: "pd.DataFrame", filters: Mapping[str, str]
) -> Findings:
    key = ("summary", name, *sorted(filters.items()))
    return kept(store, key, lambda: summary(store, name, frame=frame))


def _options(frame: "pd.DataFrame") -> dict[str, list[str]]:
    """What each filter offers; a single value is no choice."""
    values = {key: sorted(map(str, frame[key].unique())) for key in FILTERS if key != "scenario"}
    return {key: own for key, own in values.items() if len(own) > 1}


class Head(NamedTuple):
    """What was played, with whom, and rated by whom."""

    systems: int
    scenarios: int
    corpora: list[str]
    users: list[str]
    raters: list[str]
    state: str
    begun: str
    reason: str


def _head(store: Store, name: str, frame: "pd.DataFrame") -> Head:
    rated = frame[(frame["rater"] != DEBATE) & frame["score"].notna()]
    by_model = rated[rated["rater"].astype(str) != rated["kind"].astype(str)]
    runs = store.runs(name)
    return Head(
        systems=frame["system"].nunique(),
        scenarios=len(frame[["corpus", "scenario"]].drop_duplicates()),
        corpora=_names(frame, "corpus"),
        users=_names(frame, "user"),
        raters=_names(by_model, "rater"),
        state=runs[0].state if runs else "planned",
        begun=runs[-1].started_at[:16].replace("T", " ") if runs else "",
        reason=runs[0].reason if runs else "",
    )


def _names(frame: "pd.DataFrame", column: str) -> list[str]:
    return [str(each) for each in frame[column].drop_duplicates() if str(each)]


def _lines(found: Findings, view: Overview) -> list[str]:
    """What is said below the first line: of two systems, that line says who is ahead."""
    import pandas as pd

    rows = found.data["comparisons"]
    if not rows:
        return found.answer.splitlines()
    lines = answer(pd.DataFrame(rows), view.metrics).splitlines()
    return lines if len(view.names) > 2 else lines[1:]


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


def _caveats(found: Findings, view: Overview) -> Iterator[Caveat]:
    """The notes, and what failed with a link to it."""
    for line in (*found.problems, *found.notes):
        claim, colon, why = line.partition(": ")
        address = ""
        if claim in view.names:
            status = "failed" if line in found.problems and "failed" in why else "unscored"
            address = view.trials(system=claim, status=status)
        yield Caveat(f"{claim}{colon.strip()}", why, address) if colon else Caveat("", line)


def _agreement(frame: "pd.DataFrame", ids: Sequence[str]) -> dict[str, float]:
    """The mean correlation of each two raters, by factor of an evaluator, over common trials."""
    import numpy as np

    evaluator = ids[0].rpartition(".")[0]
    own = frame[(frame["evaluator"] == evaluator) & frame["score"].notna()]
    own = own[own["rater"] != DEBATE]
    found: dict[str, float] = {}
    if own["rater"].nunique() < 2:
        return found
    for metric, rows in own.groupby("metric", observed=True):
        wide = rows.pivot_table("score", "conversation", "rater", observed=True)
        matrix = wide.corr(min_periods=_ENOUGH).to_numpy()
        pairs = matrix[np.triu_indices(len(matrix), 1)]
        if (~np.isnan(pairs)).any():
            found[f"{evaluator}.{metric}"] = float(np.nanmean(pairs))
    return found


def _by_evaluator(ids: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for id_ in ids:
        found.setdefault(id_.rpartition(".")[0], []).append(id_)
    return found


def _turned(trials: "pd.DataFrame", view: Overview, pairs: Sequence[Pair]) -> Iterator[Look]:
    """The scenarios in which the system that is second is ahead of the first."""
    for pair in pairs[:1]:
        number = turned(trials, view.lead, pair.a, pair.b, view.metric(view.lead))
        text = f"scenarios in which {pair.b} is ahead of {pair.a}"
        about = "where the loser wins is where the lead is explained"
        if number:
            yield Look(number, f"{pair.address}#gaps", text, about)


def _looks(trials: "pd.DataFrame", filters: Mapping[str, str], view: Overview) -> Iterator[Look]:
    verdict = verdict_of(trials, view.metrics)
    return looks(trials, filters, view.campaign, verdict, view.metric(verdict))
