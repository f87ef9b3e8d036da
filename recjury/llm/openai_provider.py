"""A model behind an OpenAI-compatible endpoint."""

import orjson

from recjury.errors import CallFailed, ProviderError
from recjury.llm.openai_format import read_completion, request_body
from recjury.llm.provider import Completion, Retryable
from recjury.llm.spec import ModelSpec
from recjury.llm.transport import (
    AiohttpTransport,
    HttpResponse,
    HttpSession,
    Transport,
    TransportError,
    excerpt_without_key,
    read_api_key,
    retry_after,
)
from recjury.records import ChatRequest, Message

_CHECK_SECONDS = 20.0
_CHECK_REQUEST = ChatRequest("", (Message("user", ("Answer with: ok",)),), "check", max_tokens=16)
_TOO_MANY_REQUESTS = 429
_RETRIED = frozenset({408, 409, 425, _TOO_MANY_REQUESTS})


class OpenAIProvider:
    """The provider of one `ModelSpec`, over either transport."""

    def __init__(self, spec: ModelSpec, session: HttpSession):
        """Raises ConfigError if the model's key is not set."""
        self._spec = spec
        # Kept to remove it from messages.
        self._key = read_api_key(spec.key_env, f"model {spec.name}", "an endpoint")
        self._transport = _transport(spec, self._key, session)
        self._path = "/embeddings" if spec.embedding else "/chat/completions"

    async def complete(self, request: ChatRequest) -> Completion:
        """Make one attempt. Raises Retryable, ProviderError, or CallFailed if a retry cannot
        help."""
        try:
            response = await self._transport.send(self._path, request_body(request, self._spec))
        except TransportError as error:
            raise Retryable(str(error)) from None
        except TypeError as error:
            # orjson and the openai package both refuse text that is not valid Unicode.
            reason = f"{self._spec.name}: the request cannot be sent: {error}"
            raise CallFailed(reason, permanent=True) from None
        if response.status != 200:
            raise response_error(response, self._spec, self._key)
        try:
            return read_completion(response.body, vectors=self._vectors(request))
        except Retryable as error:
            said = excerpt_without_key(response.body.decode("utf-8", "replace"), self._key)
            raise Retryable(f"{error.reason}: {said}" if said else error.reason) from None

    async def check(self) -> None:
        """Raise ProviderError if there is no such endpoint, key or model.

        The list of models is requested first. If it is not available or does not have the model
        (some endpoints list only a part of their models), a call of a few tokens decides.
        """
        try:
            response = await self._transport.send("/models", None, seconds=self._check_seconds)
            if response.status in {401, 402, 403}:
                raise response_error(response, self._spec, self._key)
            if response.status != 200 or self._spec.name not in _model_names(response):
                await self._call_once()
        except (Retryable, TransportError) as error:
            advice = "check base_url and that the server runs"
            raise provider_error(self._spec, str(error), advice) from None

    async def _call_once(self) -> None:
        body = request_body(_CHECK_REQUEST, self._spec)
        response = await self._transport.send(self._path, body, seconds=self._check_seconds)
        if response.status == _TOO_MANY_REQUESTS:
            return  # the endpoint exists and accepts the key; the calls themselves will wait
        if response.status != 200:
            problem = response_error(response, self._spec, self._key)
            if isinstance(problem, CallFailed):
                problem = provider_error(self._spec, str(problem), "check the model's settings")
            raise problem
        read_completion(response.body, vectors=self._vectors(_CHECK_REQUEST))

    def _vectors(self, request: ChatRequest) -> int:
        return len(request.messages) if self._spec.embedding else 0

    @property
    def _check_seconds(self) -> float:
        return min(self._spec.timeout, _CHECK_SECONDS)

    async def aclose(self) -> None:
        """Close the transport's connections."""
        await self._transport.aclose()


def _transport(spec: ModelSpec, key: str | None, session: HttpSession) -> Transport:
    if spec.wire == "sdk":
        from recjury.llm.openai_transport import OpenAITransport  # openai takes 0.6 s to import

        return OpenAITransport(spec.base_url, key, spec.timeout)
    return AiohttpTransport(spec.base_url, key, spec.timeout, session)


def response_error(response: HttpResponse, spec: ModelSpec, key: str | None) -> Exception:
    """The exception for a status other than 200: Retryable, ProviderError or CallFailed."""
    said, code = _error_message(response.body)
    shown = excerpt_without_key(said, key)
    came = f"HTTP {response.status}" + (f": {shown}" if shown else "")
    if response.status in {401, 403}:
        advice = f"check the key in {spec.key_env}"
        if spec.key_env is None:
            advice = "name the variable that holds the key in key_env"
        return provider_error(spec, came, advice)
    if response.status == 402 or code == "insufficient_quota":
        return provider_error(spec, came, "the account has no credit left; add some and run again")
    if response.status == 404 or code in {"model_not_found", "unknown_model"}:
        return provider_error(spec, came, "check base_url and the model's name")
    if 300 <= response.status < 400:
        place = excerpt_without_key(response.headers.get("location", "elsewhere"), key)
        return provider_error(spec, f"{came} to {place}", "set base_url to where it leads")
    if response.status in _RETRIED or response.status >= 500:
        limited = response.status == _TOO_MANY_REQUESTS
        return Retryable(came, retry_after(response.headers), rate_limited=limited)
    return CallFailed(f"{spec.name}: {came}", permanent=True)


def provider_error(spec: ModelSpec, came: str, advice: str) -> ProviderError:
    """One line with the address, the model, what happened and what to do."""
    return ProviderError(f"{spec.base_url}, model {spec.name}: {came}: {advice}")


def _error_message(body: bytes) -> tuple[str, str]:
    """The endpoint's own message and its code, where it sent them."""
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError:
        return body.decode("utf-8", "replace"), ""
    error = parsed.get("error", parsed) if isinstance(parsed, dict) else parsed
    if not isinstance(error, dict):
        return str(error), ""
    said = error.get("message") or error.get("detail") or ""
    return str(said), str(error.get("code") or "")


def _model_names(response: HttpResponse) -> frozenset[str]:
    try:
        return frozenset(str(entry["id"]) for entry in orjson.loads(response.body)["data"])
    except (KeyError, TypeError, ValueError):
        return frozenset()
