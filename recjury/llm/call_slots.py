"""Which waiting call is sent next, within three limits: of its endpoint, of its part, of them all.

A call is given all three slots at the same time. While it waits for one of them it holds none of
the others, so an endpoint or a part that is full or paused takes nothing from the rest.
"""

import asyncio
from collections import deque
from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

from recjury.llm.adaptive_concurrency import AdaptiveConcurrency

Part = Literal["simulator", "judges", "systems"]
"""The part of a campaign that asks: the simulated user, evaluators, or systems under test."""

PARTS: tuple[Part, ...] = get_args(Part)


def part_of(purpose: str) -> Part:
    """The part that asks, by the purpose of its request."""
    if purpose.startswith("simulator/"):
        return "simulator"
    return "systems" if purpose.startswith(("system/", "embedding")) else "judges"


QUIET_SECONDS = 0.25
"""An endpoint that refuses none of its first requests for so long may get more."""


class _WaitingCall(NamedTuple):
    order: int
    is_next: asyncio.Future[None]


class EndpointSlots:
    """The open requests at one endpoint, and how many there may be.

    `most` is the most that may be learned, however many calls there may be in total; None if that
    total alone limits it.
    """

    __slots__ = ("concurrency", "is_watched", "most", "open", "queues")

    def __init__(self, concurrency: AdaptiveConcurrency):
        """`concurrency` has the limit."""
        self.concurrency = concurrency
        self.most: int | None = None
        self.open = 0
        self.is_watched = False  # whether its first answers are waited for
        self.queues: dict[Part, CallQueue] = {}

    @property
    def waiting(self) -> int:
        """How many calls wait for a slot."""
        return sum(len(queue.waiting) for queue in self.queues.values())

    def limit_to(self, total: int) -> None:
        """Learn no more than `most`, and no more than `total`; a fixed number may exceed it."""
        most = total if self.most is None else self.most
        if not self.concurrency.is_fixed:
            self.concurrency.change_most(min(most, total))
        elif self.most is not None:
            self.concurrency.change_most(self.most)


class PartSlots:
    """The open requests of one part; `most` is None if there is no limit."""

    __slots__ = ("most", "open")

    def __init__(self, most: int | None = None):
        """Without `most`, only the other limits apply."""
        self.most = most
        self.open = 0


class CallQueue:
    """The calls of one part to one endpoint that wait for their slots, in order."""

    __slots__ = ("endpoint", "part", "waiting")

    def __init__(self, endpoint: EndpointSlots, part: PartSlots):
        """A queue without calls."""
        self.endpoint, self.part = endpoint, part
        self.waiting: deque[_WaitingCall] = deque()


