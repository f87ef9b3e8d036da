"""The transport for endpoints that need the `openai` package, for example behind a proxy.

It takes about ten times the CPU time of `AiohttpTransport`.
"""

import asyncio
from collections.abc import AsyncIterator

import openai
from httpx2 import AsyncByteStream, Response

from recjury.llm.transport import MAX_BYTES, HttpResponse, TransportError, too_large


class OpenAITransport:
    """Requests to one model's endpoint through an `AsyncOpenAI` client."""

    def __init__(self, base_url: str, key: str | None, seconds: float, max_bytes: int = MAX_BYTES):
        """Make a client. It needs a key even if the endpoint does not: then the key is a dash."""

        async def limit(response: Response) -> None:
            encoding = response.headers.get("content-encoding", "identity").lower()
            if encoding not in {"", "identity"}:
                raise TransportError(f"the answer is compressed ({encoding[:40]})")
            assert isinstance(response.stream, AsyncByteStream)
            response.stream = _LimitedStream(response.stream, max_bytes)

        self._client = openai.AsyncOpenAI(
            base_url=base_url,
            api_key=key or "-",
            max_retries=0,
            timeout=seconds,
            default_headers={"Accept-Encoding": "identity"},
            http_client=openai.DefaultAsyncHttpxClient(
                follow_redirects=False, event_hooks={"response": [limit]}
            ),
        )
        self._seconds = seconds

    async def send(
        self, path: str, body: dict[str, object] | None, *, seconds: float | None = None
    ) -> HttpResponse:
        """One request, as `Transport.send`; raises TransportError."""
        limit = self._seconds if seconds is None else seconds
        client = self._client if seconds is None else self._client.with_options(timeout=seconds)
        try:
            async with asyncio.timeout(limit):  # the client's own limit is that of one read
                if body is None:
                    response = await client.get(path, cast_to=Response)
                else:
                    response = await client.post(path, cast_to=Response, body=body)
        except openai.APIStatusError as error:
            response = error.response
        except (openai.APITimeoutError, TimeoutError):
            raise TransportError(f"no answer within {limit:g} s") from None
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, TransportError):
                raise error.__cause__ from None
            cause = type(error.__cause__ or error).__name__
            raise TransportError(
                f"cannot connect ({cause})", connected="Connect" not in cause
            ) from None
        headers = {name.lower(): value for name, value in response.headers.items()}
        return HttpResponse(response.status_code, response.content, headers)

    async def aclose(self) -> None:
        """Close its connections."""
        await self._client.close()


class _LimitedStream(AsyncByteStream):
    """The bytes of a response, up to `most` of them."""

    def __init__(self, stream: AsyncByteStream, most: int):
        self._stream, self._most = stream, most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._stream:
            size += len(part)
            if size > self._most:
                raise too_large(self._most)
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()
