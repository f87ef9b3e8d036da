"""A scripted OpenAI-compatible server on 127.0.0.1: real HTTP, in a thread or in its own process.

A script is a callable from the request's JSON body to what is answered: a `str` (the reply's
text), a `dict` (the whole response body; see `completion`), or a `Fault`. It may be a coroutine
function, and wait for what it likes. In a thread:

    with ScriptedEndpoint(lambda body: "<rating>3</rating>") as endpoint:
        spec = EndpointSpec(base_url=endpoint.url, name="scripted")

In a process of its own (`python -m tests.endpoint --script package.module:function`), held by
`RemoteEndpoint`, which can also have a pid killed at the k-th call of a kind.
"""

import argparse
import asyncio
import importlib
import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request
from collections import Counter
from typing import Any, Literal, Self

from tests.scripted_server import (
    Answer,
    Body,
    Fault,
    Script,
    Server,
    completion,
    fingerprint,
    hashed_embedding,
    prompt,
)

__all__ = [
    "Answer",
    "Body",
    "Fault",
    "RemoteEndpoint",
    "Script",
    "ScriptedEndpoint",
    "completion",
    "fingerprint",
    "hashed_embedding",
    "prompt",
]


class ScriptedEndpoint:
    """The server in a thread of this process."""

    def __init__(
        self,
        script: Script,
        *,
        key: str | None = None,
        models: tuple[str, ...] = ("scripted",),
        listed: tuple[str, ...] | None = None,
        latency: float = 0.0,
        scripted_checks: bool = False,
        in_form: bool = True,
    ):
        """`key` is demanded if given; other model names than `models` get a 404.

        /v1/models names those in `listed`, by default all. With `scripted_checks`, the script
        answers the checks of models, too, and `bodies` has them. `in_form` adds the code that a
        prompt asks for to what the script answers.
        """
        self.server = Server(
            script,
            key=key,
            models=models,
            listed=listed,
            latency=latency,
            scripted_checks=scripted_checks,
            in_form=in_form,
        )
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.url = ""

    def __enter__(self) -> Self:
        """Start listening."""
        self._thread.start()
        port = asyncio.run_coroutine_threadsafe(self.server.start(), self._loop).result(10)
        self.url = f"http://127.0.0.1:{port}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, and let the thread end."""
        asyncio.run_coroutine_threadsafe(self.server.stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    @property
    def bodies(self) -> list[Body]:
        """The chat requests so far, in order of arrival."""
        return self.server.seen.bodies

    @property
    def checks(self) -> list[Body]:
        """The requests so far by which models were checked."""
        return self.server.seen.checks

    @property
    def embedded(self) -> list[Body]:
        """The embedding requests so far."""
        return self.server.seen.embedded

    @property
    def most_in_flight(self) -> int:
        """The most chat requests that were open at one time."""
        return self.server.seen.most_in_flight

    @property
    def counts(self) -> Counter[str]:
        """How often each distinct chat request came, by `fingerprint`."""
        return Counter(map(fingerprint, self.bodies))


class RemoteEndpoint:
    """The server in a process of its own, so that it outlives a killed campaign."""

    def __init__(self, script: str, *, models: tuple[str, ...] = ("scripted",), latency: float = 0):
        """`script` is `package.module:function`, importable from the repository's root."""
        self._command = [sys.executable, "-m", "tests.endpoint", "--script", script]
        self._command += ["--models", ",".join(models), "--latency", str(latency)]
        self.url = ""

    def __enter__(self) -> Self:
        """Start the process and wait until it listens."""
        root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True, cwd=root)
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        if not self.url:
            raise RuntimeError("the scripted endpoint did not start")
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._process.terminate()
        self._process.wait(10)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def kill_at(
        self,
        pid: int,
        at: int,
        *,
        containing: str = "",
        when: Literal["before", "after"] = "before",
    ) -> None:
        """SIGKILL `pid` at the `at`-th chat call (1 = the next) whose prompt has `containing`.

        "before" kills it before the call is answered, "after" once the answer is written
        (how far the process still comes then is a race).
        """
        plan = {"pid": pid, "at": at, "containing": containing, "when": when}
        self._ask("/_kill", plan)

    @property
    def bodies(self) -> list[Body]:
        """The chat requests so far, in order of arrival."""
        bodies: list[Body] = self._ask("/_calls")
        return bodies

    @property
    def counts(self) -> Counter[str]:
        """How often each distinct chat request came, by `fingerprint`."""
        return Counter(map(fingerprint, self.bodies))

    def _ask(self, path: str, body: Body | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url.removesuffix("/v1") + path, data, headers)
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)


async def _serve(server: Server, port: int) -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    chosen = await server.start(port)
    sys.stdout.write(f"http://127.0.0.1:{chosen}/v1\n")
    sys.stdout.flush()
    await stopped.wait()
    await server.stop()


def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.endpoint", description=__doc__)
    parser.add_argument("--script", required=True, help="package.module:function")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--key", default=None)
    parser.add_argument("--models", default="scripted", help="names, separated by commas")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds")
    options = parser.parse_args()
    module, _, name = options.script.partition(":")
    script: Script = getattr(importlib.import_module(module), name)
    models = tuple(options.models.split(","))
    server = Server(script, key=options.key, models=models, latency=options.latency)
    asyncio.run(_serve(server, options.port))


if __name__ == "__main__":
    _main()
