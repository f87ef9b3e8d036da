"""One call: found again, shared, sent until something answers, recorded before it is used."""

import asyncio
import copy
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from time import monotonic

from recjury.errors import UserError
from recjury.llm.budget import Budget
from recjury.llm.identity import asks_for_code, identities, new_code
from recjury.llm.limiter import Limiter
from recjury.llm.models import TYPICAL_TOKENS, Model, Provider, Recorder
from recjury.llm.remedies import AttemptError, Dialect
from recjury.records import Completion, Request, Unit

Sleep = Callable[[float], Awaitable[None]]


class Line:
    """A model that is open: its provider, its dialect, and how many may ask at a time."""

    def __init__(self, model: Model, provider: Provider, sleep: Sleep = asyncio.sleep):
        """`sleep` waits between attempts; tests need not."""
        self.model, self.provider, self._sleep = model, provider, sleep
        self.settings = model.reply.model_dump(exclude_defaults=True)
        self.limiter = Limiter(model.concurrency, model.requests_per_minute)
        self.dialect: Dialect = frozenset()
        self._answered = float("-inf")

    async def answer(
        self, calls: Sequence[str], request: Request, code: str
    ) -> Sequence[Completion]:
        """The whole policy of attempts. Raises Refused, CallFailed, or Stop."""
        started_at: float | None = None
        for attempt in count(1):
            async with self.limiter:
                started_at = started_at or monotonic()  # waiting for a turn costs no patience
                try:
                    done = await self.provider.ask(calls, request, code, self.dialect)
                except AttemptError as error:
                    remedy = error.remedy
                else:
                    self._answered = monotonic()
                    return done
            if remedy.do == "change" and remedy.step:
                self.dialect |= {remedy.step}
                continue
            if remedy.do != "again":
                raise remedy.error()
            wait = self.limiter.slow(remedy) or _backoff(attempt)
            if monotonic() + wait > started_at + self.model.patience:
                raise remedy.gave_up(others_answered=self._answered > started_at)
            await self._sleep(wait)
        raise AssertionError

    def typical_cost(self, request: Request) -> float:
        """US dollars that such a call costs on average, as far as prices are known."""
        letters = sum(len(message.text) for message in request.messages)
        return self.model.cost(letters // 4, TYPICAL_TOKENS.get(request.purpose, 150)) or 0.0


def _backoff(attempt: int) -> float:
    return random.uniform(0.5, 1) * min(30, 2 ** (attempt - 2))


class Gateway:
    """The models of a campaign, opened when they are first asked."""

    def __init__(
        self,
        models: Mapping[str, Model],
        recorder: Recorder,
        open_provider: Callable[[Model], Provider],
        *,
        budget: Budget | None = None,
        attempts: int = 3,
        sleep: Sleep = asyncio.sleep,
    ):
        """`attempts` is how often a reply may be asked for until one can be read."""
        self.models, self.recorder, self.attempts = models, recorder, attempts
        self.budget = budget or Budget()
        self._open_provider, self._sleep = open_provider, sleep
        self._lines: dict[str, Line] = {}
        self._open: dict[str, asyncio.Task[dict[str, Completion]]] = {}
        self.sent = self.reused = 0

    def line(self, model: str) -> Line:
        """The open model with that alias. Raises UserError if there is none."""
        if model not in self._lines:
            if model not in self.models:
                raise UserError(
                    f"there is no model {model!r}: models are {', '.join(self.models) or 'none'}"
                )
            settings = self.models[model]
            self._lines[model] = Line(settings, self._open_provider(settings), self._sleep)
        return self._lines[model]

    async def draws(
        self, request: Request, model: str, unit: Unit, draws: int = 1
    ) -> list[Completion]:
        """`draws` stored completions of one prompt, each a call of its own.

        Raises Refused, CallFailed, or Stop.
        """
        calls = identities(request, self.line(model).settings, draws)
        if mine := [call for call in calls if call not in self._open]:
            task = asyncio.create_task(self._fetch(request, model, unit, mine))
            self._open |= dict.fromkeys(mine, task)
            task.add_done_callback(lambda done: self._close(mine, done))
        found: dict[str, Completion] = {}
        for task in dict.fromkeys(self._open[call] for call in calls):
            try:  # the call goes on if the one who waits is ended: it is paid for
                found |= await asyncio.shield(task)
            except Exception as error:
                raise copy.copy(error) from error  # one exception cannot be raised in many tasks
        return [found[call] for call in calls]

    def _close(self, calls: Sequence[str], task: asyncio.Task[dict[str, Completion]]) -> None:
        for call in calls:
            del self._open[call]
        if not task.cancelled():
            task.exception()

    async def _fetch(
        self, request: Request, model: str, unit: Unit, calls: Sequence[str]
    ) -> dict[str, Completion]:
        found = await self.recorder.recall(calls)
        self.reused += len(found)
        line = self.line(model)
        while missing := [call for call in calls if call not in found]:
            code = new_code() if asks_for_code(request) else ""
            async with self.budget.reserve(line.typical_cost(request) * len(missing)):
                done = await line.answer(missing, request, code)
                self.sent += 1
                for each in done:
                    self.budget.settle(each.cost)
            dialect = " ".join(sorted(line.dialect))
            stored = [
                replace(each, call=call, code=code, dialect=dialect)
                for call, each in zip(missing, done, strict=False)
            ]
            found |= await self.recorder.record(stored, request, model, unit)
        return found

    async def aclose(self) -> None:
        """Wait for open calls, since they are paid for, and close the models."""
        await asyncio.gather(*self._open.values(), return_exceptions=True)
        for line in self._lines.values():
            await line.provider.aclose()
