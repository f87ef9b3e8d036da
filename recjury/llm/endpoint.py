"""A model behind an OpenAI-compatible endpoint."""

import orjson

from recjury.errors import CallFailed
from recjury.llm.body import read_completion, request_body
from recjury.llm.refusal import TOO_OFTEN, error_excerpt, provider_error, response_error
from recjury.llm.spec import ModelSpec
from recjury.llm.transport import Completion, HttpResponse, Retryable, Transport
from recjury.records import ChatRequest, Message

_CHECK_SECONDS = 20.0
_PROBE = ChatRequest("", (Message("user", ("Answer with: ok",)),), "check", max_tokens=16)


class Endpoint:
    """The provider for one `ModelSpec`, over either wire."""

    def __init__(self, spec: ModelSpec, key: str | None, wire: Transport):
        """`key` is needed to keep it out of messages."""
        self._spec = spec
        self._key = key
        self._wire = wire
        self._path = "/embeddings" if spec.embedding else "/chat/completions"

    async def complete(self, request: ChatRequest) -> Completion:
        """One attempt. Raises Retryable, ProviderError, or CallFailed where no retry helps."""
        try:
            raw = await self._wire.send(self._path, request_body(request, self._spec))
        except TypeError as error:
            # orjson and the SDK alike refuse text that is not valid Unicode (half a surrogate).
            raise CallFailed(f"{self._spec.name}: the request cannot be sent: {error}") from None
        if raw.status != 200:
            raise response_error(raw, self._spec, self._key)
        try:
            return read_completion(raw.body, vectors=self._vectors(request))
        except Retryable as error:
            said = error_excerpt(raw.body.decode("utf-8", "replace"), self._key)
            raise Retryable(f"{error.reason}: {said}" if said else error.reason) from None

    async def check(self) -> None:
        """Raise ProviderError if there is no such endpoint, key or model.

        Asks for the list of models; where that is not served or lacks the model (some list only
        a part of what they serve), a call of a few tokens decides.
        """
        try:
            raw = await self._wire.send("/models", None, seconds=self._check_seconds)
            if raw.status in {401, 402, 403}:
                raise response_error(raw, self._spec, self._key)
            if raw.status != 200 or self._spec.name not in _model_names(raw):
                await self._probe()
        except Retryable as error:
            advice = "check base_url and that the server runs"
            raise provider_error(self._spec, error.reason, advice) from None

    async def _probe(self) -> None:
        body = request_body(_PROBE, self._spec)
        raw = await self._wire.send(self._path, body, seconds=self._check_seconds)
        if raw.status == TOO_OFTEN:
            return  # it is there and knows us; the calls themselves will wait
        if raw.status != 200:
            problem = response_error(raw, self._spec, self._key)
            if isinstance(problem, CallFailed):
                problem = provider_error(self._spec, str(problem), "check the model's settings")
            raise problem
        read_completion(raw.body, vectors=self._vectors(_PROBE))

    def _vectors(self, request: ChatRequest) -> int:
        return len(request.messages) if self._spec.embedding else 0

    @property
    def _check_seconds(self) -> float:
        return min(self._spec.timeout, _CHECK_SECONDS)

    async def aclose(self) -> None:
        """Release the wire."""
        await self._wire.aclose()


def _model_names(raw: HttpResponse) -> frozenset[str]:
    try:
        return frozenset(str(entry["id"]) for entry in orjson.loads(raw.body)["data"])
    except (KeyError, TypeError, ValueError):
        return frozenset()
