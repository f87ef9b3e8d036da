"""An OpenAI-compatible endpoint through the openai SDK: one body, one reader, one exchange.

Three habits of the SDK over aiohttp are answered for here: it takes refused connections and dropped
servers for timeouts, a header above 8 KB raises aiohttp's own error, and no limit covers an answer
that comes byte by byte.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit
from urllib.request import getproxies, proxy_bypass

from pydantic_core import from_json

from recjury.errors import UserError
from recjury.keys import key_of, one_line
from recjury.llm.embeddings import embedding_body, vector_in
from recjury.llm.identity import with_code
from recjury.llm.models import OPENAI, Model
from recjury.llm.reading import spoken
from recjury.llm.remedies import (
    AttemptError,
    Dialect,
    Failure,
    Remedy,
    failure_in,
    remedy_for,
)
from recjury.records import Completion, EmbeddingShape, ObjectShape, OddsShape, RatingShape, Request

if TYPE_CHECKING:
    import openai

_FILTERED = Failure(400, "the reply was taken back", "content_filter")


class Endpoint:
    """A model's endpoint, with its connections."""

    def __init__(self, model: Model, key: str = ""):
        """Nothing is sent. Raises UserError if the key or a part of the address is missing.

        Without a `key`, it is the one in the variable that the model names.
        """
        import httpx2

        self._model, self._response = model, httpx2.Response
        self._client = client_of(model, key)
        self._worked = False

    async def ask(
        self, calls: Sequence[str], request: Request, code: str, dialect: Dialect
    ) -> Sequence[Completion]:
        """One completion for each of `calls`, or one alone if the endpoint takes no `n`."""
        try:
            if isinstance(request.shape, EmbeddingShape):
                answer = await self._answer("/embeddings", embedding_body(request, self._model))
                done = [_vector_of(answer, self._model)]
            else:
                body = body_of(with_code(request, code), self._model, dialect, len(calls))
                answer = await self._answer("/chat/completions", body)
                done = completions_of(answer, self._model)
        except AnswerError as error:
            raise AttemptError(
                remedy_for(
                    error.failure, dialect, worked=self._worked, key_env=key_variable(self._model)
                )
            ) from None
        self._worked = True
        return done

    async def _answer(self, path: str, body: Mapping[str, Any]) -> Any:
        """The JSON of a reply. Raises AttemptError, or AnswerError for what the endpoint says."""
        import aiohttp
        import openai

        try:
            async with asyncio.timeout(self._model.timeout):
                response = await self._client.post(path, body=body, cast_to=self._response)
        except openai.APIStatusError as error:
            said = error.response
            raise AnswerError(failure_in(said.status_code, _read(said), said.headers)) from None
        except TimeoutError:
            reason = f"no answer within {self._model.timeout:g} s"
            raise AttemptError(Remedy("again", reason)) from None
        except (openai.OpenAIError, aiohttp.ClientError) as error:
            raise AttemptError(Remedy("again", reason_of(error), no_contact=True)) from None
        try:
            return _json(response.content)
        except (ValueError, RecursionError):
            start = one_line(response.text[:100]) or "nothing"
            reason = f"the answer is no JSON but: {start}: check `base_url`"
            raise AttemptError(Remedy("again", reason, no_contact=True)) from None

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()


class AnswerError(Exception):
    """The endpoint answers with an error, or has an error in place of an answer."""

    def __init__(self, failure: Failure):
        """`failure` is what it says."""
        super().__init__(failure.reason)
        self.failure = failure


def body_of(request: Request, model: Model, dialect: Dialect, draws: int) -> dict[str, Any]:
    """The JSON of a request for `draws` replies."""
    body: dict[str, Any] = {"model": model.name, "messages": messages_of(request, dialect)}
    if "no temperature" not in dialect:
        set_ = model.temperature
        body["temperature"] = request.temperature if set_ is None else set_
    limit = request.max_tokens or model.max_tokens
    if limit and "no max_tokens" not in dialect:
        newer = "max_completion_tokens" in dialect
        body["max_completion_tokens" if newer else "max_tokens"] = limit
    if draws > 1 and "no n" not in dialect:
        body["n"] = draws
    match request.shape:
        case ObjectShape(schema) if "no response_format" not in dialect:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": json.loads(schema)},
            }
        case OddsShape() | RatingShape(logprobs=True):
            body |= {"logprobs": True, "top_logprobs": 20}
        case _:
            pass
    return body | model.extra


def completions_of(answer: Any, model: Model) -> list[Completion]:
    """The replies in an answer, read in one way wherever it comes from."""
    choices = _mapping(answer).get("choices")
    if not isinstance(choices, list) or not choices:
        raise AnswerError(_error_in_answer(answer))
    choices = [*map(_mapping, choices)]
    if any(map(_is_refused, choices)):
        raise AnswerError(_FILTERED)
    usage = _mapping(answer.get("usage"))
    counts = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    served = str(answer.get("model") or "")
    return [
        # the tokens of a prompt with several replies count once
        _completion(choice, model, served, counts if number == 0 else (0, 0))
        for number, choice in enumerate(choices)
    ]


def _is_refused(choice: Mapping[str, Any]) -> bool:
    """Whether a filter took the reply back, or a model refuses what has a schema."""
    message = _mapping(choice.get("message"))
    is_refusal = message.get("refusal") and not message.get("content")
    return choice.get("finish_reason") == "content_filter" or bool(is_refusal)


