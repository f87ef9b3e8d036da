"""Open conversations only as far as the budget covers them, so that what was begun is finished.

A trial is a conversation that is left to do, with its evaluations. It opens if the rest of the
budget covers what it needs beside what the open trials still need. What a part of a trial needs is
learned from the finished ones of the campaign; before there are any, it is expected from the
package's own prompts. A trial that opens is not refused later, except if the budget is spent: then
the estimates were too low.
"""

import asyncio
import contextlib
import math
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from recjury.llm import Account, Budget, charged_to

# A part may take more than most: 1.5 standard deviations, but not more than the largest so far.
_DEVIATIONS = 1.5
_MANY = 10
_MARGIN_OF_FEW = 1.1  # times the largest, while fewer than _MANY have finished
# Before any trial has ended, models may take more tokens than expected (they may think, too).
_FIRST_MARGIN = 3.0
_MARGIN_ONCE_SCALED = 1.5
# The share of its needs that an open part still counts, however much it has taken.
_AT_LEAST = 0.1


class PartKind(NamedTuple):
    """What costs are learned for: the conversations with a system, or the evaluations of these
    conversations by the evaluator that is called `label`."""

    system: str
    label: str | None = None


@dataclass
class TrialPart:
    """A part of a trial: a conversation or one of its evaluations.

    `before` is what earlier runs have taken for it. It is `begun` by `CampaignTrial.doing`, and
    `complete` once it is finished without a failure; `ended` also after a failure. It is not
    `counts_for_estimate` if another one did its work.
    """

    kind: PartKind
    before: float = 0.0
    account: Account = field(default_factory=Account)
    begun: bool = False
    complete: bool = False
    ended: bool = False
    counts_for_estimate: bool = True

    @property
    def taken(self) -> float:
        """What was spent for it, in all runs."""
        return self.before + self.account.spent


class BudgetShortfall(NamedTuple):
    """What the budget did not cover: conversations that were `not_begun` or `broken_off`.

    `needed` is an estimate of what they still take; it, `spent` and `limit` are in `unit`.
    """

    whole: int
    planned: int
    not_begun: int
    broken_off: int
    needed: float
    spent: float
    limit: float
    unit: str

    @property
    def text(self) -> str:
        """In one line."""
        parts = [f"{self.not_begun:,} not begun"] if self.not_begun else []
        parts += [f"{self.broken_off:,} broken off"] if self.broken_off else []
        raised = _shown(self.spent + self.needed, self.unit)
        return (
            f"budget of {_shown(self.limit, self.unit)}: {_shown(self.spent, self.unit)} spent; "
            f"{self.whole:,} of {self.planned:,} conversations are whole, {' and '.join(parts)}; "
            f"these need about {_shown(self.needed, self.unit)}: raise the budget to about "
            f"{raised} and run again"
        )


class Needs:
    """Estimates of what parts take, from what finished ones took."""

    def __init__(self, expected: Callable[[PartKind], float]):
        """`expected` is used for kinds of which no part has finished."""
        self._expected = expected
        self._seen: dict[PartKind, _Seen] = {}
        self._scales: dict[str | None, _Scale] = {}

    def learn(self, kind: PartKind, taken: float) -> None:
        """A part of this kind took so much in all; nothing if its calls were shared with others."""
        if not taken and self._expected(kind):
            return
        self._seen.setdefault(kind, _Seen()).add(taken)
        scale = self._scales.setdefault(kind.label, _Scale())
        scale.taken += taken
        scale.expected += self._expected(kind)

    def knows(self, kind: PartKind) -> bool:
        """Whether a part of this kind has finished, or needs no calls."""
        return kind in self._seen or not self._expected(kind)

    def mean(self, kind: PartKind) -> float:
        """What a part takes on average."""
        seen = self._seen.get(kind)
        return self._foreseen(kind, 1.0, 1.0) if seen is None else seen.mean

    def at_most(self, kind: PartKind) -> float:
        """What is kept for a part: its mean and a margin."""
        seen = self._seen.get(kind)
        if seen is None:
            return self._foreseen(kind, _FIRST_MARGIN, _MARGIN_ONCE_SCALED)
        if seen.count < _MANY:
            return _MARGIN_OF_FEW * seen.largest
        return min(seen.mean + _DEVIATIONS * seen.deviation, seen.largest)

    def _foreseen(self, kind: PartKind, alone: float, scaled: float) -> float:
        """What is expected, as much more or less as in the parts with other systems."""
        scale = self._scales.get(kind.label)
        if scale is None or not scale.expected:
            return alone * self._expected(kind)
        return scaled * self._expected(kind) * scale.taken / scale.expected


@dataclass
class _Scale:
    taken: float = 0.0
    expected: float = 0.0


@dataclass
class _Seen:
    count: int = 0
    mean: float = 0.0
    squares: float = 0.0
    largest: float = 0.0

    def add(self, value: float) -> None:
        self.count += 1
        off = value - self.mean
        self.mean += off / self.count
        self.squares += off * (value - self.mean)
        self.largest = max(self.largest, value)

    @property
    def deviation(self) -> float:
        return math.sqrt(self.squares / self.count)


