"""Files with what is frozen. With FROZEN_WRITE=1 in the environment, tests write them anew.

Whoever does that adds the reason to the list of intended changes in `__init__.py`.
"""

import os
from pathlib import Path

FOLDER = Path(__file__).parent
WRITE = bool(os.environ.get("FROZEN_WRITE"))


def assert_frozen(text: str, name: str) -> None:
    """`text` is the content of the file `name` in this folder."""
    path = FOLDER / name
    if WRITE:
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")
