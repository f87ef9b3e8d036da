"""Planned conversations, and the conversations of a campaign."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple, TypeVar

import orjson
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    MetaData,
    Table,
    and_,
    select,
)
from sqlalchemy.schema import DropTable

from recjury.records import JSON, Record
from recjury.store.column_types import PlainText, Whole
from recjury.store.engine import insert_new
from recjury.store.fetching import fetch
from recjury.store.kept_counts import counting
from recjury.store.places import PLACES, PlanEntry, read_places
from recjury.store.sealed import Damaged, SealedTable, refuse
from recjury.store.tables import one_id
from recjury.store.texts import texts_of_ids
from recjury.store.writer import WINDOW, Transaction, write_all

T = TypeVar("T")
_PAGE = 500


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
    Column("scenario", PlainText, nullable=False, index=True),
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
    aside. Raises StoreError for an altered place.
    """
    places = read_places(connection, campaign)
    ids: Iterable[str] = tuple(each for each, set_aside in places if not set_aside)
    if campaign is None:
        used, own = frozenset(ids), CONVERSATIONS.c
        query = select(own.id).order_by(own.corpus, own.scenario, own.system, own.repeat, own.id)
        ids = (each for each in connection.execute(query).scalars() if each in used)
    if system is not None:
        ids = tuple(ids)
        systems = dict(fetch(connection, _SYSTEMS, CONVERSATIONS.c.id, ids))
        ids = (each for each in ids if systems.get(each) == system)
    return tuple(ids)


_SYSTEMS = select(CONVERSATIONS.c.id, CONVERSATIONS.c.system)


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
    links = PLACES.table
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


class Placed(NamedTuple):
    """A planned conversation, and its place in the plan, from 0."""

    place: int
    conversation: PlannedConversation


def write_plan(
    transaction: Transaction, campaign: str, planned: Iterable[PlannedConversation | Placed]
) -> int:
    """Add conversations to a campaign, and set aside those that they replace.

    A planned conversation replaces another one with the same system, scenario and repeat. Returns
    how many were set aside. `planned` is taken page by page. Each page is a transaction of its own:
    a plan that was interrupted is completed when it is written again.
    """
    _write(transaction, _begin_plan)
    places = enumerate(planned)
    while some := tuple(islice(places, _PAGE)):
        page = [each if isinstance(each, Placed) else Placed(n, each) for n, each in some]
        _write(transaction, partial(_add_page, page=page))
    last, gone = "", 0
    while placed := _write(transaction, partial(_place_page, campaign=campaign, after=last)):
        last, gone = placed.last, gone + placed.gone
    _write(transaction, lambda own: _PLANNED.drop(own.connection))
    return gone


def _write(transaction: Transaction, write: Callable[[Transaction], T]) -> T:
    """Write a page, and let others begin that wait for the lock: SQLite gives it to nobody."""
    written = write_all(transaction, write)
    time.sleep(WINDOW)
    return written


_PLANNED = Table(
    "planned",
    MetaData(),
    Column("id", PlainText, primary_key=True),
    Column("ordinal", Whole),
    prefixes=["TEMPORARY"],
)
"""The conversations of a plan while it is written: it may have a million."""


def _begin_plan(transaction: Transaction) -> None:
    # A plan that failed has left its own.
    transaction.connection.execute(DropTable(_PLANNED, if_exists=True))
    _PLANNED.create(transaction.connection)


def _add_page(transaction: Transaction, page: Sequence[Placed]) -> None:
    CONVERSATIONS.insert(transaction, [(each.conversation, {}) for each in page])
    rows = [{"id": each.id, "ordinal": place} for place, each in page]
    transaction.connection.execute(insert_new(_PLANNED), rows)


class _PlacedPage(NamedTuple):
    """The last conversation of a page of the plan, and how many others were set aside."""

    last: str
    gone: int


def _place_page(transaction: Transaction, campaign: str, after: str) -> _PlacedPage | None:
    """Give the next conversations of the plan their places, and set aside those that had them.

    So each place is always one conversation's, also if two plans are written at once. The store
    keeps what was set aside.
    """
    planned = _PLANNED.c
    query = select(planned.id, planned.ordinal).where(planned.id > after).order_by(planned.id)
    page = transaction.connection.execute(query.limit(_PAGE)).all()
    if not page:
        return None
    places = [(PlanEntry(ordinal=row.ordinal), _link(campaign, row.id)) for row in page]
    gone = _replaced(transaction.connection, campaign, [row.id for row in page])
    gone_places = [
        (PlanEntry(ordinal=entry.ordinal, set_aside=1), _link(campaign, conversation))
        for conversation, entry in gone.items()
    ]
    with counting(transaction, [*(row.id for row in page), *gone]):
        PLACES.replace(transaction, [*places, *gone_places])
    return _PlacedPage(page[-1].id, len(gone))


def _link(campaign: str, conversation: str) -> dict[str, JSON]:
    return {"campaign": campaign, "conversation": conversation}


def _replaced(
    connection: Connection, campaign: str, conversations: Sequence[str]
) -> dict[str, PlanEntry]:
    """What has the places of these conversations, and is not planned. Raises StoreError for an
    altered place."""
    new, old, links = CONVERSATIONS.table.alias(), CONVERSATIONS.c, PLACES.c
    same = (new.c[name] == old[name] for name in ("scenario", "system", "repeat"))
    query = PLACES.select().join(CONVERSATIONS.table, old.id == links.conversation)
    query = query.join(new, and_(*same)).where(new.c.id.in_(conversations)).distinct()
    query = query.where(links.campaign == campaign, links.set_aside == 0)
    query = query.where(old.id.not_in(select(_PLANNED.c.id)))
    rows = connection.execute(query).all()
    return {row.conversation: entry for row, entry in PLACES.intact(connection, rows)}
