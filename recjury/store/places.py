"""The conversations of campaigns, in their plans' order; campaigns can share a conversation."""

import time

from pydantic import Field
from sqlalchemy import Column, Connection, ForeignKey

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


def check_places(connection: Connection, campaign: str | None = None) -> None:
    """Compare the places of a campaign, or all, with their seals. Raises StoreError."""
    query, names = PLACES.select(), PLACES.c.keys()
    if campaign is not None:
        query = query.where(PLACES.c.campaign == campaign)
    for rows in connection.execute(query.execution_options(yield_per=1_000)).partitions():
        for row in rows:
            PLACES.check(dict(zip(names, row, strict=True)))
