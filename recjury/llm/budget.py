"""What calls use, and the budget that limits it, in US dollars or in tokens."""

import asyncio
import contextlib
import math
import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, Self

from pydantic import Field, model_validator

from recjury.errors import BudgetSpent, ConfigError
from recjury.llm.call_tokens import worst_tokens
from recjury.llm.provider import Completion
from recjury.llm.spec import ModelSpec
from recjury.logs import get_logger
from recjury.records import ChatRequest, Elsewhere, Ledger, Record

logger = get_logger()

_LOOK_AGAIN = 0.5
"""Seconds until a call that waits for what other processes have reserved asks again."""

# A reply may be larger than all before it. Reserving too much for begun work only makes it wait.
_MARGIN_OF_BEGUN = 2.0
_ALONE_SECONDS = 10.0  # one that is suspended for longer may be taken for dead: others begin

_TOKENS = re.compile(r"\s*([\d_,]*\d)\s*tokens?\s*")


@dataclass(slots=True)
class GatewayUsage:
    """What happened since the gateway was made.

    `calls` were sent and answered; `reused` were answered without being sent; `retried` counts
    further attempts; `failed` calls got no answer. `cost` is in US dollars; it does not include the
    `unpriced` calls, whose models have no prices. Of `estimated` calls the tokens were estimated,
    because the endpoint did not report them. `down` has the endpoints that do not answer at
    the moment, by address, and since when (by the gateway's clock). `deferred` say what is waited
    for by models that answer hours later.
    """

    calls: int = 0
    reused: int = 0
    retried: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    estimated: int = 0
    in_flight: int = 0
    down: dict[str, float] = field(default_factory=dict)
    deferred: list[Callable[[], str]] = field(default_factory=list)

    def add(self, completion: Completion, cost: float | None, *, estimated: bool = False) -> None:
        """Count an answered call; `cost` is None if it is unknown."""
        self.calls += 1
        self.estimated += estimated
        self.prompt_tokens += completion.prompt_tokens
        self.completion_tokens += completion.completion_tokens
        if cost is None:
            self.unpriced += 1
        else:
            self.cost += cost


def cost_text(cost: float | None, unpriced: int = 0) -> str:
    """The cost of calls as a text: `cost` in US dollars, and how many calls have no price."""
    if cost is None or (unpriced and not cost):
        return "cost unknown"
    known = f"${cost:,.4f}"
    if not unpriced:
        return known
    return f"{known} + {unpriced:,} {'call' if unpriced == 1 else 'calls'} without a price"


class BudgetSpec(Record):
    """What a campaign may spend in all its runs: US `dollars`, or `tokens` of prompts and replies.

    Exactly one of the two is set. `parse_budget` shows how it may be written.
    """

    dollars: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    tokens: int | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.dollars is None) == (self.tokens is None):
            raise ValueError("a budget is in `dollars` or in `tokens`: give one of the two")
        return self

    def check(self, models: Mapping[str, ModelSpec]) -> None:
        """Raise ConfigError for a budget in dollars with a model that has no prices."""
        if self.dollars is None:
            return
        for alias, spec in models.items():
            if missing := " and ".join(f"`{name}`" for name in spec.missing_prices):
                raise ConfigError(
                    f"a budget in dollars needs the prices of all models: add {missing} (US "
                    f"dollars per million tokens, 0 if it is free) to the model {alias!r}, or "
                    "give a budget in tokens: `budget: {tokens: 1000000}`"
                )


def parse_budget(value: object) -> object:
    """`value` in the form that BudgetSpec reads: a plain number is in dollars, "50000 tokens" in
    tokens.

    Raises ValueError if `value` is not a budget.
    """
    if value is None or isinstance(value, BudgetSpec | Mapping):
        return value
    if isinstance(value, str) and (tokens := _TOKENS.fullmatch(value)):
        return {"tokens": tokens[1].replace(",", "")}
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        return {"dollars": float(value)}
    except (ValueError, OverflowError):
        raise ValueError(
            f"expected US dollars, such as 2.50, or tokens, such as 50000 tokens, got {value!r}"
        ) from None


