"""Judging in batches is killed while it sends, waits and reads: all is read, nothing sent twice."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.batch_judging import BatchJudging
from tests.batch_server import BatchEndpoint


@pytest.fixture
def endpoint() -> Iterator[BatchEndpoint]:
    with BatchEndpoint(lambda _: "It was good. <rating>3</rating>") as running:
        yield running


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_killed_while_sending_waiting_and_reading(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    judging = BatchJudging(tmp_path, endpoint, 50)
    endpoint.faults.creations_hanging = 1
    assert judging.run(endpoint.hanging.is_set).code == -9
    assert (endpoint.uploads, endpoint.sizes) == (1, [])

    endpoint.held.clear()
    assert judging.run(lambda: endpoint.polls > 1).code == -9
    assert endpoint.sizes == [judging.requests]

    endpoint.held.set()
    assert judging.run(lambda: judging.stored > 20).code == -9
    assert 20 < judging.stored < judging.requests

    ended = judging.run()
    assert ended.code == 0, ended.err
    assert judging.stored == judging.requests
    assert endpoint.sizes == [judging.requests]
    assert set(endpoint.processed.values()) == {1}
    assert set(endpoint.read) == set(endpoint.processed)
    (name,) = endpoint.files  # uploaded at first, and never made a batch of
    assert name == "file-1"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_an_interrupt_leaves_the_batch_and_says_so(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    judging = BatchJudging(tmp_path, endpoint, 5)
    endpoint.held.clear()
    ended = judging.run(lambda: endpoint.polls > 1, how=signal.SIGINT)
    assert ended.code == 130
    assert "batches go on at the endpoint" in ended.err
    assert "run the same command" in ended.err
    assert "batch 1 of 1: " in ended.err
    assert "of 30 done" in ended.err
    endpoint.held.set()
    assert judging.run().code == 0
    assert endpoint.sizes == [30]
