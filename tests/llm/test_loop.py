"""The event loop that calls run on leaves the process as it was."""

import asyncio
import gc

import pytest

from recjury.llm import event_loop


async def _inside() -> tuple[int, str]:
    return gc.get_threshold()[0], type(asyncio.get_running_loop()).__module__


def test_the_collector_looks_rarely_inside_and_as_before_outside() -> None:
    before = gc.get_threshold()
    with event_loop() as runner:
        first, loop = runner.run(_inside())
        assert gc.get_freeze_count() > 0
    assert first > before[0]
    assert loop.startswith(("uvloop", "asyncio"))
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


def test_an_error_inside_leaves_it_as_before_too() -> None:
    before = gc.get_threshold()

    async def failing() -> None:
        raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"), event_loop() as runner:
        runner.run(failing())
    assert gc.get_threshold() == before
