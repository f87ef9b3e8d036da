"""One call: found again, shared, sent until something answers, recorded before it is used."""

import asyncio
import copy
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count

from recjury.errors import BatchPending, UserError
from recjury.files import nearest
from recjury.llm.batch import Batch
from recjury.llm.budget import Budget, Spent
from recjury.llm.identity import asks_for_code, identities, new_code
from recjury.llm.limiter import Clock, Limiter
from recjury.llm.models import TYPICAL_TOKENS, Model, Provider, Recorder
from recjury.llm.remedies import AttemptError, Remedy
from recjury.logs import logger
from recjury.records import Completion, Request, Unit

_LOOK = 60.0  # seconds until batches are looked at again

FIRST_PATIENCE = 30.0
"""Seconds after which an address where nothing has ever answered is taken for a wrong one."""


class Line:
    """A model that is open: its provider, its dialect, and how many may ask at a time."""

    def __init__(self, model: Model, provider: Provider, clock: Clock):
        """`clock` waits between attempts."""
        self.model, self.provider, self._clock = model, provider, clock
        self.settings = model.reply.model_dump(exclude_defaults=True)
        self.dialect = model.dialect
        self.limiter = Limiter(
            model.concurrency,
            requests_per_minute=model.requests_per_minute,
            tokens_per_minute=model.tokens_per_minute,
            clock=clock,
        )
        self.sending: set[asyncio.Task[object] | None] = set()
        """The tasks whose attempt is under way, or answered."""
        self.closing = False
        self.sends_logprobs = False
        """Whether it is known that log-probabilities come."""
        self.trouble = ""
        """Why the last attempt got no answer."""
        self._answered = float("-inf")

    async def answer(
        self, calls: Sequence[str], request: Request, code: str
    ) -> Sequence[Completion]:
        """The whole policy of attempts. Raises Refused, CallFailed, or Stop.

        Patience counts attempts and the waits between them; waiting for a turn costs none.
        """
        tokens = self.typical(request).tokens if self.model.tokens_per_minute else 0
        started_at, tried, refusals = None, 0.0, count(1)
        for attempt in count(1):
            async with self.limiter.turn(tokens) as turn:
                began = self._clock.now()
                started_at = began if started_at is None else started_at
                outcome = await self._attempt(calls, request, code)
            if not isinstance(outcome, Remedy):
                return outcome
            if outcome.step:
                self.dialect |= {outcome.step}
            if outcome.do == "change":
                continue
            if outcome.do != "again" and next(refusals) > outcome.resend:
                raise self._named(outcome).error()
            wait = outcome.wait or _backoff(attempt)
            tried += self._clock.now() - began + wait
            if self.closing or tried > self._patience(outcome):
                others = self._answered > started_at
                raise self._named(outcome).gave_up(others_answered=others)
            self.limiter.slow(outcome, turn)
            await self._clock.sleep(wait)
        raise AssertionError

    async def _attempt(
        self, calls: Sequence[str], request: Request, code: str
    ) -> Sequence[Completion] | Remedy:
        """The replies, or what to do since there are none."""
        task = asyncio.current_task()
        self.sending.add(task)
        try:
            done = await self.provider.ask(calls, request, code, self.dialect)
        except AttemptError as error:
            self.sending.discard(task)
            self.trouble = self._named(error.remedy).reason if error.remedy.do == "again" else ""
            return error.remedy
        self._answered, self.trouble = self._clock.now(), ""
        self.limiter.answered()
        return done

    def _named(self, remedy: Remedy) -> Remedy:
        """The remedy with the model's name, for whoever reads its reason."""
        return remedy._replace(reason=f"{self.model.name}: {remedy.reason}")

    def _patience(self, remedy: Remedy) -> float:
        never = self._answered == float("-inf")
        first = FIRST_PATIENCE if never and remedy.no_contact else self.model.patience
        return min(first, self.model.patience)

    def typical(self, request: Request) -> Spent:
        """What such a call costs on average, as far as prices are known."""
        letters = sum(len(message.text) for message in request.messages)
        tokens_in, tokens_out = letters // 4, TYPICAL_TOKENS.get(request.purpose, 150)
        return Spent(self.model.cost(tokens_in, tokens_out) or 0.0, tokens_in + tokens_out)


def _again(error: Exception) -> Exception:
    """A copy, since one exception cannot be raised in many tasks; some cannot be copied."""
    try:
        return copy.copy(error)
    except TypeError:
        return error


def _backoff(attempt: int) -> float:
    return random.uniform(0.5, 1) * min(30, 2.0 ** (attempt - 2))


