"""Campaigns that are played once for all frozen tests."""

import pytest

from tests.frozen.played import Player, shared_folder


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Player:
    """Plays the campaigns of `campaigns/`, each once in a test run."""
    return Player(shared_folder(tmp_path_factory))
