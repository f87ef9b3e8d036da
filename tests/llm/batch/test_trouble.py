"""A full queue and broken uploads are outlasted, and patience begins with the trouble."""

import asyncio
from collections.abc import Iterator

import pytest

from recjury.errors import CallFailed
from recjury.llm.batch.persistence import Persistence
from recjury.llm.batch.queue_room import QueueRoom
from recjury.llm.batch.request_file import FileLimits, RequestFile
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


def file_of(count: int) -> RequestFile:
    """A file of so many requests, which is not sent."""
    file = RequestFile()
    for number in range(count):
        file.add(str(number), b"a line of 20 bytes.\n")
    file.close()
    return file


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


def test_files_grow_again_after_a_full_queue(endpoint: BatchEndpoint) -> None:
    endpoint.faults.refused_batches = [[FULL]] * 7
    assert texts(complete(spec_of(endpoint, batches=1), 400)) == right(400)
    # How many calls a file has gathered depends on what else the machine does; its limit does not.
    assert max(endpoint.sizes[7:]) > min(endpoint.sizes[:7])
    assert max(endpoint.processed.values()) == 1


def test_files_wait_undivided_while_own_batches_are_under_way() -> None:
    limits, clock = FileLimits(400, 10**6), FakeClock()
    room = QueueRoom(spec(poll=60), limits, clock)

    async def wait() -> float:
        begun = clock.now()
        for _ in range(200):
            assert room.refused(file_of(400), others=1)
            await room.wait()
        return clock.now() - begun

    assert asyncio.run(wait()) == 200 * 600
    assert limits.requests == 400


def test_a_queue_that_stays_full_is_given_up_after_a_day() -> None:
    limits, clock = FileLimits(400, 10**6), FakeClock()
    room = QueueRoom(spec(poll=60), limits, clock)

    async def wait() -> list[int]:
        sizes = [400]
        while room.refused(file_of(sizes[-1]), others=0):
            await room.wait()
            sizes.append(limits.requests)
            assert len(sizes) < 1000
        return sizes

    sizes = asyncio.run(wait())
    assert sizes[:5] == [400, 200, 100, 50, 25]
    assert clock.waits[0] > 0
    assert sum(clock.waits) == pytest.approx(DAY)
    assert len(sizes) < 200


def test_limits_grow_with_what_was_accepted_up_to_what_was_too_large() -> None:
    limits = FileLimits(400, 10**6)
    limits.halve(file_of(400), for_good=True)
    limits.halve(file_of(200))
    limits.halve(file_of(100))
    assert limits.requests == 50
    limits.grow(file_of(10))
    assert limits.requests == 50
    limits.grow(file_of(50))
    assert (limits.requests, limits.grown) == (100, 1)
    limits.grow(file_of(100))
    limits.grow(file_of(200))
    assert limits.requests == 200


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


def insist(spec: BatchModelSpec, seconds: float, *problems: Retryable) -> str:
    """The result of a troubled action, which is insisted on."""
    clock = FakeClock()
    action = Troubled(clock, seconds, *problems)
    return asyncio.run(Persistence(spec, clock).insist("send a batch", action))


def test_a_long_upload_that_breaks_once_is_tried_again() -> None:
    assert insist(spec(outage_patience=600), 900, Retryable("broken")) == "done"


def test_patience_ends_some_time_after_the_first_failure() -> None:
    with pytest.raises(CallFailed, match=r"broken, 3 attempts.*raise outage_patience"):
        insist(spec(outage_patience=600), 400, *[Retryable("broken")] * 9)


def test_rate_limits_and_outages_have_their_own_patience() -> None:
    limited = Retryable("429", Kind.RATE_LIMIT, retry_after=500)
    patient = spec(outage_patience=60, patience=600)
    assert insist(patient, 1, Retryable("broken"), limited, Retryable("broken")) == "done"
    assert insist(patient, 500, limited) == "done"
    with pytest.raises(CallFailed, match=r"429, 3 attempts.*raise patience"):
        insist(patient, 1, *[limited] * 9)
