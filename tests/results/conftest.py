"""A store in a file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recjury.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "s.db") as opened:
        yield opened