class CallSlots:
    """Gives slots to calls: in order within an endpoint; between endpoints to the one with the
    fewest open requests.

    If there are several endpoints, a part of all slots is kept free for each, so that one whose
    replies take long cannot hold them all.
    """

    def __init__(self, most: int, parts: Mapping[Part, int] | None = None):
        """`most` requests may be open in total, and so many of each of `parts`."""
        self._most = most
        self._open = 0
        self._parts = {part: PartSlots((parts or {}).get(part)) for part in PARTS}
        self._endpoints: list[EndpointSlots] = []
        self._queues: list[CallQueue] = []
        self._kept = 0  # slots that are kept free for each other endpoint
        self._waiting = 0
        self._last = self._first = 0  # the order of the calls at both ends of the queues

    @property
    def most(self) -> int:
        """How many requests may be open in total."""
        return self._most

    @property
    def part_limits(self) -> dict[Part, int | None]:
        """How many requests of each part may be open."""
        return {part: slots.most for part, slots in self._parts.items()}

    def add_endpoint(
        self, concurrency: AdaptiveConcurrency, *, takes_slots: bool = True
    ) -> EndpointSlots:
        """The slots of one endpoint more, which has that limit; whether its calls take slots."""
        endpoint = EndpointSlots(concurrency)
        for part, slots in self._parts.items():
            queue = endpoint.queues[part] = CallQueue(endpoint, slots)
            self._queues.append(queue)
        if takes_slots:
            self._endpoints.append(endpoint)
            self._share()
        return endpoint

    def change(
        self,
        most: int | None = None,
        parts: Mapping[Part, int | None] | None = None,
        endpoints: Mapping[EndpointSlots, int] | None = None,
    ) -> None:
        """Set other limits: in total, of parts, and the most of endpoints; open requests are not
        ended."""
        if most is not None:
            self._most = most
            self._share()
        for endpoint, own in (endpoints or {}).items():
            endpoint.most = own
        for endpoint in (*self._endpoints, *(endpoints or {})):
            endpoint.limit_to(self._most)
        for part, limit in (parts or {}).items():
            self._parts[part].most = limit
        self._hand_out()

    def take(self, queue: CallQueue) -> bool:
        """Take the slots for a call of `queue` if they are free, and no call waits before it."""
        if queue.waiting or not self._has_room(queue):
            return False
        self._count(queue, 1)
        return True

    async def wait(self, queue: CallQueue, *, ahead: bool = False) -> None:
        """Wait for the slots at the end of `queue` or, with `ahead`, at its head.

        Retried calls wait at the head, because they started before all waiting calls.
        """
        mine = asyncio.get_running_loop().create_future()
        if ahead:
            self._first -= 1
            queue.waiting.appendleft(_WaitingCall(self._first, mine))
        else:
            self._last += 1
            queue.waiting.append(_WaitingCall(self._last, mine))
        self._waiting += 1
        if self._has_room(queue):  # those before it have been cancelled
            self._hand_out()
        self._watch(queue.endpoint)
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():
                self.release(queue)  # cancelled after it was given the slots
            raise

    def release(self, queue: CallQueue) -> None:
        """Give the slots back; they go to the calls that may be sent next."""
        self._count(queue, -1)
        if self._waiting:
            self._hand_out()

    def _watch(self, endpoint: EndpointSlots) -> None:
        """Open more requests at an endpoint that stays quiet; models often take many seconds."""
        is_full = endpoint.open >= endpoint.concurrency.limit
        if endpoint.concurrency.is_unanswered and is_full and not endpoint.is_watched:
            endpoint.is_watched = True
            loop = asyncio.get_running_loop()
            loop.call_later(QUIET_SECONDS, self._open_more, endpoint)

    def _open_more(self, endpoint: EndpointSlots) -> None:
        endpoint.is_watched = False
        if endpoint.concurrency.is_unanswered:
            endpoint.concurrency.raise_unanswered()
            self._hand_out()
            self._watch(endpoint)

    def _hand_out(self) -> None:
        while self._waiting:
            best: tuple[int, int] | None = None
            chosen = None
            for queue in self._queues:
                while queue.waiting and queue.waiting[0].is_next.done():  # it was cancelled
                    queue.waiting.popleft()
                    self._waiting -= 1
                if queue.waiting and self._has_room(queue):
                    rank = (queue.endpoint.open, queue.waiting[0].order)
                    if best is None or rank < best:
                        best, chosen = rank, queue
            if chosen is None:
                return
            first = chosen.waiting.popleft()
            self._waiting -= 1
            self._count(chosen, 1)
            first.is_next.set_result(None)

    def _has_room(self, queue: CallQueue) -> bool:
        endpoint, part = queue.endpoint, queue.part
        if self._open >= self._most or endpoint.open >= endpoint.concurrency.limit:
            return False
        if part.most is not None and part.open >= part.most:
            return False
        if not self._kept:
            return True
        kept = sum(
            self._kept - other.open
            for other in self._endpoints
            if other is not endpoint and other.open < self._kept
        )
        return self._open + kept < self._most

    def _count(self, queue: CallQueue, change: int) -> None:
        queue.endpoint.open += change
        queue.part.open += change
        self._open += change

    def _share(self) -> None:
        many = len(self._endpoints)
        self._kept = self._most // (2 * many) if many > 1 else 0
