"""Calls counted by stage and model: in SQL, and the same as counted one by one."""

import asyncio
import math
import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest

from recjury.records import CallRecord, Usage
from recjury.store import CallCounts, CampaignCalls, Store
from tests.store import values

PURPOSES = ("judge/Novelty", "judge/Diversity", "debate/Linguist/2", "face/decompose", "embedding")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store with one planned conversation."""
    store = Store.open(f"sqlite:///{tmp_path}/runs.db")
    values.begun(store)
    return store


def _record(store: Store, calls: Sequence[CallRecord]) -> None:
    async def record() -> None:
        async with store.recorder() as recorder:
            await asyncio.gather(*map(recorder.record, calls))

    asyncio.run(record())


def _calls(count: int, *, seed: int = 0) -> list[CallRecord]:
    chance = random.Random(seed)
    made = []
    for number in range(count):
        plain = values.call(number)
        usage = Usage(
            prompt_tokens=chance.randrange(2000),
            completion_tokens=chance.randrange(300),
            cached_tokens=chance.randrange(500),
            cost=None if chance.random() < 0.01 else chance.random(),
            estimated=chance.random() < 0.2,
        )
        reply = plain.reply._replace(
            usage=usage,
            latency=round(chance.expovariate(1.0), 2),  # some are equal
            attempts=1 + (chance.random() < 0.1),
            waited=None if chance.random() < 0.3 else chance.random(),
        )
        request = plain.request._replace(
            purpose=chance.choice(PURPOSES), model=chance.choice(("a", "b"))
        )
        made.append(plain._replace(request=request, reply=reply))
    return made


def _stage(call: CallRecord) -> str:
    return call.request.purpose.partition("/")[0]


def _counted(calls: Sequence[CallRecord], stage: str | None, model: str | None) -> CallCounts:
    latencies = sorted(call.reply.latency for call in calls)

    def percentile(share: float) -> float:
        return latencies[math.ceil(share * len(latencies)) - 1]

    usages = [call.reply.usage for call in calls]
    costs = [usage.cost for usage in usages if usage.cost is not None]
    waits = [call.reply.waited for call in calls if call.reply.waited is not None]
    return CallCounts(
        stage=stage,
        model=model,
        calls=len(calls),
        prompt_tokens=sum(usage.prompt_tokens for usage in usages),
        cached_tokens=sum(usage.cached_tokens for usage in usages),
        completion_tokens=sum(usage.completion_tokens for usage in usages),
        cost=sum(costs) if len(costs) == len(calls) else None,
        estimated=sum(usage.estimated for usage in usages),
        p50=percentile(0.5),
        p90=percentile(0.9),
        p99=percentile(0.99),
        retries=sum(call.reply.attempts - 1 for call in calls),
        waited=sum(waits) if waits else None,
        waits_unknown=len(calls) - len(waits),
    )


def _rounded(*counts: CallCounts) -> tuple[CallCounts, ...]:
    """The counts with sums that do not depend on the order of adding."""
    return tuple(
        each._replace(
            cost=None if each.cost is None else round(each.cost, 9),
            waited=None if each.waited is None else round(each.waited, 9),
        )
        for each in counts
    )


@pytest.mark.parametrize("count", [1, 2, 10, 101, 700])
def test_the_counts_are_those_of_the_calls_one_by_one(store: Store, count: int) -> None:
    calls = _calls(count, seed=count)
    with store:
        _record(store, calls)
        found = store.call_counts(values.CAMPAIGN)
    groups: defaultdict[tuple[str, str], list[CallRecord]] = defaultdict(list)
    for call in calls:
        groups[_stage(call), call.request.model].append(call)
    stages = sorted(groups.items())
    expected = [_counted(group, stage, model) for (stage, model), group in stages]
    assert _rounded(*found.by_stage) == _rounded(*expected)
    by_model = {model: [c for c in calls if c.request.model == model] for model in "ab"}
    expected = [_counted(group, None, model) for model, group in by_model.items() if group]
    assert _rounded(*found.by_model) == _rounded(*expected)
    assert found.total is not None
    assert _rounded(found.total) == _rounded(_counted(calls, None, None))


def test_only_the_calls_of_the_campaign_count(store: Store) -> None:
    mine, other = _calls(2)
    with store:
        assert store.call_counts(values.CAMPAIGN) == CampaignCalls()
        _record(store, [mine, other._replace(unit="f" * 32)])
        total = store.call_counts(values.CAMPAIGN).total
        assert total is not None
        assert total.calls == 1
        assert store.spent(values.CAMPAIGN).calls == 1
