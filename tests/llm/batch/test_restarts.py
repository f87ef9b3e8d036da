"""What an earlier run sent is found at the endpoint, whatever it was doing when it ended."""

import asyncio
from collections.abc import Callable, Iterator

import pytest

from recjury.errors import CallFailed
from recjury.llm.batch.spec import BatchModelSpec
from tests.batch_server import BatchEndpoint
from tests.llm.batch.test_batches import asked, complete, gateway_of, passed, right, spec_of, texts
from tests.llm.doubles import MemoryRecorder
from tests.scripted_server import prompt


@pytest.fixture
def endpoint() -> Iterator[BatchEndpoint]:
    with BatchEndpoint(lambda body: f"to {prompt(body)}") as running:
        yield running


def broken_off(
    spec: BatchModelSpec,
    count: int,
    recorder: MemoryRecorder,
    when: Callable[[], bool],
) -> None:
    """A run of so many calls that ends as soon as `when` holds."""

    async def run() -> None:
        async with gateway_of(spec, recorder) as gateway:
            calls = [asyncio.create_task(gateway.complete(asked(n))) for n in range(count)]
            await passed(when)
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)

    asyncio.run(run())


def test_a_batch_under_way_is_waited_for(
    endpoint: BatchEndpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    recorder = MemoryRecorder()
    endpoint.held.clear()
    broken_off(spec_of(endpoint), 50, recorder, lambda: endpoint.polls > 0)
    assert "batches go on at the endpoint" in capsys.readouterr().err
    assert recorder.calls == {}
    endpoint.held.set()
    assert texts(complete(spec_of(endpoint), 50, recorder)) == right(50)
    assert endpoint.sizes == [50]
    assert set(endpoint.read.values()) == {1}
    assert endpoint.files == {}


@pytest.mark.parametrize("size", [7, 1000])
def test_whatever_grouping_the_next_run_chooses(endpoint: BatchEndpoint, size: int) -> None:
    recorder = MemoryRecorder()
    endpoint.held.clear()
    spec = spec_of(endpoint, batch_size=20)
    broken_off(spec, 50, recorder, lambda: len(endpoint.batches) == 3)
    endpoint.held.set()
    assert texts(complete(spec_of(endpoint, batch_size=size), 60, recorder)) == right(60)
    assert max(endpoint.processed.values()) == 1
    assert sum(endpoint.sizes) == 60


def test_a_batch_that_ended_while_nobody_waited_is_read(endpoint: BatchEndpoint) -> None:
    recorder = MemoryRecorder()
    broken_off(spec_of(endpoint, poll=60), 50, recorder, lambda: len(endpoint.batches) == 1)
    assert texts(complete(spec_of(endpoint), 50, recorder)) == right(50)
    assert endpoint.sizes == [50]
    assert endpoint.files == {}


def test_a_run_that_ended_while_it_read_goes_on(endpoint: BatchEndpoint) -> None:
    recorder = MemoryRecorder()
    broken_off(spec_of(endpoint), 500, recorder, lambda: len(recorder.calls) > 50)
    kept = len(recorder.calls)
    assert texts(complete(spec_of(endpoint), 500, recorder)) == right(500)
    assert 50 < kept <= 500
    assert endpoint.sizes == [500]
    assert endpoint.files == {}


def test_an_expired_batch_is_read_and_the_rest_is_sent_again(endpoint: BatchEndpoint) -> None:
    recorder = MemoryRecorder()
    endpoint.faults.expired = 20
    broken_off(spec_of(endpoint, poll=60), 50, recorder, lambda: len(endpoint.batches) == 1)
    assert texts(complete(spec_of(endpoint), 50, recorder)) == right(50)
    assert endpoint.sizes == [50, 20]


def test_nothing_is_sent_before_it_is_known_what_a_batch_has(endpoint: BatchEndpoint) -> None:
    recorder = MemoryRecorder()
    endpoint.faults.inputs_hidden = True
    endpoint.held.clear()
    broken_off(spec_of(endpoint), 50, recorder, lambda: endpoint.polls > 0)
    (refused,) = {str(error) for error in complete(spec_of(endpoint), 60, recorder)}
    assert "which is under way, cannot be read: run again when it has ended" in refused
    endpoint.held.set()
    (batch,) = endpoint.batches.values()
    endpoint._end(batch)
    assert texts(complete(spec_of(endpoint), 60, recorder)) == right(60)
    assert endpoint.sizes == [50, 10]


def test_batches_on_later_pages_are_found(endpoint: BatchEndpoint) -> None:
    recorder = MemoryRecorder()
    first = spec_of(endpoint, batch_size=1, batches=100, poll=60)
    broken_off(first, 130, recorder, lambda: len(endpoint.batches) > 99)
    sent = len(endpoint.batches)
    assert texts(complete(spec_of(endpoint), 130, recorder)) == right(130)
    assert max(endpoint.processed.values()) == 1
    assert len(endpoint.batches) <= sent + 1


def test_batches_of_other_models_and_programs_are_left_alone(endpoint: BatchEndpoint) -> None:
    complete(spec_of(endpoint, name="other", keep_files=True), 5)
    for batch in endpoint.batches.values():
        batch.metadata["recjury_model"] = "another"
    assert texts(complete(spec_of(endpoint), 5)) == right(5)
    assert endpoint.sizes == [5, 5]
    assert len(endpoint.files) == 2


def test_an_endpoint_that_stays_away_loses_nothing(endpoint: BatchEndpoint) -> None:
    recorder = MemoryRecorder()
    endpoint.faults.polls_failing = 10_000
    found = complete(spec_of(endpoint, outage_patience=0.5), 5, recorder)
    assert all(isinstance(each, CallFailed) for each in found)
    assert "cannot ask for batch batch-" in str(found[0])
    endpoint.faults.polls_failing = 0
    assert texts(complete(spec_of(endpoint), 5, recorder)) == right(5)
    assert endpoint.sizes == [5]
