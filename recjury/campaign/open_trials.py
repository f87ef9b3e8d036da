"""How many trials of a run are open at once.

For models that answer in seconds, it is twice as many as calls. Models that answer in batches need
more: a batch is filled by the calls of many trials, which all wait until it is over.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator

from recjury.llm import Gateway

_TOGETHER = 64
"""So many trials make their calls before it is looked whether there is room for more."""
_LOOK_AGAIN = 0.05
"""Seconds after which new trials have made their calls, or old ones have ended."""


class OpenTrials:
    """Lets trials in, in the order in which they ask.

    With a model that answers in batches, trials beyond `most` open as long as its batches have
    room; at most `most` of them play their conversations.
    """

    def __init__(self, gateway: Gateway | None, concurrency: int):
        """`concurrency` is the number of calls at once."""
        # Twice as many: one may write while another calls a model.
        self._most = max(1, 2 * concurrency)
        self._gateway = gateway if gateway is not None and gateway.defers else None
        self._open = 0
        self._playing = 0
        self._turn = asyncio.Lock()
        self._let_in = 0

    def at_once(self, trials: int) -> int:
        """The most of so many trials that may be open, at least 1."""
        most = self._most
        if self._gateway is not None:
            most = max(most, self._gateway.most_deferred)
        return max(1, min(trials, most))

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Wait until the trial may open."""
        if self._gateway is not None:
            async with self._turn:
                await self._wait_for_room(self._gateway)
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1

    @contextlib.contextmanager
    def playing(self) -> Iterator[None]:
        """Play the conversation of an open trial."""
        self._playing += 1
        try:
            yield
        finally:
            self._playing -= 1

    async def _wait_for_room(self, gateway: Gateway) -> None:
        self._let_in += 1
        if self._open >= self._most and self._let_in % max(self._most, _TOGETHER) == 0:
            await asyncio.sleep(_LOOK_AGAIN)
        while not self._has_room(gateway):  # noqa: ASYNC110 (many things make room)
            await asyncio.sleep(_LOOK_AGAIN)

    def _has_room(self, gateway: Gateway) -> bool:
        if self._open < self._most:
            return True
        return gateway.has_room and self._playing < self._most
