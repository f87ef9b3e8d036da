"""Files with what is frozen. With FROZEN_WRITE=1 in the environment, tests write them anew.

Whoever does that adds the reason to the list of intended changes in `__init__.py`.
"""

import difflib
import os
from itertools import islice
from pathlib import Path

FOLDER = Path(__file__).parent
WRITE = bool(os.environ.get("FROZEN_WRITE"))
_LINES = 60  # of a difference


def assert_frozen(text: str, name: str) -> None:
    """`text` is the content of the file `name` in this folder."""
    path = FOLDER / name
    if WRITE:
        path.write_text(text, "utf-8")
    frozen = path.read_text("utf-8")
    if text != frozen:
        lines = difflib.unified_diff(frozen.splitlines(), text.splitlines(), name, "now", n=1)
        raise AssertionError("\n".join(islice(lines, _LINES)))
