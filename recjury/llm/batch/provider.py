"""The provider of a model that is asked in batches."""

from collections.abc import Callable, Collection
from functools import partial

from recjury.errors import CallFailed
from recjury.llm.batch.api import BatchApi
from recjury.llm.batch.batch_queue import BatchQueue
from recjury.llm.batch.lines import request_line
from recjury.llm.batch.spec import BatchModelSpec
from recjury.llm.endpoint_check import CallUse
from recjury.llm.event_loop import Clock, SystemClock
from recjury.llm.learning import Learning
from recjury.llm.openai_provider import Body, OpenAIProvider
from recjury.llm.policy import FORMS
from recjury.llm.provider import Completion, Retryable
from recjury.llm.transport import HttpResponse, HttpSession
from recjury.records import ChatRequest

_NOT_AGAIN = FORMS  # refusals, more than any request may have


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

        async def send(make: Callable[[], Body]) -> tuple[HttpResponse, Body]:
            self._queue.used(identity)  # the answer to the form before
            response = await self._queue.answer(identity, partial(self._line, identity, make))
            return response, make()  # it is too large to be kept for hours

        try:
            return await self._ask(request, refusals=_NOT_AGAIN, send=send)
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

    def _line(self, identity: str, make: Callable[[], Body]) -> bytes:
        try:
            return request_line(identity, self._path, make())
        except TypeError as error:
            reason = f"{self._spec.name}: the request cannot be sent: {error}"
            raise CallFailed(reason, permanent=True) from None
