"""A model behind an OpenAI-compatible endpoint."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from functools import partial
from typing import NamedTuple, TypeAlias

import orjson
from yarl import URL

from recjury.errors import CallFailed, ProviderError
from recjury.llm.adaptation import Adaptation
from recjury.llm.endpoint_check import CallUse, check_requests
from recjury.llm.endpoint_errors import error_of, kind_of, provider_error
from recjury.llm.endpoint_spec import EndpointSpec
from recjury.llm.error_answer import ErrorAnswer, error_inside, read_error
from recjury.llm.learning import Learning
from recjury.llm.openai_format import read_completion, request_body
from recjury.llm.policy import FORMS, POLICY, Again, Kind
from recjury.llm.provider import Completion, Retryable
from recjury.llm.quota import read_quota
from recjury.llm.transport import (
    HttpResponse,
    HttpSession,
    TooLargeError,
    TransportError,
    excerpt,
    read_api_key,
)
from recjury.logs import get_logger
from recjury.records import ChatRequest

logger = get_logger()

_CHECK_SECONDS = 60.0  # a server that has to load its model first takes that long


Body: TypeAlias = dict[str, object]
Send: TypeAlias = Callable[[Callable[[], Body]], Awaitable[tuple[HttpResponse, Body]]]
"""Sends the body that a function makes; the response, and that body."""


class _Refusal(NamedTuple):
    answer: ErrorAnswer
    headers: dict[str, str]
    body: Body
    """The request's."""


