"""The writer's thread breaking down: whoever waits, or comes later, is told."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from recjury.errors import StoreError
from recjury.store.column_types import WrongTypeError
from recjury.store.sqlite_file import SqliteFile
from recjury.store.writer import Transaction, Writer


def _keep(_: Transaction, __: Sequence[int]) -> None:
    """Nothing to write."""


def _break_down(_: Transaction, __: Sequence[int]) -> None:
    raise SystemExit("broken")


def _refuse_1(_: Transaction, numbers: Sequence[int]) -> None:
    if 1 in numbers:
        raise WrongTypeError("the store has b'x', expected text")


async def _submit(writer: Writer, *works: object) -> list[BaseException | None]:
    async with asyncio.timeout(20):
        waiting = (writer.submit(work, n) for n, work in enumerate(works))  # type: ignore[arg-type]  # any work
        return await asyncio.gather(*waiting, return_exceptions=True)


def test_a_store_that_cannot_be_opened_fails_all_that_is_submitted(tmp_path: Path) -> None:
    place = SqliteFile(tmp_path / "missing" / "runs.db")
    writer = Writer(place, place.connect())
    for _ in range(2):  # at once, and long after the thread has seen it
        for error in asyncio.run(_submit(writer, _keep, _keep, _keep)):
            assert isinstance(error, StoreError)
            assert "unable to open database file: the folder must exist" in str(error)
    writer.close()


def test_one_item_with_an_altered_row_fails_alone(tmp_path: Path) -> None:
    place = SqliteFile(tmp_path / "runs.db")
    engine = place.connect()
    writer = Writer(place, engine, window=0.2)
    first, second, third = asyncio.run(_submit(writer, *[_refuse_1] * 3))
    assert (first, third) == (None, None)
    assert isinstance(second, WrongTypeError)
    writer.close()
    engine.dispose()


def test_a_thread_that_breaks_down_leaves_nobody_waiting(tmp_path: Path) -> None:
    place = SqliteFile(tmp_path / "runs.db")
    engine = place.connect()
    writer = Writer(place, engine)
    assert asyncio.run(_submit(writer, _keep)) == [None]
    for error in asyncio.run(_submit(writer, _keep, _break_down, _keep)):
        assert isinstance(error, StoreError)
    with pytest.raises(StoreError, match="can no longer be written: SystemExit: broken"):
        asyncio.run(writer.submit(_keep, 1))
    writer.close()
    engine.dispose()


def test_a_breakdown_in_the_last_batch_lets_the_store_be_closed(tmp_path: Path) -> None:
    async def leave(writer: Writer) -> None:
        submitted = asyncio.ensure_future(writer.submit(_break_down, 1))
        await asyncio.sleep(0)  # handed over
        writer.close()
        with pytest.raises(StoreError, match="no longer"):
            await submitted

    place = SqliteFile(tmp_path / "runs.db")
    engine = place.connect()
    asyncio.run(leave(Writer(place, engine)))
    engine.dispose()
