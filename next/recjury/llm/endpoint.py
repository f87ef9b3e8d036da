"""An OpenAI-compatible endpoint through the openai SDK: one body, one reader, one exchange."""

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import from_json

from recjury.errors import UserError
from recjury.llm.identity import with_code
from recjury.llm.models import Model
from recjury.llm.reading import spoken
from recjury.llm.remedies import AttemptError, Dialect, Remedy, remedy_for
from recjury.records import Completion, ObjectShape, OddsShape, RatingShape, Request


class Endpoint:
    def __init__(self, model: Model, timeout: float = 600.0):
        import httpx2
        import openai

        self._model, self._timeout, self._response = model, timeout, httpx2.Response
        key = os.environ.get(model.key_env, "") if model.key_env else "none"
        if not key:
            raise UserError(f"{model.name}: the variable {model.key_env} is not set")
        self._client = openai.AsyncOpenAI(
            base_url=model.base_url,
            api_key=key,
            max_retries=0,
            http_client=openai.DefaultAioHttpClient(
                follow_redirects=False, limits=httpx2.Limits(max_connections=None)
            ),
        )

    async def ask(
        self, calls: Sequence[str], request: Request, code: str, dialect: Dialect
    ) -> Sequence[Completion]:
        import aiohttp
        import openai

        body = body_of(with_code(request, code), self._model, dialect, len(calls))
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._client.post(
                    "/chat/completions", body=body, cast_to=self._response
                )
            answer = from_json(response.content)
        except (openai.OpenAIError, aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise AttemptError(remedy_for(error, dialect)) from None
        return completions_of(answer, self._model)

    async def aclose(self) -> None:
        await self._client.close()


def body_of(request: Request, model: Model, dialect: Dialect, draws: int) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": model.name,
        "messages": [{"role": m.role, "content": m.text} for m in request.messages],
        **model.extra,
    }
    if "no temperature" not in dialect:
        set_ = model.temperature
        body["temperature"] = request.temperature if set_ is None else set_
    if limit := request.max_tokens or model.max_tokens:
        body["max_completion_tokens" if "max_completion_tokens" in dialect else "max_tokens"] = (
            limit
        )
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
    return body


def completions_of(answer: Any, model: Model) -> list[Completion]:
    """Reads what an endpoint, a batch line or a fixture says. Raises Failed for an error in it."""
    choices = answer.get("choices") if isinstance(answer, Mapping) else None
    if not choices:
        words = str(answer.get("error", answer) if isinstance(answer, Mapping) else answer)[:300]
        raise AttemptError(Remedy("again", f"no reply in the answer: {words}"))
    usage = answer.get("usage") or {}
    done = []
    for number, choice in enumerate(choices):
        message = choice.get("message") or {}
        text, thoughts = spoken(message.get("content") or "")
        if choice.get("finish_reason") == "content_filter":
            raise AttemptError(Remedy("refused", "the content filter refused the call"))
        first = number == 0  # the tokens of a prompt with several replies count once
        tokens_in = usage.get("prompt_tokens") if first else 0
        tokens_out = usage.get("completion_tokens") if first else 0
        done.append(
            Completion(
                text=text,
                thoughts=thoughts or message.get("reasoning_content") or "",
                finish=choice.get("finish_reason") or "",
                logprobs=tuple((choice.get("logprobs") or {}).get("content") or ()),
                tokens_in=tokens_in,
                tokens_out=tokens_out,
                cost=model.cost(tokens_in, tokens_out),
            )
        )
    return done


def open_endpoint(model: Model) -> "Endpoint":
    """The endpoint of a model. Raises UserError if its key is missing."""
    return Endpoint(model)