class OpenAIProvider:
    """The provider of one `EndpointSpec`.

    What the endpoint refuses is learned from its answers, and requests are adapted to it.
    """

    def __init__(
        self,
        spec: EndpointSpec,
        session: HttpSession,
        uses: Collection[CallUse] = frozenset(),
        learning: Learning | None = None,
    ):
        """`uses` are kinds of calls to check, `learning` is what is known of the endpoint.

        Raises ConfigError if the model's key is not set.
        """
        self._spec = spec
        self._key = read_api_key(spec.key_env, f"model {spec.name}", "an endpoint")
        self._session = session
        self._path = "/embeddings" if spec.embedding else "/chat/completions"
        self._url = URL(spec.base_url + self._path)
        self._headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if self._key is not None:
            self._headers["Authorization"] = f"Bearer {self._key}"
        self._checks = check_requests(spec, uses)
        self._learning = Learning(spec) if learning is None else learning
        self._unchecked = [] if self._learning.has_answers else list(self._checks)
        self._confirming = asyncio.Lock()
        self._refused_rounds = 0

    async def complete(self, request: ChatRequest) -> Completion:
        """Make one attempt. Raises Retryable, ProviderError, or CallFailed if a retry cannot help.

        A request in a form that the endpoint refuses is sent once more in another form, which does
        not count as another attempt.
        """
        return await self._ask(request)

    async def check(self) -> None:
        """Send a small request of each kind that the model is used for.

        When all were answered, later checks send the first one only. Raises ProviderError if
        there is no such endpoint, key or model, and Retryable.
        """
        waiting = self._unchecked or self._checks[:1]
        while waiting:
            try:
                await self._ask(waiting[0], checks=True)
            except CallFailed as error:
                if not self._unchecked:
                    return  # it answers, and has replied before
                advice = "check the model's settings"
                raise provider_error(self._spec, str(error), advice) from None
            except Retryable as error:
                if not error.rate_limited:
                    raise
                # It is there and accepts the key; the calls themselves will wait.
            waiting = waiting[1:]
            self._unchecked = self._unchecked[1:]

    async def aclose(self) -> None:
        """Nothing is held: the gateway closes the shared session."""

    async def _ask(
        self,
        request: ChatRequest,
        *,
        checks: bool = False,
        refusals: int = 0,
        send: Send | None = None,
    ) -> Completion:
        """The completion, in whatever form the endpoint accepts the request.

        `refusals` is how often the request was refused before for what it says: filters and
        firewalls are moody. `send` sends a body in another way.
        """
        found = await self._exchange(request, send or partial(self._send, checks=checks))
        if isinstance(found, Completion):
            return found
        error: Exception = error_of(found.answer, found.headers, self._spec)
        if checks:
            raise error
        kind = kind_of(found.answer)
        if isinstance(error, ProviderError) and self._learning.has_answers:
            error = await self._confirmed(error, found.answer)
            kind = Kind.REQUEST if isinstance(error, CallFailed) else kind
        elif kind is Kind.FORM and self._has_been_answered(found.body):
            kind, error = Kind.REQUEST, CallFailed(str(error), permanent=True)
        rule = POLICY[kind]
        if rule.again is Again.AS_IT_WAS and refusals < int(rule.most):
            return await self._ask(request, refusals=refusals + 1)
        raise error

    def _has_been_answered(self, body: Body) -> bool:
        """Whether a request of the same form was answered before."""
        is_known = self._spec.embedding or self._learning.knows(body)
        return self._learning.has_answers and is_known

    async def _exchange(self, request: ChatRequest, send: Send) -> "Completion | _Refusal":
        """The completion, or the last refusal of a request that was sent in several forms."""
        learning, trial = self._learning, self._learning.begin()
        for _ in range(FORMS):
            response, body = await send(
                partial(request_body, request, self._spec, trial.adaptation)
            )
            found = self._read(response, request)
            if isinstance(found, Completion):
                learning.has_answers = True
                if response.headers:
                    found = found._replace(quota=read_quota(response.headers))
                if not self._spec.embedding:
                    self._tell(learning.accepted(trial, body))
                return found
            refusal = _Refusal(found, response.headers, body)
            if self._spec.embedding:
                return refusal
            if trial.is_outdated:  # another call has learned meanwhile
                trial = learning.begin()
            elif not trial.adapt(found, body):
                return refusal
        return refusal

    async def _send(
        self, make: Callable[[], Body], *, checks: bool = False
    ) -> tuple[HttpResponse, Body]:
        body, seconds = make(), self._spec.timeout
        if checks:
            seconds = min(seconds, _CHECK_SECONDS)
        try:
            sent = orjson.dumps(body)
            response = await self._session.request("POST", self._url, sent, self._headers, seconds)
        except TooLargeError as error:
            raise Retryable(str(error)) from None
        except TransportError as error:
            kind = Kind.LOST if error.connected else Kind.NO_CONNECTION
            raise Retryable(str(error), kind) from None
        except TypeError as error:
            # orjson refuses text that is not valid Unicode.
            reason = f"{self._spec.name}: the request cannot be sent: {error}"
            raise CallFailed(reason, permanent=True) from None
        return response, body

    def _read(self, response: HttpResponse, request: ChatRequest) -> Completion | ErrorAnswer:
        """The completion, or what the endpoint says instead. Raises Retryable for neither."""
        if not 200 <= response.status < 300:
            answer = read_error(response.status, response.body)
            return Completion("", finish_reason="length") if answer.was_cut_off else answer
        vectors = len(request.messages) if self._spec.embedding else 0
        try:
            completion = read_completion(response.body, vectors=vectors)
        except Retryable as error:
            inside = error_inside(_parsed(response.body))
            if inside is not None:
                return inside
            message = read_error(response.status, response.body).message
            said = excerpt(message or _text(response.body))
            raise Retryable(f"{error.reason}: {said}" if said else error.reason) from None
        if completion.finish_reason == "error":
            raise Retryable("the endpoint ended the reply with an error")
        return completion

    async def _confirmed(self, error: ProviderError, answer: ErrorAnswer) -> Retryable | CallFailed:
        """The error as one of this request, or of this minute if a harmless one is refused, too.

        An endpoint that has answered before may refuse only this request, or all for a while.
        """
        rounds = self._refused_rounds
        async with self._confirming:
            if self._refused_rounds != rounds:  # another call has found out meanwhile
                return Retryable(str(error), refusal=error)
            try:
                await self._ask(self._checks[0], checks=True)
            except ProviderError:
                self._refused_rounds += 1
                return Retryable(str(error), refusal=error)
            except Retryable as still:
                return still
            except CallFailed:
                pass  # it answers
        if answer.status == 403:
            said = excerpt(answer.message)
            return CallFailed(f"{self._spec.name}: HTTP 403: {said}", permanent=True)
        return Retryable(str(error))

    def _tell(self, learned: Adaptation | None) -> None:
        """Say in one line what was learned."""
        if learned is not None:
            logger.warning(
                "requests adapted to the endpoint",
                model=self._spec.name,
                changes=learned.described(),
            )


def _parsed(body: bytes) -> object:
    try:
        parsed: object = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    return parsed


def _text(body: bytes) -> str:
    return body[:1_000].decode("utf-8", "replace")
