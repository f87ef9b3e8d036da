"""What calls took and cost: by campaign, stage and model, unit, and system turn."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, case, func, or_, select

from recjury.records import JSON, ConversationLog, ConversationRecord, Ending
from recjury.store.calls import CALLS
from recjury.store.evaluations import EVALUATIONS, of_campaign
from recjury.store.functions import PlaceOf
from recjury.store.logs import read_logs
from recjury.store.places import PLACES
from recjury.store.texts import chunks

_PERCENTILES = (0.5, 0.9, 0.99)


def made_for(campaign: str, *, forks: bool = False) -> ColumnElement[bool]:
    """An SQL condition that selects the calls made for a campaign.

    They are the calls first made for the campaign itself, for one of its conversations (set aside
    or not), or for an evaluation of such a conversation by the campaign's evaluators. A call that
    two campaigns share counts for both. Calls of forks count only with `forks`.
    """
    calls, links = CALLS, PLACES.table
    conversations = select(links.c.conversation).where(links.c.campaign == campaign)
    evaluations = of_campaign(campaign)
    if not forks:
        evaluations = evaluations.where(EVALUATIONS.c.fork_of.is_(None))
    return or_(
        calls.c.unit == campaign,
        calls.c.unit.in_(conversations),
        calls.c.unit.in_(evaluations),
    )


def call_identities(connection: Connection, campaign: str | None = None) -> tuple[str, ...]:
    """The identities of all calls, or of those `made_for` a campaign, in order."""
    calls = CALLS
    query = select(calls.c.identity).order_by(calls.c.id)
    if campaign is not None:
        query = query.where(made_for(campaign))
    return tuple(connection.execute(query).scalars())


class Spent(NamedTuple):
    """The number of calls, their tokens, and their cost.

    `cost` is in US dollars, and None if the price of a call is unknown. The tokens of `estimated`
    calls were not reported but estimated.
    """

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    estimated: int = 0

    def amount(self, *, in_tokens: bool) -> float:
        """The tokens, or the dollars as far as they are known."""
        return self.prompt_tokens + self.completion_tokens if in_tokens else self.cost or 0.0


def read_spent(connection: Connection, campaign: str) -> Spent:
    """Add up the calls made for a campaign and its forks, which its budget pays; a reused call
    counts where it was first made."""
    calls = CALLS
    found = connection.execute(_sums().select_from(calls).where(made_for(campaign, forks=True)))
    return _spent(found.one())


def read_spent_by_unit(connection: Connection, units: Iterable[str]) -> dict[str, Spent]:
    """As `read_spent`, by the conversation or evaluation that a call was made for."""
    calls = CALLS
    query = _sums(calls.c.unit).select_from(calls).group_by(calls.c.unit)
    return {
        unit: _spent(sums)
        for some in chunks(units)
        for unit, *sums in connection.execute(query.where(calls.c.unit.in_(some)))
    }


def _spent(sums: Sequence[Any]) -> Spent:
    made, asked, said, cost, priced, estimated = sums
    return Spent(made, asked, said, cost if priced == made else None, estimated)


def _sums(*of: ColumnElement[Any]) -> Select[Any]:
    calls = CALLS
    return select(
        *of,
        func.count(),
        func.coalesce(func.sum(calls.c.prompt_tokens), 0),
        func.coalesce(func.sum(calls.c.completion_tokens), 0),
        func.coalesce(func.sum(calls.c.cost), 0.0),
        func.count(calls.c.cost),
        func.coalesce(func.sum(calls.c.estimated), 0),
    )


class CallCounts(NamedTuple):
    """Calls of one stage to one model.

    `stage` is the part of a call's purpose before the first slash (simulator, system, judge,
    debate, face, ...), and `model` the alias in the campaign file; either is None if the counts are
    over all. `cost` is in US dollars, and None if the price of a call is unknown. The tokens of
    `estimated` calls were not reported but estimated. `p50`, `p90` and `p99` are percentiles of the
    seconds that a call's last attempt took (nearest rank). `retries` counts attempts after the
    first. `waited` are the seconds that calls waited for limits and between attempts, added up;
    they are unknown for `waits_unknown` calls, and None if they are unknown for all.
    """

    stage: str | None
    model: str | None
    calls: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    cost: float | None
    estimated: int
    p50: float
    p90: float
    p99: float
    retries: int
    waited: float | None
    waits_unknown: int

    def as_json(self) -> dict[str, JSON]:
        """All counts."""
        return self._asdict()


class CampaignCalls(NamedTuple):
    """The calls made for a campaign: by stage and model, by model, and all of them.

    `total` is None if there are none.
    """

    by_stage: tuple[CallCounts, ...] = ()
    by_model: tuple[CallCounts, ...] = ()
    total: CallCounts | None = None

    def as_json(self) -> dict[str, JSON]:
        """All counts, for `--json`."""
        return {
            "by_stage": [each.as_json() for each in self.by_stage],
            "by_model": [each.as_json() for each in self.by_model],
            "total": None if self.total is None else self.total.as_json(),
        }


def read_call_counts(connection: Connection, campaign: str) -> CampaignCalls:
    """Count the calls made for a campaign; a reused call counts where it was first made."""
    calls = CALLS
    slash = PlaceOf(calls.c.purpose, "/")
    before = func.substr(calls.c.purpose, 1, slash - 1)
    stage = case((slash > 0, before), else_=calls.c.purpose)
    return CampaignCalls(
        _counted(connection, campaign, stage=stage, model=calls.c.model),
        _counted(connection, campaign, model=calls.c.model),
        next(iter(_counted(connection, campaign)), None),
    )


def _counted(
    connection: Connection, campaign: str, **keys: ColumnElement[Any]
) -> tuple[CallCounts, ...]:
    """The counts of each group of equal `keys`, sorted; the other key of the counts is None."""
    calls = CALLS
    group = list(keys.values())
    place = func.row_number().over(partition_by=group or None, order_by=calls.c.latency)
    ranked = (
        select(
            *(key.label(name) for name, key in keys.items()),
            calls.c.prompt_tokens,
            calls.c.cached_tokens,
            calls.c.completion_tokens,
            calls.c.cost,
            calls.c.estimated,
            calls.c.latency,
            calls.c.attempts,
            calls.c.waited,
            place.label("place"),
            func.count().over(partition_by=group or None).label("of"),
        )
        .where(made_for(campaign))
        .subquery()
    )
    row = ranked.c
    named = [row[name] for name in keys]
    numbers = (
        func.count(),
        func.sum(row.prompt_tokens),
        func.sum(row.cached_tokens),
        func.sum(row.completion_tokens),
        func.sum(row.cost),
        func.count(row.cost),
        func.sum(row.estimated),
        *(func.min(case((row.place >= share * row.of, row.latency))) for share in _PERCENTILES),
        func.sum(row.attempts - 1),
        func.sum(row.waited),
        func.count(row.waited),
    )
    query = select(*named, *numbers).group_by(*named).order_by(*named)
    return tuple(
        _counts(dict(zip(keys, found, strict=False)), found[len(keys) :])
        for found in connection.execute(query)
        if found[len(keys)]
    )


def _counts(keys: dict[str, str], numbers: Any) -> CallCounts:
    calls, asked, cached, said, cost, priced, estimated, p50, p90, p99, retries, *waits = numbers
    waited, known = waits
    return CallCounts(
        keys.get("stage"),
        keys.get("model"),
        calls,
        asked,
        cached,
        said,
        cost if priced == calls else None,
        estimated,
        p50,
        p90,
        p99,
        retries,
        waited,
        calls - known,
    )


def find_record(connection: Connection, conversation: str) -> ConversationRecord | None:
    """A conversation's log with the known seconds and US dollars of its system turns, or None.

    A turn with model calls took as long as its calls: measured by a clock, a turn with reused calls
    would take no time, and a turn that waited for a free slot would take too long. If the store
    does not have all calls, because the conversation was held elsewhere, the values stored with the
    log are used. Raises StoreError if the log was altered.
    """
    stored = read_logs(connection, [conversation]).get(conversation)
    if stored is None:
        return None
    log = stored.body
    if log.ending is Ending.RECORDED:
        return ConversationRecord(log)
    calls = CALLS
    costs: dict[str, float | None] = {}
    took: dict[str, float | None] = {}
    for some in chunks(call for turn in log.system_turns for call in turn.calls):
        query = select(calls.c.identity, calls.c.cost, calls.c.latency)
        for row in connection.execute(query.where(calls.c.identity.in_(some))):
            costs[row.identity], took[row.identity] = row.cost, row.latency
    seconds = _by_turn(log, took, stored.seconds)
    return ConversationRecord(log, seconds, _by_turn(log, costs, stored.costs))


def _by_turn(
    log: ConversationLog, by_call: Mapping[str, float | None], kept: Sequence[float | None]
) -> tuple[float | None, ...]:
    turns = log.system_turns
    return tuple(
        _sum([by_call[call] for call in turn.calls])
        if turn.calls and all(call in by_call for call in turn.calls)
        else otherwise
        for turn, otherwise in zip(turns, kept or (None,) * len(turns), strict=False)
    )


def _sum(numbers: Sequence[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None
