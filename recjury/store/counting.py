"""How far campaigns are, who runs them, and what their calls cost."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select, text

from recjury.errors import UserError
from recjury.files import nearest
from recjury.store import tables
from recjury.store.database import Chapter
from recjury.store.failures import as_written
from recjury.store.processes import is_there
from recjury.store.tables import NEWEST_EVALUATORS, NEWEST_TRIALS


class RunRow(NamedTuple):
    """A run. `state`: running, finished, interrupted (its process is gone), stopped, failed."""

    id: int
    host: str
    pid: int
    started_at: str
    ended_at: str | None
    state: str
    reason: str
    versions: Mapping[str, str]


class Spent(NamedTuple):
    """What calls cost: US dollars as far as known, and how many calls have no known cost."""

    dollars: float
    tokens_in: int
    tokens_out: int
    calls: int
    unpriced: int


class Counts(NamedTuple):
    """How many conversations are in each state, and by evaluator, how many evaluations are.

    An evaluation of a finished conversation that is not there is planned.
    """

    conversations: Mapping[str, int]
    evaluations: Mapping[str, Mapping[str, int]]


class CallSize(NamedTuple):
    """What an endpoint said of a prompt (tokens, model), and the prompt's length in characters."""

    call: str
    model: str
    served: str
    tokens_in: int | None
    characters: int


class Counting(Chapter):
    """What tables, `status` and budgets ask."""

    def connection(self) -> AbstractContextManager[Connection]:
        """A transaction for queries of one's own."""
        return self.database.connection()

    def rows(self, query: str, **values: Any) -> list[Any]:
        """All rows of a query in SQL, with `values` in place of its `:names`."""
        with self.connection() as connection:
            return list(connection.execute(text(query), values))

    def campaigns(self) -> list[str]:
        """The names of all campaigns; the one that was run last is the first."""
        with self.connection() as connection:
            return list(connection.execute(text(_CAMPAIGNS)).scalars())

    def campaign(self, name: str = "") -> str:
        """`name` if there is such a campaign, by default the one that was run last.

        Raises UserError if there is none.
        """
        names = self.campaigns()
        if not names:
            raise UserError(
                f"the store {self.database.name} has no campaign: no run has begun "
                "(a copy of a store in use needs its -wal, too)"
            )
        if name and name not in names:
            near = nearest(name, names)
            raise UserError(f"the store {self.database.name} has no campaign {name!r}{near}")
        return name or names[0]

    def config(self, campaign: str) -> Mapping[str, Any]:
        """The configuration of a campaign's last run. Raises UserError."""
        table = tables.Campaign.__table__
        query = select(table.c.config).where(table.c.name == self.campaign(campaign))
        what = f"the configuration of {campaign}"
        with self.connection() as connection, as_written(self.database.name, what):
            return dict(connection.execute(query).scalar_one())

    def runs(self, campaign: str) -> list[RunRow]:
        """The runs of a campaign, the last one first."""
        run = tables.Run.__table__
        query = select(run).where(run.c.campaign == campaign).order_by(run.c.id.desc())
        with self.connection() as connection:
            return [_run(row) for row in connection.execute(query)]

    def counts(self, campaign: str) -> Counts:
        """How far a campaign is, with the newest versions of its systems and users."""
        rows = list(self.rows(_COUNTS, campaign=campaign))
        conversations = {state: count for name, _, state, count in rows if name is None}
        evaluations: dict[str, dict[str, int]] = {}
        for name, judgings, state, count in rows:
            if name is None:
                continue
            wanted = conversations.get("done", 0) * judgings
            states = evaluations.setdefault(name, {"planned": wanted})
            if state is not None:
                states[state] = count
                states["planned"] -= count
        return Counts(conversations, evaluations)

    def call_sizes(self, campaign: str) -> list[CallSize]:
        """What endpoints said of the calls that a campaign was the first to ask for."""
        call, part = tables.Call.__table__.c, tables.Text.__table__.c
        query = select(call.id, call.model, call.served, call.tokens_in, call.prompt)
        with self.connection() as connection, as_written(self.database.name, "a prompt"):
            measured = connection.execute(select(part.hash, func.length(part.text)))
            lengths: dict[str, int] = dict(measured.all())
            rows = connection.execute(query.where(call.campaign == campaign))
            return [CallSize(*row[:4], _characters(row.prompt, lengths)) for row in rows]

    def spent(self, campaign: str) -> Spent:
        """What all calls cost that a campaign was the first to ask for."""
        with self.connection() as connection:
            return Spent(*connection.execute(text(_SPENT), {"campaign": campaign}).one())


def _characters(prompt: list[list[str]], lengths: Mapping[str, int]) -> int:
    return sum(lengths[part] for _, *parts in prompt for part in parts)


def _run(row: Any) -> RunRow:
    fields = {name: getattr(row, name) for name in RunRow._fields}
    is_interrupted = row.state == "running" and is_there(row) is False
    return RunRow(**fields | ({"state": "interrupted"} if is_interrupted else {}))


_CAMPAIGNS = """
    SELECT c.name FROM campaign c LEFT JOIN run r ON r.campaign = c.name
    GROUP BY c.name, c.created_at ORDER BY COALESCE(MAX(r.id), 0) DESC, c.created_at DESC, c.name
"""
_COUNTS = f"""
    WITH newest AS (
        SELECT c.id, c.state FROM {NEWEST_TRIALS} p JOIN conversation c ON c.id = p.conversation
    )
    SELECT NULL AS name, 0 AS judgings, state, COUNT(*) FROM newest GROUP BY state
    UNION ALL
    SELECT ce.name, ce.judgings, e.state, COUNT(*)
    FROM {NEWEST_EVALUATORS} ce
    LEFT JOIN newest c ON c.state = 'done'
    LEFT JOIN evaluation e
        ON e.conversation = c.id AND e.evaluator = ce.evaluator AND e.judging < ce.judgings
    WHERE ce.campaign = :campaign
    GROUP BY ce.name, ce.judgings, e.state
"""  # noqa: S608 (a constant)
_SPENT = """
    SELECT COALESCE(SUM(cost), 0.0), COALESCE(SUM(tokens_in), 0), COALESCE(SUM(tokens_out), 0),
           COUNT(*), COUNT(*) - COUNT(cost)
    FROM call WHERE campaign = :campaign
"""