class SpentBefore(NamedTuple):
    """What earlier runs have spent: `cost` in US dollars (None: unknown), and `tokens`."""

    cost: float | None = 0.0
    tokens: int = 0


NOTHING_SPENT = SpentBefore()


@dataclass(slots=True)
class Account:
    """What the calls of one piece of work have taken of the budget, for which room was kept."""

    spent: float = 0.0


_account: ContextVar[Account | None] = ContextVar("account", default=None)


@contextlib.contextmanager
def charged_to(account: Account) -> Iterator[None]:
    """Charge the calls of this block to `account`; they may use the budget up to its limit."""
    token = _account.set(account)
    try:
        yield
    finally:
        _account.reset(token)


@dataclass(slots=True, eq=False)
class _Asked:
    """A call that asks the ledger, with the most that it may take, and the answer."""

    worst: float
    fits: bool = False

    @property
    def granted(self) -> float:
        return self.worst * self.fits


class Budget:
    """What calls may spend. For each open call, the most that it may take is reserved.

    If a call fits only when others take less than was reserved for them, it waits until they end.
    If a call cannot fit, BudgetSpent is raised. A call of begun work (`charged_to`) fits as long as
    anything is left: so the last one may exceed the limit, and no other one.

    With a ledger (`share`), all this is true of all processes together. Each has its reservations
    written there, except while it is alone: then all that is left is its own.
    """

    def __init__(self, spec: BudgetSpec | None = None, before: SpentBefore = NOTHING_SPENT):
        """Without a `spec` nothing is refused.

        Raises ConfigError for a budget in dollars if the cost of earlier runs (`before`) is
        unknown.
        """
        self._in_tokens = spec is not None and spec.tokens is not None
        self._limit: float | None = None if spec is None else spec.tokens or spec.dollars
        self._elsewhere = Elsewhere(self._counted(before))
        self._taken = self._reserved = 0.0
        self._reached = False
        self._ledger: Ledger | None = None
        self._alone_until = (
            math.inf
        )  # by the clock on the wall, which goes on in a suspended process
        self._written = 0
        self._asked: list[_Asked] = []
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def limit(self) -> float | None:
        """What may be spent in all runs, in `unit`; None if there is no limit."""
        return self._limit

    @property
    def spent(self) -> float:
        """What was spent in all runs, in `unit`; by other processes, as far as it is known here."""
        return self._elsewhere.spent + self._taken

    @property
    def unit(self) -> str:
        """The unit of all amounts: tokens, or USD."""
        return "tokens" if self._in_tokens else "USD"

    @property
    def rest(self) -> float:
        """This process's part of what is left; negative if the last call exceeded the limit."""
        if self._limit is None:
            return math.inf
        return (self._limit - self.spent) / (1 + self._elsewhere.others)

    @property
    def is_reached(self) -> bool:
        """Whether a call was refused."""
        return self._reached

    def upper_bound(self, request: ChatRequest, spec: ModelSpec, largest: int = 0) -> float:
        """The most that a call is expected to take if such replies had up to `largest` tokens."""
        if self._limit is None:
            return 0.0
        margin = 1.0 if _account.get() is None else _MARGIN_OF_BEGUN
        tokens = worst_tokens(request, spec, margin * largest)
        return sum(tokens) if self._in_tokens else _worst_cost(tokens, spec)

    def taken(self, completion: Completion, cost: float | None) -> float:
        """What a call took; with a budget in dollars its cost is always known."""
        if self._in_tokens:
            return completion.prompt_tokens + completion.completion_tokens
        return cost or 0.0

    async def reserve(self, worst: float) -> None:
        """Reserve `worst` for a call. Raises BudgetSpent if the budget does not cover it."""
        if self._limit is None:
            return
        while not await self._reserved_for(worst):
            if not self._covers(worst, _account.get() is not None, self.spent):
                if not self._reached:  # all later calls reach it too
                    self._reached = True
                    spent, limit = self._shown(self.spent), self._shown(self._limit)
                    logger.info("budget reached", spent=spent, budget=limit)
                raise BudgetSpent(
                    f"budget of {self._shown(self._limit)}: {self._shown(self.spent)} spent, and "
                    f"this call may take {self._shown(worst)}: raise the budget and run again"
                )
            settled = asyncio.get_running_loop().create_future()
            self._waiting.append(settled)
            await asyncio.wait([settled], timeout=None if self._ledger is None else _LOOK_AGAIN)
            settled.cancel()

    async def _reserved_for(self, worst: float) -> bool:
        """Reserve `worst` if that fits beside everything that is reserved; whether it does."""
        covers = partial(self._covers, worst, _account.get() is not None)
        if time.time() < self._alone_until and not self._asked:
            fits = covers(self.spent + self._reserved)
            self._reserved += worst * fits
            return fits
        asked, taken, reserved = _Asked(worst), self._taken, self._all_reserved()

        def reserve(there: Elsewhere) -> float:
            own = reserved()
            asked.fits = covers(there.spent + taken + there.reserved + own)
            return own + asked.granted

        self._asked.append(asked)
        try:
            await self._write(reserve)
            self._reserved += asked.granted
        finally:
            self._asked.remove(asked)
        return asked.fits

    def _all_reserved(self) -> Callable[[], float]:
        """What is reserved now. It is known once those who have asked before have been answered:
        one that waits has nothing reserved, or processes would wait for each other."""
        reserved, before = self._reserved, tuple(self._asked)
        return lambda: reserved + sum(each.granted for each in before)

    def share(self, ledger: Ledger) -> None:
        """Keep to the limit together with other processes, from the next call on."""
        if self._limit is not None:
            self._ledger, self._alone_until = ledger, 0.0

    async def publish(self) -> None:
        """Tell other processes what this one has spent, and no longer reserve more than it needs if
        there are any. Call it every second."""
        if self._ledger is not None and self._written:
            self._alone_until = 0.0  # what fits from here on is not in what is written now
            reserved = self._all_reserved()
            await self._write(lambda _: reserved())

    async def _write(self, reserve: Callable[[Elsewhere], float]) -> None:
        assert self._ledger is not None
        assert self._limit is not None
        self._written += 1
        number, begun = self._written, time.time()
        found = await self._ledger.write(self._taken, self._limit, reserve)
        if number == self._written:  # a later one may have found another process
            self._elsewhere = found
            self._alone_until = 0.0 if found.others else begun + _ALONE_SECONDS

    def settle(self, worst: float, taken: float) -> None:
        """Replace the reserved amount by `taken` (0 for a call that failed)."""
        if self._limit is None:
            return
        self._taken += taken
        account = _account.get()
        if account is not None:
            account.spent += taken
        self._reserved = max(0.0, self._reserved - worst)
        while self._waiting:
            waiting = self._waiting.popleft()
            if not waiting.done():
                waiting.set_result(None)

    def _covers(self, worst: float, is_begun: bool, taken: float) -> bool:
        assert self._limit is not None
        if is_begun:
            return not worst or taken < self._limit
        return taken + worst <= self._limit

    def _counted(self, before: SpentBefore) -> float:
        if self._in_tokens:
            return before.tokens
        if before.cost is None and self._limit is not None:
            raise ConfigError(
                "what earlier runs have spent is unknown in dollars, as a model had no prices: "
                "give a budget in tokens, such as `budget: {tokens: 1000000}`"
            )
        return before.cost or 0.0

    def _shown(self, amount: float) -> str:
        return f"{amount:,.0f} tokens" if self._in_tokens else f"{amount:.6g} USD"


def _worst_cost(tokens: tuple[int, int], spec: ModelSpec) -> float:
    prompt, replied = tokens
    return max(spec.cost(prompt, replied, cached) or 0.0 for cached in (0, prompt))
