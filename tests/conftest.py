"""What every test may use, and what none may do."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data; tests that need it are skipped, saying so, where it is missing."""
    named = os.environ.get("RECJURY_DATA")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    if not (folder / "ievalm").is_dir():
        pytest.skip("needs the real data: set RECJURY_DATA to a folder that holds ievalm/")
    return folder
