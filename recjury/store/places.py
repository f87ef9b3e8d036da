"""The conversations of campaigns, in their plans' order; campaigns can share a conversation."""

import time
from collections.abc import Iterator, Sequence

from pydantic import Field
from sqlalchemy import Column, Connection, ForeignKey, select

from recjury.records import Record
from recjury.store.column_types import PlainText
from recjury.store.sealed import SealedTable


class PlanEntry(Record):
    """A conversation's place in a campaign's plan.

    `set_aside` is 1 if another version has replaced it: then only its costs count. `written_at`
    (Unix seconds) is when it was last planned or replaced: merged stores keep the later.
    """

    ordinal: int
    set_aside: int = 0
    written_at: float = Field(default_factory=time.time)


PLACES = SealedTable(
    "campaign_conversation",
    PlanEntry,
    Column("campaign", PlainText, ForeignKey("campaign.id"), primary_key=True),
    Column("conversation", PlainText, ForeignKey("conversation.id"), primary_key=True),
    named="row {campaign}, {conversation} of table campaign_conversation",
)


def campaigns_of(connection: Connection, conversations: Sequence[str]) -> tuple[str, ...]:
    """The ids of the campaigns that have one of these conversations, set aside or not."""
    places = PLACES.c
    query = select(places.campaign).where(places.conversation.in_(conversations))
    return tuple(connection.execute(query.distinct().order_by(places.campaign)).scalars())


def read_places(connection: Connection, campaign: str | None = None) -> Iterator[tuple[str, int]]:
    """The conversations of a campaign, in the plan's order, or of all, and what was set aside.

    Raises StoreError for a place that was altered.
    """
    query = PLACES.select().order_by(PLACES.c.ordinal, PLACES.c.conversation)
    if campaign is not None:
        query = query.where(PLACES.c.campaign == campaign)
    for rows in connection.execute(query.execution_options(yield_per=1_000)).partitions():
        for row in rows:
            PLACES.check(row)
            yield row.conversation, row.set_aside
