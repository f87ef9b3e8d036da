"""The transport for endpoints that need the `openai` package, for example behind a proxy.

It takes about ten times the CPU time of `AiohttpTransport`.
"""

import openai
from httpx2 import Response

from recjury.llm.transport import HttpResponse, TransportError


class OpenAITransport:
    """Requests to one model's endpoint through an `AsyncOpenAI` client."""

    def __init__(self, base_url: str, key: str | None, seconds: float):
        """Make a client. It needs a key even if the endpoint does not: then the key is a dash."""
        self._client = openai.AsyncOpenAI(
            base_url=base_url,
            api_key=key or "-",
            max_retries=0,
            timeout=seconds,
            http_client=openai.DefaultAsyncHttpxClient(follow_redirects=False),
        )
        self._seconds = seconds

    async def send(
        self, path: str, body: dict[str, object] | None, *, seconds: float | None = None
    ) -> HttpResponse:
        """One request, as `Transport.send`; raises TransportError."""
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
            raise TransportError(f"no answer within {limit:g} s") from None
        except openai.APIConnectionError as error:
            cause = type(error.__cause__ or error).__name__
            raise TransportError(f"cannot connect ({cause})", connected=False) from None
        headers = {name.lower(): value for name, value in response.headers.items()}
        return HttpResponse(response.status_code, response.content, headers)

    async def aclose(self) -> None:
        """Close its connections."""
        await self._client.close()
