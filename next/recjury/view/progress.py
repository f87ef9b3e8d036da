"""How a running campaign goes: what is done, how fast, what it cost, what is left."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import text

from recjury.store import RunRow, Store

_MINUTE = 60.0


class Part(NamedTuple):
    """How many conversations of a system are planned, done and failed."""

    system: str
    planned: int
    done: int
    failed: int


class Live(NamedTuple):
    """A run that goes on: its conversations, what a minute brings, and what it cost."""

    parts: list[Part]
    common: int
    scenarios: int
    conversations_per_minute: float
    evaluations_per_minute: float
    calls: int
    tokens: int
    dollars: float
    left: str

    @property
    def planned(self) -> int:
        """How many conversations are planned."""
        return sum(part.planned for part in self.parts)

    @property
    def done(self) -> int:
        """How many are done."""
        return sum(part.done for part in self.parts)

    @property
    def failed(self) -> int:
        """How many failed."""
        return sum(part.failed for part in self.parts)

    def figures(self) -> dict[str, str]:
        """All that changes while one looks, as texts by the names that the page has."""
        found = {
            "done": f"{self.done:,}",
            "failed": f"{self.failed:,}",
            "common": f"{self.common:,}",
            "left": self.left,
            "Conversations": f"{self.conversations_per_minute:.1f}",
            "Evaluations": f"{self.evaluations_per_minute:.1f}",
            "Calls": f"{self.calls:,}",
            "Tokens": f"{self.tokens / 1e6:.2f} M",
            "Money": f"${self.dollars:.2f}",
            "Failures": f"{self.failed:,}",
        }
        for place, part in enumerate(self.parts):
            found |= {f"done-{place}": f"{part.done:,}", f"failed-{place}": f"{part.failed:,}"}
            found[f"bar-{place}"] = f"{100 * part.done / part.planned:.2f}%"
        return found


def live(store: Store, campaign: str) -> Live | None:
    """The figures of a campaign, None if no run of it goes on."""
    runs = store.runs(campaign)
    if not runs or runs[0].state != "running":
        return None
    run, spent = runs[0], store.spent(campaign)
    counts = store.counts(campaign)
    played, evaluated = _since(store, campaign, run)
    minutes = max(_minutes(run), 1 / _MINUTE)
    left = sum(states.get("planned", 0) for states in counts.evaluations.values())
    waiting = counts.conversations.get("planned", 0)
    left += waiting * len(counts.evaluations)
    common, scenarios = _common(store, run)
    return Live(
        list(_parts(store, run)),
        common,
        scenarios,
        played / minutes,
        evaluated / minutes,
        spent.calls,
        spent.tokens_in + spent.tokens_out,
        spent.dollars,
        _duration(left * minutes / evaluated) if evaluated else "not known yet",
    )


_PARTS = """
    SELECT p.system, COUNT(*), SUM(CASE WHEN c.state = 'done' THEN 1 ELSE 0 END),
           SUM(CASE WHEN c.state = 'failed' THEN 1 ELSE 0 END)
    FROM plan p JOIN conversation c ON c.id = p.conversation
    WHERE p.run = :run GROUP BY p.system ORDER BY MIN(p.ordinal)
"""
_COMMON = """
    SELECT SUM(CASE WHEN waiting = 0 THEN 1 ELSE 0 END), COUNT(*) FROM (
        SELECT SUM(CASE WHEN c.state = 'planned' THEN 1 ELSE 0 END) AS waiting
        FROM plan p JOIN conversation c ON c.id = p.conversation
        WHERE p.run = :run GROUP BY p.corpus, p.scenario
    ) AS by_scenario
"""
_SINCE = """
    SELECT
        (SELECT COUNT(*) FROM plan p JOIN conversation c ON c.id = p.conversation
         WHERE p.campaign = :campaign AND c.finished_at >= :since),
        (SELECT COUNT(*) FROM plan p JOIN evaluation e ON e.conversation = p.conversation
         WHERE p.campaign = :campaign AND e.finished_at >= :since)
"""


def _parts(store: Store, run: RunRow) -> Iterator[Part]:
    with store.connection() as connection:
        for row in connection.execute(text(_PARTS), {"run": run.id}):
            yield Part(*row)


def _common(store: Store, run: RunRow) -> tuple[int, int]:
    """How many scenarios all systems have finished, and how many there are."""
    with store.connection() as connection:
        done, number = connection.execute(text(_COMMON), {"run": run.id}).one()
    return done or 0, number


def _since(store: Store, campaign: str, run: RunRow) -> tuple[int, int]:
    """How many conversations and evaluations this run has finished."""
    values = {"campaign": campaign, "since": run.started_at}
    with store.connection() as connection:
        played, evaluated = connection.execute(text(_SINCE), values).one()
    return played, evaluated


def _minutes(run: RunRow) -> float:
    passed = datetime.now(UTC) - datetime.fromisoformat(run.started_at)
    return passed.total_seconds() / _MINUTE


def _duration(minutes: float) -> str:
    """`8 minutes`, `2.5 hours`."""
    if minutes < 1:
        return "less than a minute"
    return f"{minutes:.0f} minutes" if minutes < 90 else f"{minutes / 60:.1f} hours"
