"""A server that recjury starts: shared, healthy before the first call, started again, ended."""

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from recjury.errors import ProviderError
from recjury.llm import Gateway, ModelSpec, NullRecorder
from recjury.llm.model_kinds import read_model
from recjury.llm.vllm.process import free_port
from recjury.llm.vllm.provider import running_servers
from recjury.records import ChatRequest, Message
from tests.llm.vllm.fake_vllm import FakeVllm


@pytest.fixture(autouse=True)
def _own_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs of these tests, apart from those of real runs."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def asked(text: str = "Rate this.", model: str = "main", **more: Any) -> ChatRequest:
    """A request."""
    return ChatRequest(model, (Message("user", (text,)),), "test", **more)


def models(*specs: dict[str, Any]) -> dict[str, ModelSpec]:
    """Models by alias: main, other, third."""
    return dict(zip(("main", "other", "third"), map(read_model, specs), strict=False))


def is_running(pid: int) -> bool:
    """Whether a process has not ended."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that another process does."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 (no event crosses processes)
            await asyncio.sleep(0.02)


def test_a_server_is_started_before_the_first_call_and_ended_with_the_gateway(
    tmp_path: Path,
) -> None:
    fake = FakeVllm(tmp_path / "fake", load=0.3, child=True)

    async def run() -> list[int]:
        async with Gateway(models(fake.spec()), NullRecorder()) as gateway:
            await gateway.check()
            reply = await gateway.complete(asked())
            assert (reply.text, reply.usage.cached_tokens) == ("ok", 4)
            assert (reply.model, reply.usage.cost) == ("model", 0)
            (started,) = fake.seen("started")
            assert is_running(started["pid"])
            assert is_running(started["child"])
            return [started["pid"], started["child"]]

    pids = asyncio.run(run())
    assert [*map(is_running, pids)] == [False, False]


def test_one_server_serves_the_check_and_the_run_and_models_that_share_its_settings(
    tmp_path: Path,
) -> None:
    fake = FakeVllm(tmp_path / "fake")
    strict = fake.spec(adapter=str(fake.adapter), name="strict")

    async def run() -> None:
        async with running_servers():
            given = models(fake.spec(), strict)
            async with Gateway(given, NullRecorder()) as first:
                await first.check()
            async with Gateway(given, NullRecorder(), learning=first.learning) as second:
                await second.complete(asked())
                await second.complete(asked(model="other"))
                learned = second.learned["main"]["server"]
            assert isinstance(learned, dict)
            assert learned["vllm"] == "vllm 9.9.9"

    asyncio.run(run())
    (started,) = fake.seen("started")
    flags = started["flags"]
    assert flags[flags.index("--lora-modules") + 1] == f"strict={fake.adapter}"
    assert "--max-lora-rank=32" in flags
    assert [call["body"]["model"] for call in fake.seen("call")][-2:] == ["model", "strict"]


def test_models_with_other_settings_have_a_server_each(tmp_path: Path) -> None:
    fake = FakeVllm(tmp_path / "fake")
    other = fake.spec(args={"max-model-len": 512, "enable_prefix_caching": False})

    async def run() -> None:
        async with Gateway(models(fake.spec(), other), NullRecorder()) as gateway:
            await gateway.check()

    asyncio.run(run())
    first, second = sorted(fake.seen("started"), key=lambda each: len(each["flags"]))
    assert "--max-model-len=512" not in first["flags"]
    assert second["flags"][-2:] == ["--max-model-len=512", "--no-enable-prefix-caching"]


def test_a_server_that_dies_is_started_again_and_no_call_is_lost(tmp_path: Path) -> None:
    fake = FakeVllm(tmp_path / "fake", dies_after=3)

    async def run() -> None:
        async with Gateway(models(fake.spec()), NullRecorder()) as gateway:
            await gateway.check()
            replies = [await gateway.complete(asked(str(number))) for number in range(7)]
            assert [reply.text for reply in replies] == ["ok"] * 7

    asyncio.run(run())
    assert len(fake.seen("started")) == 1 + len(fake.seen("dies")) == 3


def test_a_server_that_dies_too_often_ends_the_run_with_its_last_lines(tmp_path: Path) -> None:
    fake = FakeVllm(tmp_path / "fake", dies_after=0)

    async def run() -> None:
        given = models(fake.spec(restarts=1, retries=9))
        async with Gateway(given, NullRecorder()) as gateway:
            await gateway.complete(asked())

    with pytest.raises(ProviderError) as raised:
        asyncio.run(run())
    said = str(raised.value)
    assert "died 2 times in this run, and `restarts` is 1" in said
    assert "RuntimeError: the engine is dead" in said
    assert "\n" not in said
    assert len(fake.seen("started")) == 2


def test_a_server_that_says_it_is_broken_is_started_again(tmp_path: Path) -> None:
    fake = FakeVllm(tmp_path / "fake")

    async def run() -> None:
        async with Gateway(models(fake.spec()), NullRecorder()) as gateway:
            await gateway.check()
            fake.break_down()
            checking = asyncio.ensure_future(gateway.check())
            (first,) = fake.seen("started")
            await until(lambda: not is_running(first["pid"]))
            fake.repair()
            await checking
            await gateway.complete(asked())

    asyncio.run(run())
    assert len(fake.seen("started")) == 2


def test_dying_while_it_loads_is_one_line_with_the_reason(tmp_path: Path) -> None:
    reason = "ValueError: the tokenizer has no chat template"
    fake = FakeVllm(tmp_path / "fake", dies_at_load=reason, child=True)

    async def run() -> None:
        async with Gateway(models(fake.spec()), NullRecorder()) as gateway:
            await gateway.check()

    with pytest.raises(ProviderError) as raised:
        asyncio.run(run())
    said = str(raised.value)
    assert f"ended while it loaded the model: {reason}; the whole log: " in said
    assert "\n" not in said
    (started,) = fake.seen("started")
    assert not is_running(started["child"])


def test_dying_of_the_first_request_is_one_line_with_the_reason(tmp_path: Path) -> None:
    fake = FakeVllm(tmp_path / "fake", dies_after=0)

    async def run() -> None:
        async with Gateway(models(fake.spec()), NullRecorder()) as gateway:
            await gateway.check()

    with pytest.raises(ProviderError, match=r"died of the first request .* the engine is dead"):
        asyncio.run(run())
    assert len(fake.seen("started")) == 1


def test_a_load_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    fake = FakeVllm(tmp_path / "fake", load=60)

    async def run() -> None:
        async with Gateway(models(fake.spec(start_timeout=0.5)), NullRecorder()) as gateway:
            await gateway.check()

    with pytest.raises(ProviderError, match=r"did not answer within 0\.5 s: raise start_timeout"):
        asyncio.run(run())
    (started,) = fake.seen("started")
    assert not is_running(started["pid"])


def test_a_port_of_the_file_is_used(tmp_path: Path) -> None:
    fake = FakeVllm(tmp_path / "fake")
    port = free_port()

    async def run() -> None:
        given = models(fake.spec(args={"port": port}))
        async with Gateway(given, NullRecorder()) as gateway:
            await gateway.complete(asked())

    asyncio.run(run())
    (started,) = fake.seen("started")
    assert [each for each in started["flags"] if "--port" in each] == [f"--port={port}"]


def test_a_server_that_ignores_sigterm_is_ended_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recjury.llm.vllm.process._GRACE", 0.3)
    fake = FakeVllm(tmp_path / "fake", deaf=True, child=True)

    async def run() -> None:
        async with Gateway(models(fake.spec()), NullRecorder()) as gateway:
            await gateway.complete(asked())

    asyncio.run(run())
    (started,) = fake.seen("started")
    assert not is_running(started["pid"])
    assert not is_running(started["child"])


def test_a_cancelled_start_leaves_no_process(tmp_path: Path) -> None:
    fake = FakeVllm(tmp_path / "fake", load=60, child=True)

    async def run() -> None:
        async with Gateway(models(fake.spec()), NullRecorder()) as gateway:
            checking = asyncio.ensure_future(gateway.check())
            await until(lambda: bool(fake.seen("started")))
            checking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await checking

    asyncio.run(run())
    (started,) = fake.seen("started")
    assert not is_running(started["pid"])
    assert not is_running(started["child"])


def test_the_server_ends_if_its_supervisor_is_killed(tmp_path: Path) -> None:
    fake = FakeVllm(tmp_path / "fake")

    async def run() -> None:
        async with Gateway(models(fake.spec()), NullRecorder()) as gateway:
            await gateway.complete(asked())
            (started,) = fake.seen("started")
            os.kill(psutil.Process(started["pid"]).ppid(), signal.SIGKILL)
            await until(lambda: not is_running(started["pid"]))
            await gateway.complete(asked("again"))

    asyncio.run(run())
    assert len(fake.seen("started")) == 2
