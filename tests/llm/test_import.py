"""Importing `llm` is cheap: what is heavy comes when it is needed."""

import subprocess
import sys

_HEAVY = ("autogen_core", "numpy", "openai", "pandas", "scipy", "sqlalchemy", "torch")


def test_nothing_heavy_is_imported_with_it() -> None:
    code = f"import sys, recjury.llm; print([name for name in {_HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
