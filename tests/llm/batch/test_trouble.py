"""A full queue and broken uploads are outlasted, and patience begins with the trouble."""

import asyncio
from collections.abc import Iterator

import pytest

from recjury.errors import CallFailed
from recjury.llm.batch.outbox import Outbox, QueueRoom
from recjury.llm.batch.persistence import insist
from recjury.llm.batch.spec import BatchModelSpec
from recjury.llm.policy import Kind
from recjury.llm.provider import Retryable
from tests.batch_server import BatchEndpoint
from tests.llm.batch.test_batches import complete, right, spec_of, texts
from tests.llm.doubles import FakeClock
from tests.scripted_server import prompt

FULL = {"code": "token_limit_exceeded", "message": "Enqueued token limit reached for gpt"}
DAY = 86_400


@pytest.fixture
def endpoint() -> Iterator[BatchEndpoint]:
    with BatchEndpoint(lambda body: f"to {prompt(body)}") as running:
        yield running


def spec(**fields: object) -> BatchModelSpec:
    """A model that is not asked."""
    return BatchModelSpec.model_validate({"base_url": "http://x/v1", "name": "m", **fields})


# --- a full queue


@pytest.mark.slow
@pytest.mark.parametrize(("calls", "refusals"), [(1, 3), (20, 40)])
def test_a_queue_that_others_filled_is_waited_for(
    endpoint: BatchEndpoint, calls: int, refusals: int
) -> None:
    endpoint.faults.refused_batches = [[FULL]] * refusals
    assert texts(complete(spec_of(endpoint), calls)) == right(calls)
    assert max(endpoint.processed.values()) == 1
    assert endpoint.files == {}, "files of refused batches are deleted too"


def test_batches_grow_again_after_a_full_queue() -> None:
    async def run() -> list[int]:
        outbox, room = Outbox(), QueueRoom(spec(batch_size=400), FakeClock())
        sizes: list[int] = []
        while sum(sizes[7:]) < 400:
            for number in range(len(outbox), 400):
                outbox.add(str(number), b"a line\n")
            batch = outbox.take(room.requests, 10**6)
            batch.close()
            sizes.append(len(batch.calls))
            if len(sizes) <= 7:
                assert room.refused(sizes[-1], others=0)
            else:
                room.accepted(sizes[-1])
        outbox.close()
        return sizes

    assert asyncio.run(run()) == [400, 200, 100, 50, 25, 12, 6, 3, 6, 12, 24, 48, 96, 192, 384]


def test_batches_wait_undivided_while_others_are_under_way() -> None:
    clock = FakeClock()
    room = QueueRoom(spec(poll=60, batch_size=400), clock)

    async def wait() -> float:
        begun = clock.now()
        for _ in range(200):
            assert room.refused(400, others=1)
            await room.wait()
        return clock.now() - begun

    assert asyncio.run(wait()) == 200 * 600
    assert room.requests == 400


def test_a_queue_that_stays_full_is_given_up_after_a_day() -> None:
    clock = FakeClock()
    room = QueueRoom(spec(poll=60, batch_size=400), clock)

    async def wait() -> list[int]:
        sizes = [400]
        while room.refused(sizes[-1], others=0):
            await room.wait()
            sizes.append(room.requests)
            assert len(sizes) < 1000
        return sizes

    sizes = asyncio.run(wait())
    assert sizes[:5] == [400, 200, 100, 50, 25]
    assert sum(clock.waits) == pytest.approx(DAY)
    assert len(sizes) < 200


# --- patience


class Troubled:
    """An action that fails so often in some way before it succeeds, after so many seconds each."""

    def __init__(self, clock: FakeClock, seconds: float, *problems: Retryable):
        self._clock, self._seconds, self._problems = clock, seconds, list(problems)

    async def __call__(self) -> str:
        self._clock.time += self._seconds
        if self._problems:
            raise self._problems.pop(0)
        return "done"


def insisted(spec: BatchModelSpec, seconds: float, *problems: Retryable) -> str:
    """The result of a troubled action, which is insisted on."""
    clock = FakeClock()
    action = Troubled(clock, seconds, *problems)
    return asyncio.run(insist(spec, clock, "send a batch", action))


def test_a_long_upload_that_breaks_once_is_tried_again() -> None:
    assert insisted(spec(outage_patience=600), 900, Retryable("broken")) == "done"


def test_patience_ends_some_time_after_the_first_failure() -> None:
    with pytest.raises(CallFailed, match=r"broken, 3 attempts.*raise outage_patience"):
        insisted(spec(outage_patience=600), 400, *[Retryable("broken")] * 9)


def test_rate_limits_and_outages_have_their_own_patience() -> None:
    limited = Retryable("429", Kind.RATE_LIMIT, retry_after=500)
    patient = spec(outage_patience=60, patience=600)
    assert insisted(patient, 1, Retryable("broken"), limited, Retryable("broken")) == "done"
    assert insisted(patient, 500, limited) == "done"
    with pytest.raises(CallFailed, match=r"429, 3 attempts.*raise patience"):
        insisted(patient, 1, *[limited] * 9)
