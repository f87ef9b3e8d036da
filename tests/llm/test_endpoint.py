"""The scripted endpoint itself, where other tests lean on it."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest

from recjury.llm import EndpointSpec, Gateway
from tests.endpoint import Body, RemoteEndpoint, fingerprint, prompt
from tests.llm.doubles import MemoryRecorder, request

_CALLER = """
import asyncio, sys
from recjury.llm import Gateway, EndpointSpec
from tests.llm.doubles import MemoryRecorder, request

async def main():
    spec = EndpointSpec(base_url=sys.argv[1], name="scripted")
    async with Gateway({"m": spec}, MemoryRecorder()) as gateway:
        sys.stdin.readline()
        for n in range(5):
            print((await gateway.complete(request(f"kind {n % 2} call {n}"))).text, flush=True)

asyncio.run(main())
"""


def echo(body: Body) -> str:
    """The script of the remote endpoint: says what it was told."""
    return prompt(body)


@pytest.mark.parametrize(("when", "answered"), [("before", 3), ("after", 5)])
@pytest.mark.slow
def test_a_process_is_killed_at_the_call_of_choice(
    when: Literal["before", "after"], answered: int
) -> None:
    with RemoteEndpoint("tests.llm.test_endpoint:echo") as endpoint:
        caller = subprocess.Popen(
            [sys.executable, "-c", _CALLER, endpoint.url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        endpoint.kill_at(caller.pid, 2, containing="kind 1", when=when)
        out, _ = caller.communicate("go\n", timeout=60)
        assert caller.returncode == -signal.SIGKILL
        # Once the reply is written, how far the caller still comes is a race.
        assert 3 <= len(out.splitlines()) <= answered
        asked = [f"kind {n % 2} call {n}" for n in range(5)]
        assert [prompt(body) for body in endpoint.bodies] in [asked[:4], asked[: answered + 1]]


def test_it_counts_equal_bodies() -> None:
    async def run(url: str) -> None:
        for _ in range(2):
            spec = EndpointSpec(base_url=url, name="scripted")
            async with Gateway({"m": spec}, MemoryRecorder()) as gateway:
                await gateway.complete(request("same"))

    with RemoteEndpoint("tests.llm.test_endpoint:echo") as endpoint:
        asyncio.run(run(endpoint.url))
        assert endpoint.counts == {fingerprint(endpoint.bodies[0]): 2}
