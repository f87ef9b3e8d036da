"""Connections that are kept, and responses in every form that HTTP/1.1 has."""

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from yarl import URL

from recjury.llm.http_response import HttpResponse, TransportError
from recjury.llm.transport import HttpSession

LENGTH = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine"
CHUNKS = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nf\r\n3;x=y\r\nine\r\n0\r\n\r\n"


@dataclass
class Server:
    """Answers each request with the next of `answers` (the last one for ever), byte by byte if
    `drips`; None is no answer. It closes a connection after what `closes`."""

    answers: list[bytes | None]
    drips: bool = False
    closes: bool = False
    tls: ssl.SSLContext | None = None
    connections: int = 0
    requests: list[bytes] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        self.connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
                self.requests.append(head + await reader.readexactly(int(length or b"0")))
                answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
                if answer is None:
                    await asyncio.sleep(60)
                    return
                for part in (
                    [answer[n : n + 1] for n in range(len(answer))] if self.drips else [answer]
                ):
                    writer.write(part)
                    await writer.drain()
                    await asyncio.sleep(0)
                if self.closes:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


def run(
    server: Server,
    work: Callable[[Callable[[], Awaitable[HttpResponse]], HttpSession], Awaitable[object]],
    *,
    keepalive: float = 60,
    seconds: float = 5,
) -> object:
    """`work` with a function that sends a request to `server`, and its session."""

    async def main() -> object:
        session = HttpSession(keepalive)
        listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=server.tls)
        port = listener.sockets[0].getsockname()[1]
        scheme, host = ("http", "127.0.0.1") if server.tls is None else ("https", "localhost")
        url = URL(f"{scheme}://{host}:{port}/a b?c=d")

        async def send() -> HttpResponse:
            return await session.request("POST", url, b"asked", {"X-A": "b"}, seconds)

        try:
            return await work(send, session)
        finally:
            await session.aclose()
            listener.close()
            await listener.wait_closed()

    return asyncio.run(main())


async def twice(send: Callable[[], Awaitable[HttpResponse]], _: HttpSession) -> list[bytes]:
    """The bodies of two responses, one after the other."""
    first = await send()
    await asyncio.sleep(0.02)
    return [first.body, (await send()).body]


def test_a_request_is_whole() -> None:
    server = Server([LENGTH])
    run(server, twice)
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    first, *headers = head.split(b"\r\n")
    assert first == b"POST /a%20b?c=d HTTP/1.1"
    assert headers[-1] == b"Content-Length: 5"
    assert {b"X-A: b"} < set(headers)
    assert any(each.startswith(b"Host: 127.0.0.1:") for each in headers)
    assert body == b"asked"


@pytest.mark.parametrize("drips", [False, True])
@pytest.mark.parametrize(
    ("answer", "connections"),
    {
        "a length": (LENGTH, 1),
        "chunks": (CHUNKS, 1),
        "informational before": (b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + LENGTH, 1),
        "to be closed": (LENGTH.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"), 2),
        "old": (LENGTH.replace(b"1.1", b"1.0"), 2),
    }.values(),
)
def test_a_connection_is_used_again(answer: bytes, connections: int, *, drips: bool) -> None:
    server = Server([answer], drips=drips)
    assert run(server, twice) == [b"fine", b"fine"]
    assert server.connections == connections


def test_a_body_without_a_length_ends_with_the_connection() -> None:
    server = Server([b"HTTP/1.1 200 OK\r\n\r\nfine"], closes=True)
    assert run(server, twice) == [b"fine", b"fine"]
    assert server.connections == 2


def test_what_the_server_closes_or_was_idle_too_long_is_not_used_again() -> None:
    for server, keepalive in ((Server([LENGTH], closes=True), 60.0), (Server([LENGTH]), 0.001)):
        assert run(server, twice, keepalive=keepalive) == [b"fine", b"fine"]
        assert server.connections == 2


def test_more_than_the_answer_is_nobodys_answer() -> None:
    server = Server([LENGTH + LENGTH.replace(b"fine", b"evil"), LENGTH])
    assert run(server, twice) == [b"fine", b"fine"]
    assert server.connections == 2


def test_of_equal_headers_the_first_counts() -> None:
    answer = LENGTH.replace(b"200 OK", b"429 No\r\nRetry-After: 3\r\nretry-after: 9\r\nX-B: c")

    async def headers(send: Callable[[], Awaitable[HttpResponse]], _: HttpSession) -> object:
        return (await send()).headers

    assert run(Server([answer]), headers) == {"retry-after": "3", "content-length": "4"}


def test_a_late_answer_is_not_taken_for_that_of_the_next_request() -> None:
    async def late(
        send: Callable[[], Awaitable[HttpResponse]], _: HttpSession
    ) -> tuple[str, bytes]:
        with pytest.raises(TransportError) as caught:
            await send()
        return str(caught.value), (await send()).body

    server = Server([None, LENGTH])
    assert run(server, late, seconds=0.1) == ("no answer within 0.1 s", b"fine")
    assert server.connections == 2


def test_a_request_that_is_cancelled_takes_its_connection_with_it() -> None:
    async def cancelled(send: Callable[[], Awaitable[HttpResponse]], _: HttpSession) -> bytes:
        task = asyncio.ensure_future(send())
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return (await send()).body

    server = Server([None, LENGTH])
    assert run(server, cancelled) == b"fine"
    assert server.connections == 2


def test_what_is_open_fails_when_the_session_closes() -> None:
    async def closed(send: Callable[[], Awaitable[HttpResponse]], session: HttpSession) -> object:
        task = asyncio.ensure_future(send())
        await asyncio.sleep(0.05)
        await session.aclose()
        return (await asyncio.gather(task, return_exceptions=True))[0]

    found = run(Server([None]), closed)
    assert isinstance(found, TransportError)
    assert found.connected


def test_a_header_cannot_hold_another_one() -> None:
    async def inject(_: object, session: HttpSession) -> None:
        url = URL("http://127.0.0.1:1/")
        await session.request("GET", url, None, {"X-A": "b\r\nX-B: c"}, 1)

    with pytest.raises(ValueError, match="end of a line"):
        run(Server([LENGTH]), inject)


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and its own certificate for localhost, in one file."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    folder = tmp_path_factory.mktemp("certificate")
    key, made = folder / "key.pem", folder / "made.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    command += ["-keyout", str(key), "-out", str(made)]
    subprocess.run(command, check=True, capture_output=True)
    both = folder / "both.pem"
    both.write_text(key.read_text() + made.read_text())
    return both


def test_tls_is_spoken_with_those_whose_certificate_is_known(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate)
    with pytest.raises(TransportError, match=r"cannot connect \(.*certificate.*\)") as caught:
        run(Server([LENGTH], tls=tls), twice)
    assert not caught.value.connected
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    server = Server([CHUNKS], tls=tls)
    assert run(server, twice) == [b"fine", b"fine"]
    assert server.connections == 1
