"""The provider of a model that is asked in batches."""

from collections.abc import Collection
from functools import partial

from recjury.errors import CallFailed, ProviderError
from recjury.llm.batch.api import BatchApi
from recjury.llm.batch.batch_queue import BatchQueue
from recjury.llm.batch.lines import request_line
from recjury.llm.batch.spec import BatchModelSpec
from recjury.llm.endpoint_check import CallUse
from recjury.llm.endpoint_errors import error_of
from recjury.llm.error_answer import ErrorAnswer
from recjury.llm.event_loop import Clock, SystemClock
from recjury.llm.learning import Learning, Trial
from recjury.llm.openai_format import request_body
from recjury.llm.openai_provider import OpenAIProvider, cut
from recjury.llm.policy import FORMS
from recjury.llm.provider import Completion, Retryable
from recjury.llm.transport import HttpSession
from recjury.records import ChatRequest


class BatchProvider(OpenAIProvider):
    """The provider of one `BatchModelSpec`.

    Calls go in batches; only the small requests of checks are sent one by one. Replies are read,
    and what the endpoint refuses is learned, as for the same model without batches.
    """

    def __init__(
        self,
        spec: BatchModelSpec,
        session: HttpSession,
        uses: Collection[CallUse] = frozenset(),
        learning: Learning | None = None,
        clock: Clock | None = None,
    ):
        """As `OpenAIProvider`. Raises ConfigError if the model's key is not set."""
        super().__init__(spec, session, uses, learning)
        clock = clock or SystemClock()
        self._api = BatchApi(spec, self._key, session, clock)
        self._queue = BatchQueue(spec, self._api, self._path, clock)
        self.most_open = spec.batch_size * spec.batches
        self._has_batches = False

    async def complete_call(self, identity: str, request: ChatRequest) -> Completion:
        """The completion of a call, from a batch; `stored` is called once it is stored.

        Raises Retryable, ProviderError, and CallFailed. What the endpoint refuses as permanent
        is not asked for again.
        """
        try:
            return await self._from_batch(identity, request)
        except BaseException as error:
            self._queue.used(identity)
            if isinstance(error, Retryable):
                # It is about this line, not about whether the endpoint answers.
                raise Retryable(error.reason) from None
            raise

    def stored(self, identity: str) -> None:
        """A reply to this call is stored."""
        self._queue.stored(identity)

    @property
    def has_room(self) -> bool:
        """Whether more calls can be gathered."""
        return self._queue.waiting < self.most_open

    def progress(self) -> str:
        """The batches that are under way, in a few words; empty without any."""
        batches, begun = self._queue.open_batches, self._queue.begun
        parts = [
            f"batch {each.number} of {begun}: {each.done:,} of {each.total:,} done"
            for each in batches
        ]
        gathered = self._queue.waiting - sum(each.total for each in batches)
        if gathered > 0 and not parts:
            parts.append(f"{gathered:,} calls for the next batch")
        return ", ".join(parts)

    async def check(self) -> None:
        """As `OpenAIProvider.check`; the first one also makes sure that there are batches."""
        await super().check()
        if not self._has_batches:
            await self._api.check()
            self._has_batches = True

    async def aclose(self) -> None:
        """Stop waiting; what was sent goes on at the endpoint, and the log says so."""
        await self._queue.aclose()
        await super().aclose()

    async def _from_batch(self, identity: str, request: ChatRequest) -> Completion:
        """The completion; a refused form of request is sent again in the form that is learned."""
        trial = self._learning.begin()
        for number in range(1, FORMS + 1):
            line = partial(self._line, identity, request, trial)
            response = await self._queue.answer(identity, line)
            body = self._body(request, trial)  # built again: it is too large to wait for hours
            answer = self._read(response, request)
            if isinstance(answer, Completion):
                if not self._spec.embedding:
                    self._tell(self._learning.accepted(trial, body))
                return cut(answer, request) if trial.adaptation.stop else answer
            self._queue.used(identity)
            if number == FORMS or self._spec.embedding:
                break
            if trial.is_outdated:  # another call has learned meanwhile
                trial = self._learning.begin()
            elif not trial.adapt(answer, body):
                break
        assert isinstance(answer, ErrorAnswer)
        raise self._failure(answer, body)

    def _failure(self, answer: ErrorAnswer, body: dict[str, object]) -> Exception:
        error = error_of(answer, {}, self._spec)
        if isinstance(error, ProviderError) and answer.status == 403 and self._learning.has_answers:
            return CallFailed(str(error), permanent=True)  # a filter's: the key is accepted
        if isinstance(error, CallFailed) and not error.permanent:
            known = self._spec.embedding or self._learning.knows(body)
            return CallFailed(str(error), permanent=known)
        return error

    def _body(self, request: ChatRequest, trial: Trial) -> dict[str, object]:
        return request_body(request, self._spec, trial.adaptation)

    def _line(self, identity: str, request: ChatRequest, trial: Trial) -> bytes:
        try:
            return request_line(identity, self._path, self._body(request, trial))
        except TypeError as error:
            reason = f"{self._spec.name}: the request cannot be sent: {error}"
            raise CallFailed(reason, permanent=True) from None
