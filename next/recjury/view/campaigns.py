"""All campaigns of a store: when, how far, who is ahead, what failed, what it cost."""

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote

from recjury.results import summary
from recjury.store import Store
from recjury.view.kept import kept
from recjury.view.rendering import Page

_QUICK = 2_000  # conversations of which a summary is made for this page
_STATES = ("running", "finished", "stopped", "interrupted", "failed")


class Row(NamedTuple):
    """A campaign in the list; `done` of `planned` conversations, `answer` in a line."""

    name: str
    address: str
    what: str
    state: str
    reason: str
    done: int
    planned: int
    failed: int
    answer: str
    dollars: str
    begun: str


def campaigns_page(store: Store, query: Mapping[str, str]) -> Page:
    """The campaigns that fit `q` (name, system, corpus) and `state`, the last run first."""
    rows = [row for name in store.campaigns() if _fits(row := _row(store, name), query)]
    return Page(
        "campaigns.j2",
        {
            "store": store.database.name,
            "campaigns": rows,
            "all": len(store.campaigns()),
            "states": _STATES,
            "query": dict(query),
        },
    )


def _row(store: Store, name: str) -> Row:
    counts, spent = store.counts(name).conversations, store.spent(name)
    runs = store.runs(name)
    done, planned = counts.get("done", 0), sum(counts.values())
    last = runs[0] if runs else None
    config = store.config(name)
    systems = [str(p.get("name") or p["kind"]) for p in config.get("systems", ())]
    corpora = [str(p.get("corpus") or p.get("catalogue")) for p in config.get("scenarios", ())]
    return Row(
        name=name,
        address=f"/c/{quote(name, safe='')}",
        what=" · ".join(filter(None, (", ".join(systems), ", ".join(corpora)))) or "recordings",
        state=last.state if last else "planned",
        reason=last.reason if last else "",
        done=done,
        planned=planned,
        failed=counts.get("failed", 0),
        answer=_answer(store, name) if 0 < done <= _QUICK else "",
        dollars=f"${spent.dollars:.2f}",
        begun=runs[-1].started_at[:16].replace("T", " ") if runs else "",
    )


def _answer(store: Store, name: str) -> str:
    """The first line that decides something, or the highest mean."""
    lines = kept(store, ("summary", name), lambda: summary(store, name)).answer.splitlines()
    return lines[-1].removeprefix(f"{name}: ")


def _fits(row: Row, query: Mapping[str, str]) -> bool:
    words = query.get("q", "").lower().split()
    text = f"{row.name} {row.what}".lower()
    return all(word in text for word in words) and query.get("state", "") in ("", row.state)
