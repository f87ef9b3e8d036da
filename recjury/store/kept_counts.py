"""The counts of campaigns, kept while rows are written, so that nobody has to count a large store.

A write that changes results counts the units of its conversations before and after, and adds the
difference in its own transaction: so the counts are those of the rows. They are over conversations
up to an id. Those after it, as in a store that was merged, are counted whenever somebody asks,
until `count_page` has come to the last.
"""

import contextlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, delete, func, or_, select, update
from sqlmodel import Field, SQLModel

from recjury.errors import StoreError
from recjury.store.column_types import PlainText, Whole
from recjury.store.counts import (
    CampaignCounts,
    CountedPart,
    CountedPlace,
    Counts,
    PartCounts,
    count_units,
)
from recjury.store.engine import insert_or_replace
from recjury.store.evaluations import EVALUATIONS, PlannedEvaluation
from recjury.store.evaluators import (
    CAMPAIGN_EVALUATORS,
    PlannedEvaluator,
    read_campaign_evaluators,
    write_evaluators,
)
from recjury.store.fetching import fetch
from recjury.store.logs import LOGS
from recjury.store.places import PLACES
from recjury.store.sealed import Damaged, changed
from recjury.store.stages import CONVERSE
from recjury.store.tables import table_of
from recjury.store.writer import Transaction

_PAGE = 500  # conversations that are counted at once


class CountRow(SQLModel, table=True):
    """The counts of a part of a campaign, over its conversations with ids up to `upto`.

    `part` is "converse", or an evaluator's version, of which `planned` counts the evaluations that
    were begun. All conversations are counted if `upto` is NULL.
    """

    __tablename__ = "unit_count"

    campaign: str = Field(primary_key=True, sa_type=PlainText)
    part: str = Field(primary_key=True, sa_type=PlainText)
    planned: int = Field(sa_type=Whole)
    done: int = Field(sa_type=Whole)
    failed: int = Field(sa_type=Whole)
    upto: str | None = Field(sa_type=PlainText)


_KEPT, _PLACES, _USES = table_of(CountRow), PLACES.c, CAMPAIGN_EVALUATORS.c


class _Counted(NamedTuple):
    """Counts over the conversations of a campaign up to an id; None if these are all."""

    counts: PartCounts
    upto: str | None


def read_counts(connection: Connection, campaign: str) -> CampaignCounts:
    """How far a campaign is, as `summarise` finds it; no row is compared with its seal."""
    counts = _all(connection, campaign, _kept(connection, campaign))
    conversations = counts[CountedPart(campaign, CONVERSE)]
    evaluations: dict[str, Counts] = {}
    for each in read_campaign_evaluators(connection, campaign):
        found = counts[CountedPart(campaign, each.id)]
        if each.label == each.name:  # nothing more is planned for an older version
            found = found._replace(planned=each.judgings * conversations.planned)
        evaluations[each.label] = found
    return CampaignCounts(conversations, evaluations)


def count_planned(connection: Connection, campaign: str) -> int:
    """How many conversations a campaign has that were not set aside."""
    kept = _kept(connection, campaign)
    if kept.upto is None:
        return kept.counts[CountedPart(campaign, CONVERSE)].planned
    return connection.execute(_OWN.where(_PLACES.campaign == campaign)).scalar_one()


def check_counts(connection: Connection, damaged: Damaged) -> None:
    """Call `damaged` for each campaign whose kept counts are not those of its rows."""
    for each in connection.execute(select(_KEPT.c.campaign).distinct()).scalars().all():
        try:
            kept = _all(connection, each, _kept(connection, each))
        except StoreError as error:
            damaged(error)
        else:
            if kept != _all(connection, each, _NOTHING):
                damaged(_altered(each))


def join_campaign(
    transaction: Transaction, campaign: str, planned: Sequence[PlannedEvaluator]
) -> None:
    """As `write_evaluators`; if other evaluations count from now on, nothing is counted yet."""
    query = select(_USES.evaluator, _USES.judgings, _USES.stages)
    query = query.where(_USES.campaign == campaign).order_by(_USES.evaluator)
    before = transaction.connection.execute(query).all()
    write_evaluators(transaction, campaign, planned)
    if transaction.connection.execute(query).all() != before:
        forget_counts(transaction, campaign)


def forget_counts(transaction: Transaction, campaign: str | None = None) -> None:
    """Count nothing of a campaign, or of all, until `count_page` has counted it again."""
    own = delete(_KEPT)
    own = own if campaign is None else own.where(_KEPT.c.campaign == campaign)
    transaction.connection.execute(own)


