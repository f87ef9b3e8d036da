"""A system under test behind HTTP, on 127.0.0.1, that answers as it is told to."""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Answer:
    """What is sent: a whole answer, or one that goes wrong.

    `announced` is a Content-Length other than the body's. "drop" closes without a word, "hang"
    never answers.
    """

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    announced: int | None = None
    wrong: str = ""


@dataclass
class Asked:
    """A request as it came."""

    method: str
    path: str
    headers: Message
    body: dict[str, Any]


Script = Callable[[Asked], Answer]


def says(answer: object, status: int = 200) -> Answer:
    """An answer whose body is `answer` as JSON."""
    return Answer(json.dumps(answer).encode(), status)


class SystemServer:
    """The server, in threads of this process; `asked` are the requests so far."""

    def __init__(self, script: Script):
        """`script` answers each request."""
        self.asked: list[Asked] = []
        self.most_in_flight = 0
        self._in_flight = 0
        self._lock = threading.Lock()
        self._closing = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer._answer(self, script)

            def do_POST(self) -> None:
                outer._answer(self, script)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Keep quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/respond"

    def __enter__(self) -> Self:
        """Start listening."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Let those that hang go, and stop."""
        self._closing.set()
        self._server.shutdown()
        self._thread.join(10)
        self._server.server_close()

    def _answer(self, handler: BaseHTTPRequestHandler, script: Script) -> None:
        raw = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        body = json.loads(raw) if raw else {}
        asked = Asked(handler.command, handler.path, handler.headers, body)
        with self._lock:
            self.asked.append(asked)
            self._in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            self._send(handler, script(asked))
        finally:
            with self._lock:
                self._in_flight -= 1

    def _send(self, handler: BaseHTTPRequestHandler, answer: Answer) -> None:
        if answer.wrong == "hang":
            self._closing.wait(30)
        if answer.wrong:
            handler.close_connection = True
            return
        length = len(answer.body) if answer.announced is None else answer.announced
        handler.send_response(answer.status)
        if "Transfer-Encoding" not in answer.headers:
            handler.send_header("Content-Length", str(length))
        for name, value in answer.headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        try:
            handler.wfile.write(answer.body)
        except (BrokenPipeError, ConnectionResetError):
            handler.close_connection = True  # the client has stopped reading
        if answer.announced is not None:
            handler.close_connection = True
