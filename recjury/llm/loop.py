"""The event loop that calls run on."""

import asyncio
import gc
from collections.abc import Iterator
from contextlib import contextmanager

# Objects made between two looks of the collector, and looks until one goes deeper. Python's own
# (700, 10, 10) spends a sixth of the time on a heap that a call never turns into garbage.
_RARELY = (10_000, 20, 50)


@contextmanager
def event_loop() -> Iterator[asyncio.Runner]:
    """A runner on uvloop, where there is one, with the garbage collector out of the way.

    What exists already is taken out of its sight, and it looks rarely: what a call leaves behind
    is freed without it, and its pauses hold up all calls in flight. On the way out it is as before.
    """
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_RARELY)
    try:
        with _runner() as runner:
            yield runner
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def _runner() -> asyncio.Runner:
    try:
        import uvloop
    except ImportError:  # not made for Windows
        return asyncio.Runner()
    return asyncio.Runner(loop_factory=uvloop.new_event_loop)
