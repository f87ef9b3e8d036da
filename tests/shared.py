"""What is expensive is made once in a test run, by the first worker that needs it."""

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from filelock import FileLock

Value = TypeVar("Value")


def made_once(
    factory: pytest.TempPathFactory, name: str, make: Callable[[Path], Value]
) -> tuple[Path, Value]:
    """The folder `name` that `make` filled, and what it returned (must pickle).

    All tests of the run share the folder, in every worker: do not write to it.
    """
    root = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    folder = root / "shared" / name
    folder.mkdir(parents=True, exist_ok=True)
    value = folder.with_name(f"{name}.pickle")
    with FileLock(f"{folder}.lock"):
        if not value.exists():
            made = make(folder)
            value.write_bytes(pickle.dumps(made))
            return folder, made
        found: Value = pickle.loads(value.read_bytes())
    return folder, found
