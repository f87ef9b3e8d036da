"""How a running campaign goes: what is done, how fast, what it cost, what is left."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from recjury.store import RunRow, Store

_MINUTE = 60.0


class Live(NamedTuple):
    """A run that goes on: conversations planned, done and failed, and what a minute brings."""

    planned: int
    done: int
    failed: int
    per_minute: float
    evaluations_per_minute: float
    calls: int
    tokens: int
    dollars: float
    left: str


def live(store: Store, campaign: str) -> Live | None:
    """The figures of a campaign, None if no run of it goes on."""
    runs = store.runs(campaign)
    if not runs or runs[0].state != "running":
        return None
    counts, spent = store.counts(campaign), store.spent(campaign)
    done = counts.conversations.get("done", 0)
    evaluated = sum(states.get("done", 0) for states in counts.evaluations.values())
    conversations, evaluations = _since(store, campaign, runs[0])
    minutes = max(_minutes(runs[0]), 1 / _MINUTE)
    planned = sum(counts.conversations.values())
    todo = planned * max(1, len(counts.evaluations)) - evaluated
    speed = evaluations / minutes
    return Live(
        planned,
        done,
        counts.conversations.get("failed", 0),
        conversations / minutes,
        speed,
        spent.calls,
        spent.tokens_in + spent.tokens_out,
        spent.dollars,
        _duration(todo / speed) if speed else "not known yet",
    )


def figures(store: Store, campaign: str) -> Mapping[str, str] | None:
    """The same as texts by the names that the page has, None if no run goes on."""
    found = live(store, campaign)
    if found is None:
        return None
    return {
        "done": f"{found.done:,}",
        "failed": f"{found.failed:,}",
        "conversations a minute": f"{found.per_minute:.1f}",
        "evaluations a minute": f"{found.evaluations_per_minute:.1f}",
        "calls": f"{found.calls:,}",
        "tokens": f"{found.tokens / 1e6:.2f} m",
        "cost": f"${found.dollars:.2f}",
        "left": found.left,
    }


_SINCE = """
    SELECT
        (SELECT COUNT(*) FROM plan p JOIN conversation c ON c.id = p.conversation
         WHERE p.campaign = :campaign AND c.finished_at >= :since),
        (SELECT COUNT(*) FROM plan p JOIN evaluation e ON e.conversation = p.conversation
         WHERE p.campaign = :campaign AND e.finished_at >= :since)
"""


def _since(store: Store, campaign: str, run: RunRow) -> tuple[int, int]:
    """How many conversations and evaluations this run has finished."""
    from sqlalchemy import text

    values = {"campaign": campaign, "since": run.started_at}
    with store.connection() as connection:
        row = connection.execute(text(_SINCE), values).one()
    return int(row[0]), int(row[1])


def _minutes(run: RunRow) -> float:
    passed = datetime.now(UTC) - datetime.fromisoformat(run.started_at)
    return passed.total_seconds() / _MINUTE


def _duration(minutes: float) -> str:
    """`8 minutes`, `2.5 hours`."""
    if minutes < 1:
        return "less than a minute"
    return f"{minutes:.0f} minutes" if minutes < 90 else f"{minutes / 60:.1f} hours"
