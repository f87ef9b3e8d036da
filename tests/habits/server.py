"""The scripts of `ScriptedEndpoint`: a habit alone, or all of them mixed."""

import random
import time
from collections import Counter
from collections.abc import Iterable

from tests.habits import answers, endpoints, errors, reasoning, speech, transport
from tests.habits.habit import HABITS, Habit
from tests.habits.meaning import honest, meaning
from tests.scripted_server import Answer, Body, fingerprint

__all__ = ["Alone", "Mixed", "mixable"]

_MODULES = (reasoning, answers, speech, transport, errors, endpoints)  # they fill HABITS

_A_WHILE, _BEFORE_A_WHILE = 0.5, 12  # seconds, and how many requests are answered before


class Alone:
    """Answers with one habit wherever it applies, in the trials that `about` names.

    `about` is a text that only the requests of these trials have; without it, all have the habit.
    `spoiled` counts the answers with the habit.
    """

    def __init__(self, habit: Habit, about: str = ""):
        """The habit, and the trials that it spoils."""
        self._habit = habit
        self._about = about
        self._seen: Counter[str] = Counter()
        self._until = 0.0
        self.spoiled = 0

    def __call__(self, body: Body) -> Answer:
        """The answer to a request."""
        meant = meaning(body)
        applies = meant.kind in self._habit.on
        if applies and not self._habit.lasting:
            applies = self._about in meant.asked
        if applies:
            self._seen[fingerprint(body)] += 1
            applies = self._is_time(self._seen[fingerprint(body)])
        spoiled = self._habit.spoil(meant, body) if applies else None
        if spoiled is None:
            return honest(meant, body)
        self.spoiled += 1
        return spoiled

    def _is_time(self, times: int) -> bool:
        """Whether the habit shows at a request that came for the `times`-th time."""
        if self._habit.when == "first":
            return times == 1
        if self._habit.when == "a while" and self._seen.total() >= _BEFORE_A_WHILE:
            now = time.monotonic()
            self._until = self._until or now + _A_WHILE
            return now < self._until
        return self._habit.when == "always"


def mixable(habits: Iterable[Habit] = HABITS.values()) -> list[Habit]:
    """The habits that a reply may have by chance, and not those of an endpoint as a whole."""
    return [habit for habit in habits if not habit.lasting]


class Mixed:
    """Answers a share of all requests with a habit drawn by chance, and always the same one.

    What is drawn depends on the request and on how often it came, so it does not depend on the
    order of requests. `spoiled` counts by habit.
    """

    def __init__(self, share: float, seed: int = 0):
        """The share of all answers that have a habit."""
        self._share, self._seed = share, seed
        self._habits = mixable()
        self._seen: Counter[str] = Counter()
        self.spoiled: Counter[str] = Counter()

    def __call__(self, body: Body) -> Answer:
        """The answer to a request."""
        meant = meaning(body)
        if meant.kind == "check":
            return honest(meant, body)
        key = fingerprint(body)
        self._seen[key] += 1
        chance = random.Random(f"{self._seed} {key} {self._seen[key]}")
        if chance.random() >= self._share:
            return honest(meant, body)
        usable = [habit for habit in self._habits if meant.kind in habit.on]
        chance.shuffle(usable)
        for habit in usable:
            answer = habit.spoil(meant, body)
            if answer is not None:
                self.spoiled[habit.name] += 1
                return answer
        return honest(meant, body)