class Gateway:
    """The models of a campaign, opened when they are first asked.

    `sent` counts replies that endpoints gave, `reused` those that were found in the store.
    """

    def __init__(
        self,
        models: Mapping[str, Model],
        recorder: Recorder,
        open_provider: Callable[[Model], Provider],
        *,
        budget: Budget | None = None,
        attempts: int = 3,
        clock: Clock | None = None,
    ):
        """`attempts` is how often a reply may be asked for until one can be read."""
        self.models, self.recorder, self.attempts = models, recorder, attempts
        self.budget, self._clock = budget or Budget(), clock or Clock()
        self._open_provider = open_provider
        self._lines: dict[str, Line] = {}
        self._open: dict[str, asyncio.Task[dict[str, Completion]]] = {}
        self._waiting: dict[str, Spent] = {}
        self.sent = self.reused = 0

    @property
    def trouble(self) -> str:
        """Why a model does not answer at the moment, or nothing."""
        return next((line.trouble for line in self._lines.values() if line.trouble), "")

    def line(self, model: str) -> Line:
        """The model with that alias, opened. Raises UserError for none, and for a missing key."""
        if model not in self._lines:
            if model not in self.models:
                raise UserError(
                    f"there is no model {model!r}{nearest(model, self.models)}: "
                    f"models are {', '.join(self.models) or 'none'}"
                )
            settings = self.models[model]
            provider = self._open_provider(settings)
            if isinstance(provider, Batch):
                provider.keep_in(self.recorder)
            self._lines[model] = Line(settings, provider, self._clock)
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
            task.add_done_callback(lambda done: self._close(mine, model, done))
        found: dict[str, Completion] = {}
        for task in dict.fromkeys(self._open[call] for call in calls):
            try:  # the call goes on if the one who waits is ended: it is paid for
                found |= await asyncio.shield(task)
            except Exception as error:
                raise _again(error) from error
        return [found[call] for call in calls]

    def _close(
        self, calls: Sequence[str], model: str, task: asyncio.Task[dict[str, Completion]]
    ) -> None:
        for call in calls:
            del self._open[call]
        self._lines[model].sending.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waited has it; without one, it is lost

    async def _fetch(
        self, request: Request, model: str, unit: Unit, calls: Sequence[str]
    ) -> dict[str, Completion]:
        found = await self.recorder.recall(calls)
        self.reused += len(found)
        line = self.line(model)
        while missing := [call for call in calls if call not in found]:
            typical = line.typical(request) if self.budget.is_limited else Spent()
            together = Spent(typical.dollars * len(missing), typical.tokens * len(missing))
            self._expect(missing, Spent())
            try:
                async with self.budget.reserve(together):
                    done = await self._answered(line, request, model, unit, missing)
                    self.budget.settle(_spent(done, typical))
            except BatchPending:
                self._expect(missing, typical)
                raise
            found |= await self.recorder.record(done, request, model, unit)
        return found

    def _expect(self, calls: Sequence[str], cost: Spent) -> None:
        """Count what calls that wait for a batch will cost; nothing, if they do not wait."""
        for call in calls:
            before = self._waiting.pop(call, Spent())
            self.budget.settle(Spent(cost.dollars - before.dollars, cost.tokens - before.tokens))
            if cost != Spent():
                self._waiting[call] = cost

    async def _answered(
        self, line: Line, request: Request, model: str, unit: Unit, calls: Sequence[str]
    ) -> list[Completion]:
        """What the model says, with the calls that it answers."""
        code = new_code() if asks_for_code(request) else ""
        ids = {"calls": calls, "model": model, "purpose": request.purpose, **unit._asdict()}
        logger.info("call begins", name=line.model.name, **ids)
        try:
            done = await line.answer(calls, request, code)
        except Exception as error:
            logger.info("call fails", reason=str(error), **ids)
            raise
        read = sum(each.tokens_in or 0 for each in done)
        written = sum(each.tokens_out or 0 for each in done)
        served = done[0].served if done else ""
        logger.info("call ends", served=served, tokens_in=read, tokens_out=written, **ids)
        dialect = " ".join(sorted(line.dialect))
        named = [
            replace(each, call=call, code=each.code or code, dialect=dialect)
            for call, each in zip(calls, done, strict=False)
        ]
        self.sent += len(named)
        return named

    async def submit(self) -> list[str]:
        """Send the calls that batches are to answer; a line for each model with some. Raises Stop.

        When it is called, no call may be open.
        """
        return [line for batch in self._batches() if (line := await batch.submit())]

    async def wait(self) -> None:
        """Until one of the batches is over. Raises Stop."""
        over = False
        while not over:
            await self._clock.sleep(_LOOK)
            over = any([await batch.look() for batch in self._batches()])

    def _batches(self) -> list[Batch]:
        providers = (line.provider for line in self._lines.values())
        return [each for each in providers if isinstance(each, Batch)]

    async def aclose(self) -> None:
        """Wait for calls that were sent, since they are paid for; end those that were not."""
        sending = set[object]()
        for line in self._lines.values():
            line.closing = True
            sending |= line.sending
        tasks = set(self._open.values())
        for task in tasks - sending:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for line in self._lines.values():
            await line.provider.aclose()


def _spent(done: Sequence[Completion], typical: Spent) -> Spent:
    """What replies cost; where an endpoint does not say, what is typical."""
    dollars = sum(typical.dollars if each.cost is None else each.cost for each in done)
    tokens = sum(
        typical.tokens
        if each.tokens_in is None or each.tokens_out is None
        else each.tokens_in + each.tokens_out
        for each in done
    )
    return Spent(dollars, tokens)
