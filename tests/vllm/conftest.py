"""A real vLLM on a CPU, and the figures that its tests print for docs/vllm.md."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recjury.llm.vllm.provider import running_servers
from tests.vllm.tiny_llama import CONTEXT, make

PYTHON = os.environ.get("RECJURY_VLLM_PYTHON", "")
_FIGURES: list[str] = []


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The folders of the tiny model and of its adapter. Skipped, saying so, without a vLLM."""
    if not PYTHON:
        pytest.skip("needs a vLLM: make test-vllm")
    kept = os.environ.get("RECJURY_TINY_LLAMA")
    return make(Path(kept) if kept else tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def entry(tiny: tuple[Path, Path]) -> dict[str, Any]:
    """The model in a campaign file."""
    return {
        "provider": "vllm",
        "model": str(tiny[0]),
        "python": PYTHON,
        "gpus": 0,
        "longest_text": 100,
        "args": {"max_model_len": CONTEXT, "dtype": "float32"},
        "env": {"VLLM_CPU_KVCACHE_SPACE": "1", "OMP_NUM_THREADS": "1"},
    }


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.Runner]:
    """An event loop in which servers that were started serve all tests of a module."""
    with asyncio.Runner() as runner:
        block = running_servers()
        runner.run(block.__aenter__())
        yield runner
        runner.run(block.__aexit__(None, None, None))


@pytest.fixture
def figures() -> list[str]:
    """Lines to print at the end."""
    return _FIGURES


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the figures."""
    if _FIGURES:
        terminalreporter.section("measured")
        for line in _FIGURES:
            terminalreporter.write_line(line)
