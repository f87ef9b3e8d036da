"""Calls of a campaign counted by stage and model: tokens, money, latency, retries, waits."""

from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, case, func, select

from recjury.records import JSON
from recjury.store.calls import made_for
from recjury.store.tables import CallRow, table_of

_PERCENTILES = (0.5, 0.9, 0.99)


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
    calls = table_of(CallRow)
    slash = func.instr(calls.c.purpose, "/")
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
    calls = table_of(CallRow)
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
