"""All campaigns of a store: when, how far, who is ahead, what failed, what it cost."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from recjury.results import summary
from recjury.results.metrics import metrics_of
from recjury.store import Spent, Store
from recjury.view.kept import frame_of, kept
from recjury.view.overview import Overview
from recjury.view.rendering import Page

_QUICK = 5_000  # conversations of which this page says who is ahead
_SHORT = 4  # names


class Ahead(NamedTuple):
    """The system that is ahead, its mean, and by how much."""

    system: str
    mean: str
    gap: str


class Row(NamedTuple):
    """A campaign in the list; `done` of `planned` conversations."""

    name: str
    address: str
    what: str
    state: str
    reason: str
    done: int
    planned: int
    failed: int
    ahead: Ahead | None
    cost: str
    begun: str

    @property
    def note(self) -> str:
        """Why nobody is said to be ahead."""
        if self.state == "running":
            return "not before the end"
        return "open it to see" if self.done > _QUICK else "no scores"


def campaigns_page(store: Store, query: Mapping[str, str]) -> Page:
    """The campaigns that fit `q` (words of name, systems, corpora) and `state`, the last first."""
    names = store.campaigns()
    rows = [_row(store, name) for name in names]
    return Page(
        "campaigns.j2",
        {
            "store": store.database.name,
            "campaigns": [row for row in rows if _fits(row, query)],
            "all": len(names),
            "states": sorted({row.state for row in rows}),
            "query": dict(query),
        },
    )


def _row(store: Store, name: str) -> Row:
    counts, spent, runs = store.counts(name).conversations, store.spent(name), store.runs(name)
    config, done = store.config(name), counts.get("done", 0)
    systems = [str(part.get("name") or part["kind"]) for part in config.get("systems", ())]
    corpora = [str(part.get("corpus") or "") for part in config.get("scenarios", ())]
    is_over = not runs or runs[0].state != "running"
    return Row(
        name=name,
        address=f"/c/{quote(name, safe='')}",
        what=" · ".join(filter(None, (_listed(systems), _listed(corpora)))) or "recordings",
        state=runs[0].state if runs else "planned",
        reason=runs[0].reason if runs else "",
        done=done,
        planned=sum(counts.values()),
        failed=counts.get("failed", 0),
        ahead=_ahead(store, name) if 0 < done <= _QUICK and is_over else None,
        cost=_cost(spent),
        begun=runs[-1].started_at[:16].replace("T", " ") if runs else "",
    )


def _cost(spent: Spent) -> str:
    if not spent.calls:
        return "no model"
    if spent.unpriced == spent.calls:
        return "not known"
    return f"${spent.dollars:.2f}{' and more' if spent.unpriced else ''}"


def _listed(names: Sequence[str]) -> str:
    """Names, without those that are "", of many only how many."""
    own = list(dict.fromkeys(filter(None, names)))
    return ", ".join(own) if len(own) <= _SHORT else f"{len(own)} systems"


def _ahead(store: Store, name: str) -> Ahead | None:
    """Who is ahead, None without scores."""
    frame = frame_of(store, name)
    found: Any = kept(store, ("summary", name), lambda: summary(store, name, frame=frame))
    view = Overview(found.data, metrics_of(store, name), "", {})
    if not view.lead:
        return None
    pairs, best = view.pairs().rows, view.names[0]
    mean = f"{view.cell(best, view.lead).text} {view.title(view.lead).lower()}"
    if not pairs:
        return Ahead(best, mean, "the only system with scores")
    word = "decided" if pairs[0].decided else "not decided"
    return Ahead(best, mean, f"by {pairs[0].gap.lstrip('+-')} over {pairs[0].b}, {word}")


def _fits(row: Row, query: Mapping[str, str]) -> bool:
    words, text = query.get("q", "").lower().split(), f"{row.name} {row.what}".lower()
    return all(word in text for word in words) and query.get("state", "") in ("", row.state)