def _completion(
    choice: Mapping[str, Any], model: Model, served: str, counts: tuple[int | None, int | None]
) -> Completion:
    message = _mapping(choice.get("message"))
    text, thoughts = spoken(_text(message.get("content")))
    return Completion(
        text=text,
        thoughts=thoughts or _text(message.get("reasoning_content") or message.get("reasoning")),
        finish=str(choice.get("finish_reason") or "stop"),
        logprobs=_tokens(_mapping(choice.get("logprobs")).get("content")),
        tokens_in=counts[0],
        tokens_out=counts[1],
        cost=model.cost(*counts),
        served=served,
    )


def _vector_of(answer: Any, model: Model) -> Completion:
    """The vector in an answer. Raises AnswerError."""
    try:
        vector = vector_in(answer)
    except (LookupError, TypeError, ValueError):
        raise AnswerError(_error_in_answer(answer)) from None
    tokens = _count(_mapping(answer.get("usage")).get("prompt_tokens"))
    told: dict[str, Any] = {"cost": model.cost(tokens, 0), "served": str(answer.get("model") or "")}
    return Completion(vector, tokens_in=tokens, tokens_out=0, **told)


def _mapping(value: Any) -> Mapping[str, Any]:
    """What should be a mapping; an empty one if it is none."""
    return value if isinstance(value, Mapping) else {}


def _tokens(content: Any) -> tuple[dict[str, Any], ...]:
    return tuple(dict(_mapping(each)) for each in content) if isinstance(content, list) else ()


def _text(content: Any) -> str:
    """The text of a content, which may be a list of parts or nothing."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return str(content or "")


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and 0 <= value < 2**53 else None


def messages_of(request: Request, dialect: Dialect) -> list[dict[str, str]]:
    """The messages as they are sent.

    Neighbours of one role are one message: many chat templates want the roles to alternate.
    """

    def role(message: Any) -> str:
        no_system = message.role == "system" and "no system" in dialect
        return "user" if no_system else str(message.role)

    return [
        {"role": each, "content": _whole("\n\n".join(message.text for message in same))}
        for each, same in groupby(request.messages, role)
    ]


def _whole(text: str) -> str:
    """The text with `?` in place of half a character, which no request can carry."""
    return text.encode("utf-8", "replace").decode()


def _error_in_answer(answer: Any) -> Failure:
    """No reply with status 200; the code of an error in it may be the status it should have."""
    failure = failure_in(500 if _mapping(answer).get("error") else 200, answer, {})
    is_status = failure.code.isdecimal() and len(failure.code) == 3
    return failure._replace(status=int(failure.code)) if is_status else failure


def _json(content: bytes) -> Any:
    """The JSON of an answer; half characters, which only Python's reader takes, are allowed."""
    try:
        return from_json(content)
    except ValueError:
        return json.loads(content)


def _read(response: Any) -> Any:
    """The JSON of an error answer, or its text."""
    try:
        return _json(response.content)
    except (ValueError, RecursionError):
        return response.text


def reason_of(error: Exception) -> str:
    """Why there is no answer: the first cause, since the SDK takes all of them for timeouts."""
    while error.__cause__ is not None and isinstance(error.__cause__, Exception):
        error = error.__cause__
    return one_line(f"no answer: {str(error) or type(error).__name__}")


def key_variable(model: Model) -> str:
    """The variable with the model's key; empty if none is named and OpenAI is not asked."""
    return model.key_env or ("OPENAI_API_KEY" if model.base_url == OPENAI else "")


def client_of(model: Model, key: str = "") -> "openai.AsyncOpenAI":
    """The SDK's client, which asks once. Raises UserError if its key is missing."""
    import httpx2
    import openai

    variable = key_variable(model)
    key = key or (key_of(variable) if variable else "none")
    _refuse_socks(model.base_url)
    connections = openai.DefaultAioHttpClient(
        follow_redirects=False,
        # aiohttp's own limit of 100 would hold calls back that the limiter lets go
        limits=httpx2.Limits(max_connections=model.concurrency),
    )
    common: dict[str, Any] = {"api_key": key, "max_retries": 0, "http_client": connections}
    common["timeout"] = model.timeout
    if model.provider == "azure" or "/openai/deployments/" in model.base_url:
        azure: openai.AsyncOpenAI = openai.AsyncAzureOpenAI(**_azure(model.base_url), **common)
        return azure
    return openai.AsyncOpenAI(base_url=model.base_url, **common)


def _azure(url: str) -> dict[str, Any]:
    """The parts of an address as Azure's portal shows it."""
    parts = urlsplit(url)
    version = parse_qs(parts.query).get("api-version")
    if not version:
        raise UserError(f"{url}: an address of Azure ends with `?api-version=...`: add it")
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    key = "base_url" if "/deployments/" in path else "azure_endpoint"
    return {key: f"{parts.scheme}://{parts.netloc}{path}", "api_version": version[0]}


def _refuse_socks(url: str) -> None:
    """The SDK over aiohttp would speak HTTP to a SOCKS proxy."""
    parts, proxies = urlsplit(url), getproxies()
    name = next((name for name in (parts.scheme, "all") if proxies.get(name)), "")
    if proxies.get(name, "").startswith("socks") and not proxy_bypass(parts.hostname or ""):
        raise UserError(
            f"{name.upper()}_PROXY is a SOCKS proxy, which is not supported: "
            "name an HTTP proxy, or the endpoint's host in NO_PROXY"
        )