def count_page(transaction: Transaction, campaign: str) -> bool:
    """Count further conversations of a campaign; whether there may be more of them."""
    connection = transaction.connection
    kept = _kept(connection, campaign)
    if kept.upto is None:
        return False
    counts, upto = _further(connection, campaign, kept, kept.upto)
    for (_, part), own in counts.items():
        row = {"campaign": campaign, "part": part, **own._asdict(), "upto": upto}
        connection.execute(insert_or_replace(_KEPT), row)
    return upto is not None


@contextlib.contextmanager
def counting(transaction: Transaction, units: Sequence[object]) -> Iterator[None]:
    """Keep the counts in a block that writes results of these units alone, or places.

    Units are conversations or evaluations, by their ids, or evaluations that are planned; forks
    do not count.
    """
    conversations = _conversations(transaction.connection, units)
    before = _counts_of(transaction.connection, conversations)
    yield
    after = _counts_of(transaction.connection, conversations)
    for part in {**before, **after}:
        change = [new - old for new, old in zip(after[part], before[part], strict=True)]
        if any(change):
            values = dict(zip(_VALUES, (*part, *change), strict=True))
            transaction.connection.execute(_CHANGE, values)


def _conversations(connection: Connection, units: Sequence[object]) -> Sequence[str]:
    """The conversations that units are, or are about."""
    logs = [each.log for each in units if isinstance(each, PlannedEvaluation)]
    ids = [each for each in units if isinstance(each, str)]
    judged = fetch(connection, _JUDGED, EVALUATIONS.c.id, ids)
    about = (*fetch(connection, _WITH_LOG, LOGS.c.digest, logs), *judged)
    return [*ids, *(conversation for (conversation,) in about)]


_WITH_LOG = select(LOGS.c.conversation)
_JUDGED = _WITH_LOG.join(EVALUATIONS.table, EVALUATIONS.c.log == LOGS.c.digest)
_VALUES = ("of", "named", *(f"more_{name}" for name in Counts._fields))
_CHANGE = (
    update(_KEPT)
    .where(_KEPT.c.campaign == bindparam("of"), _KEPT.c.part == bindparam("named"))
    .values({name: _KEPT.c[name] + bindparam(f"more_{name}") for name in Counts._fields})
)


def _counts_of(connection: Connection, conversations: Sequence[str]) -> PartCounts:
    """The counts over conversations, in those campaigns that have counted them."""
    rows = fetch(connection, _COUNTED, _PLACES.conversation, conversations)
    return count_units(connection, list(map(CountedPlace._make, rows)))


_OWN = select(func.count()).select_from(PLACES.table).where(_PLACES.set_aside == 0)
_OF_CAMPAIGN = _OWN.with_only_columns(*(_PLACES[name] for name in CountedPlace._fields))
_COUNTED = (
    _OF_CAMPAIGN.join(_KEPT, _KEPT.c.campaign == _PLACES.campaign)
    .where(_KEPT.c.part == CONVERSE)
    .where(or_(_KEPT.c.upto.is_(None), _PLACES.conversation <= _KEPT.c.upto))
)


def _kept(connection: Connection, campaign: str) -> _Counted:
    """What is kept of a campaign. Raises StoreError if its parts are not over the same."""
    rows = connection.execute(select(_KEPT).where(_KEPT.c.campaign == campaign)).all()
    found = {
        CountedPart(campaign, row.part): Counts(row.planned, row.done, row.failed) for row in rows
    }
    upto, *others = {row.upto for row in rows} or {""}
    if others:
        raise _altered(campaign)
    return _Counted(found, upto)


_NOTHING = _Counted({}, "")


def _altered(campaign: str) -> StoreError:
    return changed(f"what is counted of campaign {campaign} in the store, or a row of it,")


def _all(
    connection: Connection, campaign: str, known: _Counted
) -> defaultdict[CountedPart, Counts]:
    """The counts over all conversations of a campaign, of which some are known."""
    while known.upto is not None:
        known = _further(connection, campaign, known, known.upto)
    return defaultdict(Counts, known.counts)


def _further(connection: Connection, campaign: str, known: _Counted, upto: str) -> _Counted:
    """What is known up to an id, with the next conversations of a campaign."""
    query = _OF_CAMPAIGN.where(_PLACES.campaign == campaign, _PLACES.conversation > upto)
    rows = connection.execute(query.order_by(_PLACES.conversation).limit(_PAGE)).all()
    places = list(map(CountedPlace._make, rows))
    evaluators = select(_USES.evaluator).where(_USES.campaign == campaign)
    parts = (CONVERSE, *connection.execute(evaluators).scalars())
    counts = defaultdict(Counts, {CountedPart(campaign, each): Counts() for each in parts})
    for part, own in (*known.counts.items(), *count_units(connection, places).items()):
        counts[part] = counts[part].plus(*own)
    return _Counted(counts, places[-1].conversation if len(places) == _PAGE else None)
