"""Files that are too large for memory, sent and received over HTTP with aiohttp."""

import contextlib
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import BinaryIO

import aiohttp
from yarl import URL

from recjury.llm.http_response import HttpResponse, TransportError, broken, too_large

_CHUNK = 1 << 18


class FileStreams:
    """Requests whose body or whose answer is a file. The session opens with the first one."""

    def __init__(self, seconds: float):
        """`seconds` limit each pause, and not the whole exchange."""
        self._seconds = seconds
        self._session: aiohttp.ClientSession | None = None

    async def request(
        self,
        method: str,
        url: URL,
        headers: Mapping[str, str],
        *,
        body: AsyncIterator[bytes] | None,
        into: BinaryIO | None,
        most: int,
    ) -> HttpResponse:
        """Send `body`, and write the answer to `into` if its status is 200.

        Any other answer is returned, with at most `most` bytes. Raises TransportError.
        """
        if self._session is None:
            self._session = aiohttp.ClientSession(
                cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False
            )
        with _transport_errors(self._seconds):
            async with self._session.request(
                method,
                url,
                data=body,
                headers=headers,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(
                    total=None, sock_connect=self._seconds, sock_read=self._seconds
                ),
            ) as response:
                kept = {name.lower(): text for name, text in response.headers.items()}
                encoding = kept.get("content-encoding", "identity").lower()
                if into is not None and encoding not in {"", "identity"}:
                    # Its lines could not be read, and their requests would be sent again.
                    raise TransportError(f"the file is compressed ({encoding[:40]})")
                if into is None or response.status != 200:
                    return HttpResponse(response.status, await _read_at_most(response, most), kept)
                async for part in response.content.iter_chunked(_CHUNK):
                    into.write(part)
                return HttpResponse(200, b"", {})

    async def aclose(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None


@contextlib.contextmanager
def _transport_errors(seconds: float) -> Iterator[None]:
    """Raise TransportError, in one line, for what can break."""
    try:
        yield
    except aiohttp.ClientConnectorError as error:
        reason = f"cannot connect ({error.strerror or error.os_error})"
        raise TransportError(reason, connected=False) from None
    except aiohttp.ConnectionTimeoutError as error:
        reason = f"cannot connect ({type(error).__name__})"
        raise TransportError(reason, connected=False) from None
    except TimeoutError:
        raise TransportError(f"no answer within {seconds:g} s") from None
    except (aiohttp.ClientError, OSError) as error:
        raise broken(type(error).__name__) from None


async def _read_at_most(response: aiohttp.ClientResponse, most: int) -> bytes:
    """The body; a body that is too large is not read to its end. Raises TooLargeError."""
    parts, size = [], 0
    async for part in response.content.iter_chunked(_CHUNK):
        size += len(part)
        parts.append(part)
        if size > most:
            response.close()
            raise too_large(most)
    return b"".join(parts)
