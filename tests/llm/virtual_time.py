"""An event loop whose time is virtual: sleeps take no time, and calls come in the order of time."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _SkippingSelector(selectors.DefaultSelector):
    """Moves the time instead of waiting."""

    time = 1000.0

    def select(self, timeout: float | None = None) -> Any:
        """What is ready now; if nothing is, the time moves to the next event."""
        ready = super().select(0)
        if not ready:
            if timeout is None:
                raise RuntimeError("everything waits, and nothing will happen")
            self.time += max(0.0, timeout)
        return ready


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._skipping = _SkippingSelector()
        super().__init__(self._skipping)

    def time(self) -> float:
        """The virtual time."""
        return self._skipping.time


class LoopClock:
    """The clock of the running event loop."""

    def now(self) -> float:
        """Its time."""
        return asyncio.get_running_loop().time()

    def wall(self) -> float:
        """The same, as wall time."""
        return self.now()

    async def sleep(self, seconds: float) -> None:
        """Wait, in its time."""
        await asyncio.sleep(seconds)


def run_virtually(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, in virtual time."""
    with asyncio.Runner(loop_factory=_VirtualLoop) as runner:
        return runner.run(work)
