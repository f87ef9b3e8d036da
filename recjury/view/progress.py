"""How a running campaign goes: what is done, how fast, what it cost, what is left."""

from datetime import UTC, datetime
from typing import Any, NamedTuple

from recjury.store import RunRow, Store

_MINUTE = 60.0


class Live(NamedTuple):
    """A run that goes on. `parts` are rows of system, planned, done and failed conversations.

    `figures` is all that changes while one looks, as texts by the names that the page has.
    """

    parts: list[Any]
    planned: int
    done: int
    scenarios: int
    figures: dict[str, str]


_PARTS = """
    SELECT p.system, COUNT(*) AS planned,
           SUM(CASE WHEN c.state = 'done' THEN 1 ELSE 0 END) AS done,
           SUM(CASE WHEN c.state = 'failed' THEN 1 ELSE 0 END) AS failed
    FROM plan p JOIN conversation c ON c.id = p.conversation
    WHERE p.run = :run GROUP BY p.system ORDER BY MIN(p.ordinal)
"""
# Scenarios that all systems have finished, and all scenarios.
_COMMON = """
    SELECT COALESCE(SUM(CASE WHEN waiting = 0 THEN 1 ELSE 0 END), 0), COUNT(*) FROM (
        SELECT SUM(CASE WHEN c.state = 'planned' THEN 1 ELSE 0 END) AS waiting
        FROM plan p JOIN conversation c ON c.id = p.conversation
        WHERE p.run = :run GROUP BY p.corpus, p.scenario
    ) AS by_scenario
"""
# Conversations and evaluations that this run has finished.
_SINCE = """
    SELECT
        (SELECT COUNT(*) FROM plan p JOIN conversation c ON c.id = p.conversation
         WHERE p.campaign = :campaign AND c.finished_at >= :since),
        (SELECT COUNT(*) FROM plan p JOIN evaluation e ON e.conversation = p.conversation
         WHERE p.campaign = :campaign AND e.finished_at >= :since)
"""


def live(store: Store, campaign: str) -> Live | None:
    """The figures of a campaign, None if no run of it goes on."""
    runs = store.runs(campaign)
    if not runs or runs[0].state != "running":
        return None
    run, spent = runs[0], store.spent(campaign)
    parts = store.rows(_PARTS, run=run.id)
    ((common, scenarios),) = store.rows(_COMMON, run=run.id)
    ((played, evaluated),) = store.rows(_SINCE, campaign=campaign, since=run.started_at)
    minutes = max(_minutes(run), 1 / _MINUTE)
    left = _open(store, campaign) * minutes / evaluated if evaluated else None
    done, failed = sum(part.done for part in parts), sum(part.failed for part in parts)
    figures = {
        "done": f"{done:,}",
        "failed": f"{failed:,}",
        "common": f"{common:,}",
        "left": "not known yet" if left is None else _duration(left),
        "Conversations": f"{played / minutes:.1f}",
        "Evaluations": f"{evaluated / minutes:.1f}",
        "Calls": f"{spent.calls:,}",
        "Tokens": f"{(spent.tokens_in + spent.tokens_out) / 1e6:.2f} M",
        "Money": f"${spent.dollars:.2f}",
        "Failures": f"{failed:,}",
    }
    for place, part in enumerate(parts):
        figures |= {f"done-{place}": f"{part.done:,}", f"failed-{place}": f"{part.failed:,}"}
        figures[f"bar-{place}"] = f"{100 * part.done / part.planned:.2f}%"
    return Live(parts, sum(part.planned for part in parts), done, scenarios, figures)


def _open(store: Store, campaign: str) -> int:
    """How many evaluations are left, those of conversations that are to be played included."""
    counts = store.counts(campaign)
    waiting = sum(states.get("planned", 0) for states in counts.evaluations.values())
    return waiting + counts.conversations.get("planned", 0) * len(counts.evaluations)


def _minutes(run: RunRow) -> float:
    passed = datetime.now(UTC) - datetime.fromisoformat(run.started_at)
    return passed.total_seconds() / _MINUTE


def _duration(minutes: float) -> str:
    """`8 minutes`, `2.5 hours`."""
    if minutes < 1:
        return "less than a minute"
    return f"{minutes:.0f} minutes" if minutes < 90 else f"{minutes / 60:.1f} hours"
