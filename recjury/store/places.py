"""The conversations of campaigns, in their plans' order; campaigns can share a conversation."""

from collections import Counter

from sqlalchemy import Column, Connection, ForeignKey

from recjury.records import Record
from recjury.store.column_types import PlainText
from recjury.store.sealed import SealedTable


class PlanEntry(Record):
    """A conversation's place in a campaign's plan.

    `set_aside` is 1 if another version has replaced it: then only its costs count.
    """

    ordinal: int
    set_aside: int = 0


PLACES = SealedTable(
    "campaign_conversation",
    PlanEntry,
    Column("campaign", PlainText, ForeignKey("campaign.id"), primary_key=True),
    Column("conversation", PlainText, ForeignKey("conversation.id"), primary_key=True),
    named="row {campaign}, {conversation} of table campaign_conversation",
)


def check_places(connection: Connection, campaign: str | None = None) -> Counter[str]:
    """The number of conversations of each campaign, or of one, that were not set aside.

    Raises StoreError for an altered row.
    """
    query = PLACES.select()
    if campaign is not None:
        query = query.where(PLACES.c.campaign == campaign)
    count = Counter[str]()
    for row in connection.execute(query).mappings():
        PLACES.check(row)
        count[row["campaign"]] += not row["set_aside"]
    return count
