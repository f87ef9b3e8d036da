"""What people and pages read of a store."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, select, text

from recjury.errors import UserError
from recjury.files import nearest
from recjury.records import Finding
from recjury.store import tables
from recjury.store.database import Chapter
from recjury.store.findings import FindingRows, from_rows


class EvaluationRow(NamedTuple):
    """An evaluation, and the campaign that planned it last. `state`: done, incomplete."""

    id: str
    campaign: str
    conversation: str
    evaluator: str
    judging: int
    state: str
    tries: int


class Spent(NamedTuple):
    """What calls cost: US dollars as far as known, and how many calls have no known cost."""

    dollars: float
    tokens_in: int
    tokens_out: int
    calls: int
    unpriced: int


class Reading(Chapter):
    """What people and pages read."""

    def connection(self) -> AbstractContextManager[Connection]:
        """A transaction for queries of one's own."""
        return self.database.connection()

    def campaigns(self) -> list[str]:
        """The names of all campaigns; the one that was run last is the first."""
        with self.connection() as connection:
            return list(connection.execute(text(_CAMPAIGNS)).scalars())

    def newest(self, campaign: str = "") -> str:
        """`campaign` if it is there, or the one that was run last. Raises UserError."""
        names = self.campaigns()
        if not names:
            raise UserError(f"the store {self.database.name} has no campaign")
        if campaign and campaign not in names:
            near = nearest(campaign, names)
            raise UserError(f"there is no campaign {campaign!r} in {self.database.name}{near}")
        return campaign or names[0]

    def config(self, campaign: str) -> Mapping[str, Any]:
        """The configuration of a campaign's last run. Raises UserError."""
        table = tables.Campaign.__table__
        name = self.newest(campaign)
        with self.connection() as connection:
            query = select(table.c.config).where(table.c.name == name)
            return dict(connection.execute(query).scalar_one())

    def evaluation(self, id_: str) -> EvaluationRow:
        """An evaluation. Raises UserError."""
        with self.connection() as connection:
            row = connection.execute(text(_EVALUATION), {"id": id_}).first()
        if row is None:
            raise UserError(f"there is no evaluation {id_} in {self.database.name}")
        return EvaluationRow(*row)

    def evaluations(self, campaign: str, *, conversation: str = "") -> list[EvaluationRow]:
        """The evaluations of a campaign, or of one of its conversations, in the plan's order."""
        values = {"campaign": campaign, "conversation": conversation}
        with self.connection() as connection:
            return [EvaluationRow(*row) for row in connection.execute(text(_EVALUATIONS), values)]

    def findings(self, evaluation: str) -> list[Finding]:
        """What an evaluation found, as its evaluator returned it."""
        with self.connection() as connection:
            rows = FindingRows(
                *(
                    [dict(row) for row in connection.execute(query, {"id": evaluation}).mappings()]
                    for query in _FINDINGS
                )
            )
            hashes = {row["rationale"] for row in rows.ratings}
            hashes |= {row["text"] for row in rows.statements}
            table = tables.Text.__table__
            query = select(table.c.hash, table.c.text).where(table.c.hash.in_(hashes - {None}))
            return from_rows(rows, dict(connection.execute(query).tuples().all()))

    def spent(self, campaign: str) -> Spent:
        """What all calls cost that a campaign was the first to ask for."""
        with self.connection() as connection:
            return Spent(*connection.execute(text(_SPENT), {"campaign": campaign}).one())


_CAMPAIGNS = """
    SELECT c.name FROM campaign c LEFT JOIN run r ON r.campaign = c.name
    GROUP BY c.name, c.created_at ORDER BY COALESCE(MAX(r.id), 0) DESC, c.created_at DESC, c.name
"""
_EVALUATIONS = """
    SELECT e.id, p.campaign, e.conversation, e.evaluator, e.judging, e.state, e.tries
    FROM plan p
    JOIN campaign_evaluator ce ON ce.campaign = p.campaign
    JOIN evaluation e
        ON e.conversation = p.conversation AND e.evaluator = ce.evaluator
        AND e.judging < ce.judgings
    WHERE p.campaign = :campaign AND (:conversation = '' OR p.conversation = :conversation)
    ORDER BY p.ordinal, e.evaluator, e.judging
"""
_EVALUATION = """
    SELECT e.id, p.campaign, e.conversation, e.evaluator, e.judging, e.state, e.tries
    FROM evaluation e
    JOIN plan p ON p.conversation = e.conversation
    JOIN campaign_evaluator ce ON ce.campaign = p.campaign AND ce.evaluator = e.evaluator
    WHERE e.id = :id ORDER BY p.run DESC LIMIT 1
"""
_SPENT = """
    SELECT COALESCE(SUM(cost), 0.0), COALESCE(SUM(tokens_in), 0), COALESCE(SUM(tokens_out), 0),
           COUNT(*), COUNT(*) - COUNT(cost)
    FROM call WHERE campaign = :campaign
"""


def _findings(table: type[tables.Row]) -> Any:
    columns = table.__table__.c
    return select(table.__table__).where(columns.evaluation == bindparam("id"))


_FINDINGS = [_findings(each) for each in (tables.Rating, tables.Evidence, tables.Statement)]
