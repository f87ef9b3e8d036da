"""The two ievalm corpora, opened once."""

from pathlib import Path

import pytest

from recjury.corpora.ievalm import IevalmCorpus


@pytest.fixture(scope="session")
def redial(data_folder: Path) -> IevalmCorpus:
    """ReDial of the real data."""
    return IevalmCorpus("redial", data_folder)


@pytest.fixture(scope="session")
def opendialkg(data_folder: Path) -> IevalmCorpus:
    """OpenDialKG of the real data."""
    return IevalmCorpus("opendialkg", data_folder)
