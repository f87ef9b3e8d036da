"""Planned conversations, and the conversations of a campaign."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import orjson
from sqlalchemy import (
    ColumnElement,
    Connection,
    func,
    literal_column,
    select,
    update,
)
from sqlalchemy.dialects.sqlite import insert

from recjury.records import JSON, Record
from recjury.store.engine import insert_new
from recjury.store.sealed import AnyRow, Damaged, SealedTable, refuse
from recjury.store.stages import CONVERSE
from recjury.store.tables import (
    CampaignConversationRow,
    ConversationRow,
    StageRow,
    one_id,
    table_of,
)
from recjury.store.texts import Kept, chunks, text_reader
from recjury.store.writer import Transaction


class PlannedConversation(Record):
    """One repeat of a scenario with a system.

    `settings` has everything that can change the conversation, and `identity` is its digest.
    `scenario` is the scenario's id. `repeat` counts from 0.
    """

    identity: str
    system: str
    scenario: str
    corpus: str
    repeat: int = 0
    seed: int = 0
    settings: Mapping[str, object] = {}


class StoredConversation(Record):
    """A planned conversation in the store, held or not.

    In a migrated store, `id` differs from the identity, and the identity may be None (unknown).
    """

    id: str
    identity: str | None
    system: str
    scenario: str
    corpus: str
    repeat: int = 0
    seed: int = 0
    settings: Mapping[str, object] = {}


_CONVERSATIONS = SealedTable(ConversationRow, "conversation {id}", text="settings")
_FIELDS = ("id", "identity", "system", "scenario", "corpus", "repeat", "seed")


def conversation_rows(
    planned: Sequence[PlannedConversation], places: Mapping[str, Kept]
) -> list[dict[str, JSON]]:
    """Sealed rows of `conversation`; `places` has the stored texts of their settings."""
    rows: list[dict[str, JSON]] = []
    for each in planned:
        row = {"id": each.identity, **each.model_dump(exclude={"settings"})}
        rows.append(_CONVERSATIONS.sealed(row, places[settings_text(each)]))
    return rows


def settings_text(planned: PlannedConversation) -> str:
    """The settings as canonical JSON."""
    return orjson.dumps(planned.model_dump()["settings"], option=orjson.OPT_SORT_KEYS).decode()


def read_conversations(
    connection: Connection, ids: Iterable[str], damaged: Damaged = refuse
) -> dict[str, StoredConversation]:
    """Conversations by id, in the given order; `damaged` is called for those missing or altered."""
    text = text_reader(connection)

    def build(row: AnyRow) -> StoredConversation:
        values = {name: row._mapping[name] for name in _FIELDS}
        return StoredConversation(**values, settings=orjson.loads(text(row.settings)))

    return _CONVERSATIONS.find(connection, ids, build, damaged)


def find_conversation(connection: Connection, prefix: str) -> StoredConversation:
    """The only conversation whose id begins with `prefix`. Raises StoreError for none or
    several."""
    found = one_id(connection, ConversationRow, prefix, "conversation")
    return read_conversations(connection, [found])[found]


def conversation_ids(
    connection: Connection, campaign: str | None = None, system: str | None = None
) -> tuple[str, ...]:
    """Ids of a campaign's conversations in the plan's order, except those that were set aside.

    Without a campaign: the newest conversation of each identity in the whole store. A conversation
    that all its campaigns have set aside is left out.
    """
    table, links = table_of(ConversationRow), table_of(CampaignConversationRow)
    query = select(table.c.id)
    if campaign is None:
        order = (table.c.corpus, table.c.scenario, table.c.system, table.c.repeat, table.c.id)
        query = query.order_by(*order)
    else:
        query = query.join(links, links.c.conversation == table.c.id)
        query = query.where(links.c.campaign == campaign, links.c.set_aside == 0)
        query = query.order_by(links.c.ordinal, table.c.id)
    if system is not None:
        query = query.where(table.c.system == system)
    ids = connection.execute(query).scalars()
    if campaign is not None:
        return tuple(ids)
    counting = _counting(connection)
    return tuple(each for each in ids if each in counting)


def _counting(connection: Connection) -> set[str]:
    """The conversations that count in the whole store."""
    table, links = table_of(ConversationRow), table_of(CampaignConversationRow)
    kept = select(func.min(links.c.set_aside)).where(links.c.conversation == table.c.id)
    query = select(table.c.id, table.c.identity).where(kept.scalar_subquery() == 0)
    rows = connection.execute(query.order_by(*newest_last())).all()
    # The last of an identity is kept, and all without an identity.
    return set({row.identity or row.id: row.id for row in rows}.values())


def newest_last() -> tuple[ColumnElement[object], ...]:
    """An order of `conversation` in which the row that counts for an identity comes last.

    It is the conversation held last or, if none was held, the one planned last.
    """
    table, stages = table_of(ConversationRow), table_of(StageRow)
    held = select(stages.c.finished_at).where(
        stages.c.unit == table.c.id, stages.c.stage == CONVERSE
    )
    return (func.coalesce(held.scalar_subquery(), 0.0), literal_column("conversation.rowid"))


class WrittenPlan(NamedTuple):
    """The ids of a campaign's conversations by identity.

    `set_aside` counts the earlier conversations that were replaced: a planned one has the same
    system, scenario and repeat.
    """

    ids: dict[str, str]
    set_aside: int


def write_plan(
    transaction: Transaction, campaign: str, planned: Sequence[PlannedConversation]
) -> WrittenPlan:
    """Add conversations to a campaign, and set aside those that they replace."""
    connection = transaction.connection
    known = ids_of_conversations(connection, (each.identity for each in planned))
    new = {each.identity: each for each in planned if each.identity not in known}
    if new:
        places = transaction.texts.intern(connection, set(map(settings_text, new.values())))
        rows = conversation_rows(list(new.values()), places)
        connection.execute(insert_new(ConversationRow), rows)
    ids = {each.identity: known.get(each.identity, each.identity) for each in planned}
    _link(connection, campaign, list(ids.values()))
    gone = _superseded(connection, campaign, planned, set(ids.values()))
    _set_aside(connection, campaign, gone)
    return WrittenPlan(ids, sum(gone.values()))


def ids_of_conversations(connection: Connection, identities: Iterable[str]) -> dict[str, str]:
    """The id of the row that counts for each stored identity."""
    table = table_of(ConversationRow)
    found: dict[str, str] = {}
    for some in chunks(identities):
        query = select(table.c.identity, table.c.id).where(table.c.identity.in_(some))
        found.update(
            (row.identity, row.id) for row in connection.execute(query.order_by(*newest_last()))
        )
    return found


def _link(connection: Connection, campaign: str, ids: Sequence[str]) -> None:
    if not ids:
        return
    links = [
        {"campaign": campaign, "conversation": each, "ordinal": ordinal, "set_aside": 0}
        for ordinal, each in enumerate(dict.fromkeys(ids))
    ]
    added = insert(CampaignConversationRow)
    new = {"ordinal": added.excluded.ordinal, "set_aside": 0}
    again = added.on_conflict_do_update(index_elements=["campaign", "conversation"], set_=new)
    connection.execute(again, links)


def _superseded(
    connection: Connection,
    campaign: str,
    planned: Sequence[PlannedConversation],
    ids: Collection[str],
) -> dict[str, bool]:
    """The campaign's conversations that a planned one (`ids`) replaces, and whether each counts.

    A row does not count if another has its identity, or if it has none because it never started.
    """
    table, links = table_of(ConversationRow), table_of(CampaignConversationRow)
    places = {(each.system, each.scenario, each.repeat) for each in planned}
    identities = {each.identity for each in planned}
    query = select(table).join(links, links.c.conversation == table.c.id)
    query = query.where(links.c.campaign == campaign, links.c.set_aside == 0)
    return {
        row.id: row.identity is not None and row.identity not in identities
        for row in connection.execute(query)
        if row.id not in ids and (row.system, row.scenario, row.repeat) in places
    }


def _set_aside(connection: Connection, campaign: str, gone: Iterable[str]) -> None:
    """Remove conversations from a campaign's tables; the store keeps them."""
    links = table_of(CampaignConversationRow)
    for some in chunks(gone):
        query = update(links).where(links.c.campaign == campaign, links.c.conversation.in_(some))
        connection.execute(query.values(set_aside=1))
