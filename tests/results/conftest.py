"""A store to fill."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recjury.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store without anything in it."""
    with Store.open(f"sqlite:///{tmp_path / 'runs.db'}") as opened:
        yield opened
