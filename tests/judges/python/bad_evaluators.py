"""Bad evaluators: each does what its option says instead of rating a log."""

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from recjury.records import ConversationLog, Metric, Rating

LENGTH = Metric(id="length", title="Length", high=10)


def _loop() -> None:
    while True:
        pass


def _eat() -> list[bytes]:
    return [bytes([1]) * (1 << 20) for _ in range(2000)]


def _snoop(place: str) -> None:
    found = []
    for number in range(3, 64):
        try:
            found.append(os.readlink(f"/proc/self/fd/{number}"))
        except OSError:
            continue
    assert not [each for each in found if "runs.db" in each]
    assert "MY_KEY" not in os.environ
    with open(place, "rb") as store:
        store.read()


BAD: Mapping[str, Callable[[], object]] = {
    "sleep": lambda: time.sleep(600),
    "loop": _loop,
    "exit": lambda: sys.exit(3),
    "exit at once": lambda: os._exit(4),
    "crash": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "close descriptors": lambda: os.closerange(0, 256),
    "eat memory": _eat,
    "raise": lambda: 1 / 0,
}


class Bad:
    """Rates a log of which the first text is "fine"; does what that text says for others."""

    metrics = (LENGTH,)

    def __init__(self, place: str = "", corpus: Any = None):
        """`place` is the path of a store."""
        self._place, self._corpus = place, corpus

    def rate(self, log: ConversationLog) -> object:
        """One rating of ten, or something bad."""
        what = log.interaction[0].text
        if what in BAD:
            BAD[what]()
        if what == "store":
            _snoop(self._place)
        if what == "nothing":
            return None
        if what == "above":
            return [Rating.model_construct(evaluator="bad", factor="length", score=11.0, high=20)]
        return [Rating(evaluator="bad", factor="length", score=len(what), high=10)]


class Asking(Bad):
    """One that asks for the gateway."""

    def __init__(self, gateway: object):
        """Take it."""
        super().__init__()
