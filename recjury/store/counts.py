"""How far a campaign is: units planned, done and failed, counted by the database."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, exists, func, select

from recjury.records import JSON
from recjury.store.evaluations import EVALUATIONS, what_counts_last
from recjury.store.evaluators import CampaignEvaluator, read_campaign_evaluators
from recjury.store.failures import FAILURES
from recjury.store.logs import LOGS
from recjury.store.places import PLACES
from recjury.store.stages import CONVERSE
from recjury.store.tables import StageRow, table_of


class Counts(NamedTuple):
    """How many of the planned units are done and failed; the others are pending."""

    planned: int = 0
    done: int = 0
    failed: int = 0

    @property
    def waiting(self) -> int:
        """How many units are neither done nor failed."""
        return self.planned - self.done - self.failed

    def plus(self, planned: int, *, done: int, failed: int) -> "Counts":
        """The sums of these and other counts."""
        return Counts(self.planned + planned, self.done + done, self.failed + failed)

    def as_json(self) -> dict[str, JSON]:
        """All four numbers."""
        return {**self._asdict(), "waiting": self.waiting}


class CampaignCounts(NamedTuple):
    """A campaign's conversations, and its evaluations by the evaluator's label."""

    conversations: Counts
    evaluations: Mapping[str, Counts]


def read_counts(connection: Connection, campaign: str) -> CampaignCounts:
    """Count a campaign's units, as `summarise` does; no row is compared with its seal."""
    conversations = _conversations(connection, campaign)
    return CampaignCounts(
        conversations,
        {
            each.label: _evaluations(connection, campaign, each, conversations.planned)
            for each in read_campaign_evaluators(connection, campaign)
        },
    )


def _conversations(connection: Connection, campaign: str) -> Counts:
    links, failures = PLACES.table, FAILURES.c
    own = select(func.count()).select_from(links)
    own = own.where(links.c.campaign == campaign, links.c.set_aside == 0)
    held = exists().where(LOGS.c.conversation == links.c.conversation)
    failed = exists().where(failures.unit == links.c.conversation, failures.stage == CONVERSE)
    planned, done, lost = (
        connection.execute(query).scalar_one()
        for query in (own, own.where(held), own.where(failed, ~held))
    )
    return Counts(planned, done, lost)


def _evaluations(
    connection: Connection, campaign: str, evaluator: CampaignEvaluator, conversations: int
) -> Counts:
    counted = _counted(campaign, evaluator).subquery()
    query = select(counted.c.done, counted.c.failed, func.count()).where(counted.c.place == 1)
    begun, done, failed = 0, 0, 0
    for stages, has_failed, units in connection.execute(query.group_by("done", "failed")):
        is_done = stages == len(evaluator.stages)
        begun += units
        done += units * is_done
        failed += units * (has_failed and not is_done)
    # Nothing more is planned for an older version.
    is_newest = evaluator.label == evaluator.name
    return Counts(evaluator.judgings * conversations if is_newest else begun, done, failed)


def _counted(campaign: str, evaluator: CampaignEvaluator) -> Select[Any]:
    """A row for each evaluation of each conversation; it counts if its `place` is 1."""
    links, logs, evaluations = PLACES.table, LOGS.table, EVALUATIONS.table
    stages = table_of(StageRow).c
    finished = select(func.count()).where(
        stages.unit == evaluations.c.id, stages.stage.in_(evaluator.stages)
    )
    of_one = (links.c.conversation, evaluations.c.judging)
    order = [each.desc() for each in what_counts_last()]
    return (
        select(
            finished.scalar_subquery().label("done"),
            has_failed().label("failed"),
            func.row_number().over(partition_by=of_one, order_by=order).label("place"),
        )
        .select_from(links)
        .join(logs, logs.c.conversation == links.c.conversation)
        .join(evaluations, evaluations.c.log == logs.c.digest)
        .where(links.c.campaign == campaign, links.c.set_aside == 0)
        .where(evaluations.c.evaluator == evaluator.id, evaluations.c.fork_of.is_(None))
        .where(evaluations.c.judging < evaluator.judgings)
    )


def has_failed() -> ColumnElement[bool]:
    """Whether a stage of a row of `evaluation` failed and was not finished later."""
    failures, stages = FAILURES.c, table_of(StageRow).c
    later = exists().where(stages.unit == failures.unit, stages.stage == failures.stage)
    return exists().where(failures.unit == EVALUATIONS.c.id, ~later)
