"""The SDK's wire: for endpoints that need what the `openai` package knows (proxies, odd
transports). It costs about ten times the CPU of the plain one."""

import openai
from httpx2 import Response

from recjury.llm.spec import ModelSpec
from recjury.llm.transport import HttpResponse, Retryable


class OpenAITransport:
    """Requests to one model's endpoint through an `AsyncOpenAI` client."""

    def __init__(self, spec: ModelSpec, key: str | None):
        """The SDK wants a key even where the endpoint does not: then it sends a dash."""
        self._client = openai.AsyncOpenAI(
            base_url=spec.base_url, api_key=key or "-", max_retries=0, timeout=spec.timeout
        )
        self._seconds = spec.timeout

    async def send(
        self, path: str, body: dict[str, object] | None, *, seconds: float | None = None
    ) -> HttpResponse:
        """One request; raises Retryable when no whole answer comes back in time."""
        limit = self._seconds if seconds is None else seconds
        client = self._client if seconds is None else self._client.with_options(timeout=seconds)
        try:
            if body is None:
                response = await client.get(path, cast_to=Response)
            else:
                response = await client.post(path, cast_to=Response, body=body)
        except openai.APIStatusError as error:
            response = error.response
        except openai.APITimeoutError:
            raise Retryable(f"no answer within {limit:g} s") from None
        except openai.APIConnectionError as error:
            cause = type(error.__cause__ or error).__name__
            raise Retryable(f"cannot connect ({cause})") from None
        headers = {name.lower(): value for name, value in response.headers.items()}
        return HttpResponse(response.status_code, response.content, headers)

    async def aclose(self) -> None:
        """Close its connections."""
        await self._client.close()
