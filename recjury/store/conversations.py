"""Planned conversations, and the conversations of a campaign."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

import orjson
from sqlalchemy import Column, ColumnElement, Connection, func, select, update
from sqlalchemy.dialects.sqlite import insert

from recjury.records import Record
from recjury.store.column_types import PlainText
from recjury.store.sealed import Damaged, SealedTable, refuse
from recjury.store.tables import CampaignConversationRow, one_id, table_of
from recjury.store.texts import chunks, texts_of_ids
from recjury.store.writer import Transaction

T = TypeVar("T")


class PlannedConversation(Record):
    """One repeat of a scenario with a system, held or not.

    `settings` has everything that can change the conversation, and `id` is its digest.
    `scenario` is the scenario's id. `repeat` counts from 0.
    """

    id: str
    system: str
    scenario: str
    corpus: str
    repeat: int = 0
    seed: int = 0
    settings: Mapping[str, object] = {}


CONVERSATIONS = SealedTable(
    "conversation",
    PlannedConversation,
    Column("id", PlainText, primary_key=True),
    Column("system", PlainText, nullable=False, index=True),
    named="conversation {id}",
)


def read_conversations(
    connection: Connection, ids: Iterable[str], damaged: Damaged = refuse
) -> dict[str, PlannedConversation]:
    """Conversations by id, in the given order; `damaged` is called for those missing or altered."""
    return {row.id: found for row, found in CONVERSATIONS.find(connection, ids, damaged)}


def campaign_conversations(
    connection: Connection, campaign: str | None = None, system: str | None = None
) -> tuple[PlannedConversation, ...]:
    """A campaign's conversations in the plan's order; with None, those of the whole store."""
    ids = conversation_ids(connection, campaign, system)
    return tuple(read_conversations(connection, ids).values())


def find_conversation(connection: Connection, prefix: str) -> PlannedConversation:
    """The only conversation whose id begins with `prefix`. Raises StoreError for none or
    several."""
    found = one_id(connection, CONVERSATIONS.c.id, prefix, "conversation")
    return read_conversations(connection, [found])[found]


def conversation_ids(
    connection: Connection, campaign: str | None = None, system: str | None = None
) -> tuple[str, ...]:
    """Ids of a campaign's conversations in the plan's order, except those that were set aside.

    Without a campaign: those of the whole store, except those that all their campaigns have set
    aside.
    """
    table, links = CONVERSATIONS.table, table_of(CampaignConversationRow)
    query = select(table.c.id)
    if campaign is None:
        order = (table.c.corpus, table.c.scenario, table.c.system, table.c.repeat, table.c.id)
        used = select(func.min(links.c.set_aside)).where(links.c.conversation == table.c.id)
        query = query.where(used.scalar_subquery() == 0).order_by(*order)
    else:
        query = query.join(links, links.c.conversation == table.c.id)
        query = query.where(links.c.campaign == campaign, links.c.set_aside == 0)
        query = query.order_by(links.c.ordinal, table.c.id)
    if system is not None:
        query = query.where(table.c.system == system)
    return tuple(connection.execute(query).scalars())


def systems_of(connection: Connection, campaign: str) -> frozenset[str]:
    """The names of the systems of a campaign's conversations."""
    return _distinct(connection, campaign, CONVERSATIONS.c.system)


def corpora_of(connection: Connection, campaign: str) -> frozenset[str]:
    """The corpora of a campaign's conversations, with their splits."""
    return _distinct(connection, campaign, CONVERSATIONS.c.corpus)


def users_of(connection: Connection, campaign: str) -> frozenset[str]:
    """Who played the users of a campaign: "rule", or a model's alias; recorded users are left
    out."""
    numbers = _distinct(connection, campaign, CONVERSATIONS.c.settings)
    texts = texts_of_ids(connection, numbers).values()
    return frozenset(filter(None, (_user(orjson.loads(text)) for text in texts)))


def _user(settings: Mapping[str, object]) -> str | None:
    user = settings.get("user")
    name = user.get("user") if isinstance(user, Mapping) else user
    return name if isinstance(name, str) else None


def _distinct(connection: Connection, campaign: str, column: ColumnElement[T]) -> frozenset[T]:
    links = table_of(CampaignConversationRow)
    query = select(column).join(links, links.c.conversation == CONVERSATIONS.c.id)
    query = query.where(links.c.campaign == campaign, links.c.set_aside == 0)
    return frozenset(connection.execute(query.distinct()).scalars())


def declaring_settings(connection: Connection) -> frozenset[int]:
    """The numbers of the settings in which a simulated user declares its acts."""
    numbers = connection.execute(select(CONVERSATIONS.c.settings).distinct()).scalars().all()
    texts = texts_of_ids(connection, numbers)
    return frozenset(each for each, text in texts.items() if _declares(orjson.loads(text)))


def _declares(settings: object) -> bool:
    user = settings.get("user") if isinstance(settings, Mapping) else None
    return isinstance(user, Mapping) and "declares" in user


def write_plan(
    transaction: Transaction, campaign: str, planned: Sequence[PlannedConversation]
) -> int:
    """Add conversations to a campaign, and set aside those that they replace.

    A planned conversation replaces another one with the same system, scenario and repeat. Returns
    how many were set aside.
    """
    CONVERSATIONS.insert(transaction, [(each, {}) for each in planned])
    ids = list(dict.fromkeys(each.id for each in planned))
    _link(transaction.connection, campaign, ids)
    gone = _replaced(transaction.connection, campaign, planned, set(ids))
    _set_aside(transaction.connection, campaign, gone)
    return len(gone)


def _link(connection: Connection, campaign: str, ids: Sequence[str]) -> None:
    if not ids:
        return
    links = [
        {"campaign": campaign, "conversation": each, "ordinal": ordinal, "set_aside": 0}
        for ordinal, each in enumerate(ids)
    ]
    added = insert(CampaignConversationRow)
    new = {"ordinal": added.excluded.ordinal, "set_aside": 0}
    again = added.on_conflict_do_update(index_elements=["campaign", "conversation"], set_=new)
    connection.execute(again, links)


def _replaced(
    connection: Connection,
    campaign: str,
    planned: Sequence[PlannedConversation],
    ids: Collection[str],
) -> list[str]:
    """The campaign's conversations that a planned one (`ids`) replaces."""
    table, links = CONVERSATIONS.table, table_of(CampaignConversationRow)
    places = {(each.system, each.scenario, each.repeat) for each in planned}
    query = select(table).join(links, links.c.conversation == table.c.id)
    query = query.where(links.c.campaign == campaign, links.c.set_aside == 0)
    return [
        row.id
        for row in connection.execute(query)
        if row.id not in ids and (row.system, row.scenario, row.repeat) in places
    ]


def _set_aside(connection: Connection, campaign: str, gone: Iterable[str]) -> None:
    """Remove conversations from a campaign's tables; the store keeps them."""
    links = table_of(CampaignConversationRow)
    for some in chunks(gone):
        query = update(links).where(links.c.campaign == campaign, links.c.conversation.in_(some))
        connection.execute(query.values(set_aside=1))
