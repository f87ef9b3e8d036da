"""A batch fills the store: calls wait in it, and a later run finds their replies.

A call that no batch has answered raises BatchPending, which leaves its unit as it is. After all
units, what was asked is sent as one batch; the next pass asks the same calls again. So the store is
the queue. A batch stands there as a call, too: what was asked is its number, the reply is its label
and its calls. It is written down before the batch is made, so none is lost or paid for twice.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count, takewhile
from typing import Any, NamedTuple
from uuid import uuid4

from recjury.errors import BatchPending, CallFailed, Stop
from recjury.llm.batch_api import BatchApi, State, line_of
from recjury.llm.endpoint import AnswerError, body_of, completions_of
from recjury.llm.identity import identities, with_code
from recjury.llm.models import Model, Recorder
from recjury.llm.remedies import AttemptError, Dialect, Remedy, failure_in, remedy_for
from recjury.records import Completion, EmbeddingShape, Message, Request, Unit

_BYTES = 150_000_000  # of one file; the API takes 200 MB
_NOTHING = {"body": "it came back without a reply"}
_TRIES = 3  # times that one process sends a call which comes back without a reply


class _Sent(NamedTuple):
    """A batch as the store has it: its number and label, and the code of each of its calls."""

    number: int
    label: str
    codes: dict[str, str]


class Batch:
    """The provider of one model whose calls are answered in batches."""

    def __init__(self, model: Model):
        """Nothing is sent. Raises UserError if the key is missing."""
        self._model, self._api = model, BatchApi(model)
        self._settings = model.reply.model_dump(exclude_defaults=True)
        self._of: dict[str, _Sent] = {}  # the last batch that a call went into
        self._states: dict[str, State] = {}
        self._answers: dict[str, dict[str, Any]] = {}  # of batches that are over, by label
        self._wanted: dict[str, str] = {}  # lines of the next batch, by call
        self._pending = set[str]()
        self._tries, self._problems = Counter[str](), Counter[str]()
        self._known, self._lock = False, asyncio.Lock()

    def keep_in(self, recorder: Recorder) -> None:
        """Where batches are written down: it is called before anything is asked."""
        self._recorder = recorder

    async def ask(
        self, calls: Sequence[str], request: Request, code: str, dialect: Dialect
    ) -> Sequence[Completion]:
        """The completions of the first of `calls`.

        What has no reply and waits in no batch goes into the next one. Raises BatchPending,
        CallFailed, AttemptError, and Stop if a batch was not accepted.
        """
        if isinstance(request.shape, EmbeddingShape):
            raise AttemptError(Remedy("stop", "embeddings are not asked for in batches"))
        async with self._lock:
            if not self._known:
                await self._read_store()
            for call in calls:
                await self._look_at(call)
        answers = [self._answer(call, request, code, dialect) for call in calls]
        first = list(takewhile(lambda each: each is not None, answers))
        if not first:
            raise BatchPending("a batch will answer it")
        return [each for each in first if each is not None]

    async def submit(self) -> str:
        """Send what is wanted as one batch. A line about all that waits. Raises Stop."""
        lines, size = dict[str, str](), 0
        for call, line in self._wanted.items():
            size += len(line)
            if len(lines) + len(self._pending) >= self._model.batch_size or size > _BYTES:
                break
            lines[call] = line
        later = len(self._wanted) - len(lines)
        self._wanted.clear()
        if lines:
            sent = await self._write_down(lines)
            await self._api.send(sent.label, lines.values())
            self._tries.update(lines.keys())
            self._pending |= lines.keys()
        return self._sentence(later) if self._pending else ""

    async def look(self) -> bool:
        """Ask how the batches stand: whether one of those that calls wait for is over now."""
        waiting = {self._of[call].label for call in self._pending}
        self._states = await self._api.find({sent.label for sent in self._of.values()})
        found = [self._states.get(label) for label in waiting]
        if any(state is None or state.is_over or state.failure for state in found):
            self._pending.clear()
        return not self._pending

    async def aclose(self) -> None:
        """Close the connections."""
        await self._api.aclose()

    async def _look_at(self, call: str) -> None:
        """Learn what became of the batch that has a call. Raises Stop if it was not accepted."""
        sent = self._of.get(call)
        if sent is None or sent.label in self._answers:
            return
        if not self._states:
            self._states = await self._api.find({each.label for each in self._of.values()})
        state = self._states.get(sent.label)
        if state is None:  # it was written down and never made
            self._of = {each: of for each, of in self._of.items() if of is not sent}
        elif state.failure:
            await self._store(sent.number, state.failure, dropped=True)
            raise Stop(
                f"{self._model.name}: batch {state.id} was not accepted: {state.failure}: "
                f"the next command sends its {len(sent.codes):,} calls again"
            )
        elif state.is_over:
            replies = await self._api.replies(state)
            self._answers[sent.label] = {id_[:32]: each for id_, each in replies.items()}

    def _answer(
        self, call: str, request: Request, code: str, dialect: Dialect
    ) -> Completion | None:
        """The reply, if a batch has it. Raises AttemptError and CallFailed."""
        problem, sent = "", self._of.get(call)
        if sent is not None:
            if sent.label not in self._answers:
                self._pending.add(call)
                return None
            try:
                answer = self._answers[sent.label].get(call, _NOTHING)
                return replace(_completion(answer, self._model), code=sent.codes[call])
            except AnswerError as error:
                remedy = remedy_for(error.failure, dialect, worked=True)
            if remedy.do == "refused":
                raise AttemptError(remedy._replace(resend=0))
            del self._of[call]
            if remedy.do == "change":
                raise AttemptError(remedy)
            problem = remedy.reason
        if self._tries[call] >= _TRIES:
            raise CallFailed(f"{self._model.name}: {problem}, {_TRIES} times")
        self._problems.update([problem] if problem else [])
        body = body_of(with_code(request, code), self._model, dialect, 1)
        self._wanted[call] = line_of(f"{call}-{code}", body)
        return None

    def _sentence(self, later: int) -> str:
        """What waits, and why it does."""
        labels = {self._of[call].label for call in self._pending}
        states = [self._states[label] for label in labels if label in self._states]
        begun = "".join(f"; {state.id} has {state.progress}" for state in states)
        more = f"; {later:,} more go into the next one" if later else ""
        again = "".join(f"; {n:,} sent again after {why}" for why, n in self._problems.items())
        self._problems.clear()
        waiting = f"{len(self._pending):,} calls wait in {len(labels)} batch"
        plural = "es" if len(labels) > 1 else ""
        goes_on = "the same command goes on when they are answered"
        return f"{self._model.name}: {waiting}{plural}{begun}{more}{again}; {goes_on}"

    async def _read_store(self) -> None:
        """The batches that the store knows; those that were not accepted are left out."""
        for number in count():
            if (row := await self._stored(number)) is None:
                break
            if await self._stored(number, dropped=True) is None:
                sent = _Sent(number, *json.loads(row))
                self._of |= dict.fromkeys(sent.codes, sent)
        self._known = True

    async def _write_down(self, lines: Mapping[str, str]) -> _Sent:
        """Keep a batch under the first number that is free."""
        ids = (json.loads(line)["custom_id"].partition("-") for line in lines.values())
        label, codes = uuid4().hex, {call: code for call, _, code in ids}
        for number in count(1 + max((sent.number for sent in self._of.values()), default=-1)):
            text = json.dumps([label, codes])
            if await self._store(number, text) == text:  # else another process was first
                break
        sent = _Sent(number, label, codes)
        self._of |= dict.fromkeys(codes, sent)
        return sent

    def _row(self, number: int, *, dropped: bool = False) -> tuple[str, Request]:
        """The identity of what the store knows of a batch, and what stands for its prompt."""
        asked = (Message("user", ("a batch of calls",)),)
        request = Request(asked, "batch", sample=number, attempt=int(dropped))
        return identities(request, self._settings, 1)[0], request

    async def _stored(self, number: int, *, dropped: bool = False) -> str | None:
        call, _ = self._row(number, dropped=dropped)
        found = (await self._recorder.recall([call])).get(call)
        return found.text if found else None

    async def _store(self, number: int, text: str, *, dropped: bool = False) -> str:
        """What the store has now: what was there before stays."""
        call, request = self._row(number, dropped=dropped)
        row = Completion(text, call, tokens_in=0, tokens_out=0, cost=0.0)
        kept = await self._recorder.record([row], request, self._model.name, Unit())
        return kept[call].text


def _completion(answer: Any, model: Model) -> Completion:
    """The reply in the answer of a line. Raises AnswerError."""
    status, body = answer.get("status_code") or 500, answer.get("body")
    if status >= 400:
        raise AnswerError(failure_in(status, body, {}))
    return completions_of(body, model)[0]
