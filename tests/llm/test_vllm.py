"""A vLLM server of recjury's own: a fake one, and a real one where RECJURY_VLLM names it."""

import asyncio
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import psutil
import pytest
from pydantic import ValidationError

from recjury.errors import Stop, UserError
from recjury.llm import Model, open_model
from tests.llm.doubles import ask_of, gateway

FAKE = Path(__file__).with_name("fake_vllm.py")


@pytest.fixture(autouse=True)
def _logs_go_with_the_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.fixture
def python(tmp_path: Path) -> str:
    """An interpreter in which `-m vllm...` is the fake."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "python"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {FAKE} "$@"\n')
    script.chmod(0o755)
    return str(tmp_path)


async def hello(name: str = "tiny", **model: Any) -> str | None:
    async with gateway(open_model, provider="vllm", name=name, **model) as opened:
        texts = (ask_of(opened).text(f"Hello {n}.", model="main") for n in range(3))
        return (await asyncio.gather(*texts))[0].value


def servers() -> list[psutil.Process]:
    return [each for each in psutil.Process().children(recursive=True) if each.is_running()]


def test_a_server_is_started_asked_and_ended(python: str) -> None:
    before = len(servers())
    said = asyncio.run(hello(python=python, args="--max-model-len 4096 --enforce-eager"))
    assert said is not None
    assert said.startswith(
        "tiny -m vllm.entrypoints.openai.api_server --model tiny --max-model-len"
    )
    assert "--host 127.0.0.1" in said
    assert len(servers()) == before


@pytest.mark.parametrize(
    ("habit", "reason"),
    [
        ("not installed", "vLLM is not installed for .*python"),
        ("lacks memory", r"could not start \(exit code 1\): torch.OutOfMemoryError: CUDA out of"),
        ("dies midway", r"ended \(exit code 1\): RuntimeError: CUDA error"),
    ],
)
def test_what_goes_wrong_is_one_line(
    python: str, monkeypatch: pytest.MonkeyPatch, habit: str, reason: str
) -> None:
    monkeypatch.setenv("VLLM_FAKE", habit)
    with pytest.raises(Stop, match=reason) as error:
        asyncio.run(hello(python=python))
    assert "\n" not in str(error.value)


KILLED = """
import asyncio, os, signal
from tests.llm.doubles import ask_of, gateway
from tests.llm.test_vllm import open_model, servers

async def run():
    model = {"provider": "vllm", "name": "tiny", "python": os.environ["FAKE"]}
    async with gateway(open_model, **model) as opened:
        await ask_of(opened).text("Hello.", model="main")
        print(*(each.pid for each in servers()), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(run())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems leave the server")
def test_a_run_that_is_killed_leaves_no_server(python: str) -> None:
    command = [sys.executable, "-c", KILLED]
    killed = subprocess.run(
        command,
        env={**os.environ, "FAKE": python, "TMPDIR": python},
        stdout=subprocess.PIPE,
        check=False,
    )
    left = [
        psutil.Process(int(pid)) for pid in killed.stdout.split() if psutil.pid_exists(int(pid))
    ]
    assert killed.stdout
    _, alive = psutil.wait_procs(left, timeout=10)
    assert alive == []


def test_this_python_has_no_vllm() -> None:
    with pytest.raises(Stop, match="vLLM is not installed for"):
        asyncio.run(hello())


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ("--port 1", "--port"),
        ("--por=1", "--port"),
        (["--host", "0.0.0.0"], "--host"),
        ("--api_key x", "--api-key"),
        ("--uds /tmp/x", "--uds"),
        ("-O3", "two dashes"),
        ("Qwen/Qwen3-8B", "two dashes"),
        ("--dtype 'half", "quotation"),
    ],
)
def test_arguments_cannot_move_the_server(args: object, reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        Model.model_validate({"provider": "vllm", "name": "m", "args": args})


def test_what_is_missing_is_said_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no interpreter"):
        open_model(Model(provider="vllm", name="m", python=str(tmp_path)))
    with pytest.raises(UserError, match="no folder"):
        open_model(Model(provider="vllm", name=str(tmp_path / "none")))


def test_calls_are_new_with_other_arguments_except_those_about_speed() -> None:
    def reply(args: str, **more: Any) -> object:
        return Model.model_validate({"provider": "vllm", "name": "m", "args": args, **more}).reply

    assert reply("--dtype half --max-num-seqs 8") == reply("--dtype half")
    assert reply("--dtype half", python="/x/bin/python") == reply("--dtype half")
    assert reply("--dtype half") != reply("--dtype=float32")
    assert reply("") != Model(name="m").reply


@pytest.mark.skipif("RECJURY_VLLM" not in os.environ, reason="RECJURY_VLLM names no vLLM")
def test_a_real_server_answers(tmp_path: Path) -> None:
    """RECJURY_VLLM is a Python with vLLM, RECJURY_VLLM_MODEL a small model."""
    name = os.environ["RECJURY_VLLM_MODEL"]
    args = "--max-model-len 2048 --enforce-eager"
    said = asyncio.run(hello(name, python=os.environ["RECJURY_VLLM"], args=args, max_tokens=8))
    assert said