class CampaignTrial:
    """A conversation that is left to do, and its evaluations."""

    def __init__(self, parts: Iterable[TrialPart], needs: Needs, changed: Callable[[], None]):
        """`changed` is called whenever a part has ended."""
        self.parts = tuple(parts)
        self._needs, self._changed = needs, changed
        self.is_opened = False

    @property
    def system(self) -> str:
        """The name of the conversation's system."""
        return self.parts[0].kind.system

    @property
    def is_new(self) -> bool:
        """Whether it has a part that nothing is known of."""
        return not all(p.complete or self._needs.knows(p.kind) for p in self.parts)

    @property
    def is_whole(self) -> bool:
        """Whether all parts are complete."""
        return all(part.complete for part in self.parts)

    @property
    def was_begun(self) -> bool:
        """Whether earlier runs have spent something on it."""
        return any(part.before for part in self.parts)

    def still_needs(self) -> float:
        """What the parts that have not ended need, with a margin."""
        left = (p for p in self.parts if not (p.ended or p.complete))
        return sum(_rest(self._needs.at_most(p.kind), p) for p in left)

    def missing(self) -> float:
        """What the parts that are not complete take on average."""
        return sum(_rest(self._needs.mean(p.kind), p) for p in self.parts if not p.complete)

    @contextlib.contextmanager
    def doing(self, kind: PartKind) -> Iterator[TrialPart]:
        """Do the next part of this kind: its calls are charged to it. Mark it `complete`."""
        part = next(p for p in self.parts if p.kind == kind and not p.begun)
        part.begun = True
        part.counts_for_estimate = not part.complete
        try:
            with charged_to(part.account):
                yield part
        finally:
            part.ended = True
            if part.complete and part.counts_for_estimate:
                self._needs.learn(kind, part.taken)
            self._changed()


def _rest(need: float, part: TrialPart) -> float:
    return max(need - part.taken, _AT_LEAST * need)


class BudgetScheduler:
    """Opens trials in the order in which they ask. Without a budget, all open at once."""

    def __init__(self, budget: Budget | None, expected: Callable[[PartKind], float]):
        """`expected` estimates what a part takes, in the budget's unit."""
        self._budget = budget if budget is not None and budget.limit is not None else None
        self.needs = Needs(cache(expected))
        self._open: set[CampaignTrial] = set()
        self._waiting: deque[tuple[CampaignTrial, asyncio.Future[bool]]] = deque()
        self._broken_off: list[CampaignTrial] = []
        self._not_begun: Counter[PartKind] = Counter()
        self._left_out = 0

    @property
    def limits(self) -> bool:
        """Whether there is a budget."""
        return self._budget is not None

    @property
    def in_tokens(self) -> bool:
        """Whether the budget is in tokens, not in dollars."""
        return self._budget is not None and self._budget.unit == "tokens"

    def trial(self, parts: Iterable[TrialPart]) -> CampaignTrial:
        """A trial of these parts."""
        return CampaignTrial(parts, self.needs, self._admit)

    @contextlib.asynccontextmanager
    async def opened(self, trial: CampaignTrial) -> AsyncIterator[bool]:
        """Wait until the trial opens; False if the budget does not cover it."""
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((trial, answer))
        self._admit()
        trial.is_opened = await answer
        try:
            yield trial.is_opened
        finally:
            self._open.discard(trial)
            self._keep_count(trial)
            self._admit()

    def _keep_count(self, trial: CampaignTrial) -> None:
        """Count a trial that the budget did not cover; those that are whole are forgotten."""
        if self._budget is None or trial.is_whole:
            return
        if trial.is_opened or trial.was_begun:
            self._broken_off.append(trial)
            return
        self._left_out += 1
        self._not_begun.update(part.kind for part in trial.parts if not part.complete)

    def shortfall(self, planned: int) -> BudgetShortfall | None:
        """What the budget did not cover of `planned` conversations; None if it covered all."""
        budget = self._budget
        if budget is None or budget.limit is None:
            return None
        broken_off = sum(trial.is_opened for trial in self._broken_off)
        not_begun = self._left_out + len(self._broken_off) - broken_off
        if not not_begun and not budget.is_reached:
            return None
        return BudgetShortfall(
            whole=planned - not_begun - broken_off,
            planned=planned,
            not_begun=not_begun,
            broken_off=broken_off,
            needed=sum(trial.missing() for trial in self._broken_off)
            + sum(self.needs.mean(kind) * count for kind, count in self._not_begun.items()),
            spent=budget.spent,
            limit=budget.limit,
            unit=budget.unit,
        )

    def _admit(self) -> None:
        while self._waiting:
            trial, answer = self._waiting[0]
            if answer.done():  # cancelled
                self._waiting.popleft()
            elif self._fits(trial):
                self._waiting.popleft()
                self._open.add(trial)
                answer.set_result(True)
            elif self._open:
                return  # a trial that ends may leave something
            else:
                self._waiting.popleft()
                answer.set_result(False)

    def _fits(self, trial: CampaignTrial) -> bool:
        if self._budget is None:
            return True
        needed = trial.still_needs()
        rest = self._budget.rest - sum(each.still_needs() for each in self._open)
        if not needed or needed <= rest:
            return True
        # What nothing is known of is tried, one trial at a time.
        return trial.is_new and not self._open and rest > 0


def _shown(amount: float, unit: str) -> str:
    return f"{amount:,.0f} tokens" if unit == "tokens" else f"{amount:.4g} USD"
