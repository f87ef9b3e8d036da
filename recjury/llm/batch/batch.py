"""One batch, from its requests to the last reply that is stored, and why one was refused."""

import asyncio
import copy
import re
import uuid
from collections.abc import Collection, Mapping
from typing import BinaryIO

from recjury.errors import CallFailed, ProviderError
from recjury.llm.batch.lines import AnswerLines
from recjury.llm.batch.state import BatchState, LineError
from recjury.llm.endpoint_errors import error_of
from recjury.llm.endpoint_spec import EndpointSpec
from recjury.llm.error_answer import ErrorAnswer
from recjury.llm.provider import Retryable
from recjury.llm.transport import HttpResponse

# OpenAI: "Enqueued token limit reached for gpt-4o ..." (community.openai.com/t/1027303), Azure:
# token_limit_exceeded.
_FULL_QUEUE = re.compile(r"enqueued|token_limit_exceeded|queue[_ ](limit|full)|too many batches")


class CallBatch:
    """The calls of one batch, and their answers once it is over.

    `calls` are in the order of the lines of `requests`, the file that is sent; a batch that an
    earlier run sent has no such file. With `resends`, calls without an answer go into another
    batch, which does not count as an attempt. `unstored` are the calls with a reply that is not
    stored yet, known when it is over. `is_cancelled` says that this run ended it as too late.
    """

    def __init__(self, calls: Collection[str], requests: BinaryIO | None = None):
        """`number` is set when it is sent, or waited for."""
        self.calls, self.requests = calls, requests
        self.own_id = uuid.uuid4().hex
        self.number = 0
        self.state: BatchState | None = None
        self.lines = AnswerLines()
        self.resends = requests is None
        self.is_cancelled = False
        self.unstored: set[str] = set()
        self._refused: Mapping[str, Exception] = {}
        self._failure: Exception | None = None
        self._over = asyncio.Event()

    @property
    def id(self) -> str:
        """Its id at the endpoint; empty before it is sent."""
        return "" if self.state is None else self.state.id

    @property
    def is_open(self) -> bool:
        """Whether it was sent and is not over."""
        return self.state is not None and not self._over.is_set()

    @property
    def total(self) -> int:
        """How many requests it has."""
        return (self.state.counts.total if self.state else 0) or len(self.calls)

    @property
    def done(self) -> int:
        """How many requests the endpoint has processed."""
        return self.state.counts.completed + self.state.counts.failed if self.state else 0

    async def wait(self) -> None:
        """Wait until it is over."""
        await self._over.wait()

    def take(self, identity: str) -> HttpResponse | None:
        """The answer to a call once the batch is over; None if the call has to be sent again.

        Raises Retryable if the endpoint did not answer the request, and the failure of the call or
        of the whole batch.
        """
        if identity in self.lines:
            return self.lines.take(identity)
        failure = self._refused.get(identity)
        if failure is None and self.resends:
            return None
        failure = failure or self._failure
        if failure is None:
            status = "unknown" if self.state is None else self.state.status
            failure = Retryable(f"batch {self.id} is {status} without an answer to this request")
        raise copy.copy(failure)  # each call has its own traceback

    def end(
        self, failure: Exception | None = None, *, refused: Mapping[str, Exception] | None = None
    ) -> None:
        """Let the calls take their answers.

        Calls without one fail: with the exception in `refused`, otherwise with `failure`.
        """
        self._failure, self._refused = failure, refused or {}
        self.unstored = set(self.lines.answered)
        self._over.set()

    def close(self) -> None:
        """Delete what is on disk."""
        self.lines.close()
        if self.requests is not None:
            self.requests.close()


class Refusal:
    """Why the endpoint refused a whole batch.

    `is_full_queue`: because too many tokens wait there. `calls` are the failures of the calls whose
    lines it names, `failure` is that of all others.
    """

    def __init__(self, batch: CallBatch, spec: EndpointSpec):
        """Read the errors of a batch whose status is "failed"."""
        state = batch.state
        assert state is not None
        errors = state.errors.data if state.errors else []
        self.reason = "; ".join(dict.fromkeys(map(_shown, errors)))[:300] or "no reason is given"
        words = " ".join(f"{error.code} {error.message}" for error in errors).lower()
        self.failure = _failure(state, spec, words[:4000], self.reason)
        self.is_full_queue = _FULL_QUEUE.search(words) is not None
        self.calls: dict[str, Exception] = {}
        if not isinstance(self.failure, ProviderError):
            calls = list(batch.calls)
            for error in errors:
                if error.line is not None and 1 <= error.line <= len(calls):
                    reason = f"{spec.name}: refused in a batch: {_shown(error)}"
                    self.calls[calls[error.line - 1]] = CallFailed(reason, permanent=True)


def _failure(state: BatchState, spec: EndpointSpec, words: str, reason: str) -> Exception:
    answer = ErrorAnswer(400, reason, words=words)
    if answer.about_account or answer.about_model:
        error = error_of(answer, {}, spec)
        if isinstance(error, ProviderError):
            return error
    return Retryable(f"batch {state.id} was refused: {reason}")


def _shown(error: LineError) -> str:
    message = " ".join((error.message or "").split())[:200]
    return ": ".join(filter(None, (error.code, message)))
