"""Endpoints that send what no endpoint should: one line each, and the next call works."""

import asyncio
import gzip
import json
import resource
import time
import zlib

import pytest

from recjury.errors import CallFailed, ProviderError
from recjury.llm import EndpointSpec, Gateway
from tests.endpoint import completion
from tests.llm.doubles import FakeClock, MemoryRecorder, request
from tests.llm.raw_server import RawServer, Write, endless, response, sends

FINE = json.dumps(completion("fine")).encode()


def bomb(size: int) -> bytes:
    """Zeros that unpack to `size` bytes."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    parts = [packer.compress(bytes(2**20)) for _ in range(size // 2**20)]
    return b"".join((*parts, packer.flush()))


def of_choice(**fields: object) -> bytes:
    """A completion whose one choice has these fields."""
    return json.dumps({"choices": [fields]}).encode()


HOSTILE: dict[str, Write] = {
    "html": response(b"<html><head><title>Sign in</title></head></html>"),
    "html, compressed": response(gzip.compress(b"<html></html>"), "Content-Encoding: gzip"),
    "nothing": sends(b""),
    "no http": sends(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "a long status line": sends(b"HTTP/1.1 200 " + b"x" * 100_000 + b"\r\n\r\n"),
    "many headers": sends(b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 100_000 + b"\r\n"),
    "a shorter body": response(FINE, length=len(FINE) + 100),
    "a longer body": response(FINE, length=len(FINE) - 20),
    "a negative length": response(FINE, length=-5),
    "a huge length": response(FINE, length=10**15),
    "an endless body": endless(b"x" * 65_536),
    "endless chunks": endless(
        b"10000\r\n" + b"x" * 65_536 + b"\r\n",
        head=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    ),
    "endless headers": endless(b"X-A: b\r\n", head=b"HTTP/1.1 200 OK\r\n"),
    "drips": endless(b" ", pause=0.05, head=b"HTTP/1.1 200 OK\r\n\r\n{"),
    "dripping headers": endless(b"X-A: b\r\n", pause=0.05, head=b"HTTP/1.1 200 OK\r\n"),
    "wrong chunks": sends(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n"),
    "a bomb": response(bomb(300 * 2**20), "Content-Encoding: gzip"),
    "a broken bomb": response(bomb(2**20)[:-20], "Content-Encoding: gzip"),
    "unknown compression": response(b"abc", "Content-Encoding: br"),
    "invalid utf-8": response(of_choice(message={"content": "x"}).replace(b'"x"', b'"\xff\xfe"')),
    "not a number": response(b'{"choices": [{"message": {"content": NaN}}]}'),
    "a cut surrogate": response(b'{"choices": [{"message": {"content": "\\ud83d"}}]}'),
    "deep": response(b"[" * 100_000 + b"]" * 100_000),
    "a huge number": response(b'{"choices": ' + b"9" * 100_000 + b"}"),
    "choices null": response(b'{"choices": null}'),
    "choices a text": response(b'{"choices": "abc"}'),
    "choice null": response(b'{"choices": [null]}'),
    "message a text": response(of_choice(message="hello")),
    "content a number": response(of_choice(message={"content": 3})),
    "content a mapping": response(of_choice(message={"content": {"a": 1}})),
    "parts of numbers": response(of_choice(message={"content": [1, 2]})),
    "an error in a choice": response(
        of_choice(message={"content": ""}, finish_reason="error", error={"code": 502})
    ),
    "events": response(b'data: {"choices": [{"delta": {"content": "x"}}]}\n\ndata: [DONE]\n\n'),
    "informational for ever": endless(b"HTTP/1.1 100 Continue\r\n\r\n", head=b""),
    "a redirect": response(b"", "Location: https://login.example", status="302 Found"),
    "a redirect to itself": response(b"", "Location: /v1/chat/completions", status="307 Temporary"),
    "no content": response(b"", status="204 No Content"),
    "an error that is no json": response(b"\xff\xfe{{{", status="500 Oops"),
    "an error of 40 MB": response(b"x" * 40_000_000, status="400 Bad Request"),
}


def once(answer: Write) -> Write:
    """A server that sends that once, and answers then."""
    left = [answer]

    async def write(writer: asyncio.StreamWriter) -> None:
        await (left.pop() if left else response(FINE))(writer)

    return write


def spec_of(server: RawServer, **fields: object) -> EndpointSpec:
    """A model of that server."""
    given = {"base_url": server.url, "name": "m", "timeout": 1.0, "outage_patience": 0}
    return EndpointSpec.model_validate({**given, **fields})


def outcome(server: RawServer, calls: int = 1, **fields: object) -> list[object]:
    """The text, or the exception, of calls one after the other."""
    gateway = Gateway({"m": spec_of(server, **fields)}, MemoryRecorder(), clock=FakeClock())

    async def run() -> list[object]:
        async with gateway:
            found: list[object] = []
            for n in range(calls):
                try:
                    found.append((await gateway.complete(request(str(n)))).text)
                except (CallFailed, ProviderError) as error:
                    found.append(error)
            return found

    return asyncio.run(run())


def test_a_header_of_60_kb_is_taken_and_a_larger_one_is_named() -> None:
    for name in ("X-Trace", "Content-Security-Policy"):
        with RawServer(response(FINE, f"{name}: {'x' * 60_000}")) as server:
            assert outcome(server, retries=0) == ["fine"]
        with RawServer(response(FINE, f"{name}: {'x' * 70_000}")) as server:
            (found,) = outcome(server, retries=0)
        assert "a header of the answer has more than 65536 bytes" in str(found)


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_hostile_costs_one_attempt_or_one_line(name: str) -> None:
    begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with RawServer(HOSTILE[name]) as server:
        (found,) = outcome(server, retries=1)
    assert isinstance(found, CallFailed | ProviderError)
    assert "\n" not in str(found)
    assert len(str(found)) < 600
    assert time.monotonic() - begun < 12
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 300_000  # kilobytes
    with RawServer(once(HOSTILE[name])) as server:
        first, second = outcome(server, calls=2, retries=2)
    assert second == "fine"
    about_request = name in ("an error of 40 MB", "a redirect", "a redirect to itself")
    assert first == "fine" or about_request
