"""Small weights over the sample of books, made once by the trainings themselves."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from recjury.agents.neural.training import Step, Training, train
from recjury.corpora import Corpus, open_corpus

KINDS = ("kbrd", "barcor", "unicrs")


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Small models are slower with several threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def training(kind: str, **changes: object) -> Training:
    settings = {
        "kind": kind,
        "corpus": "sample-books",
        "width": 16,
        "layers": 1,
        "words": 320,
        "epochs": 8,
        "reply_epochs": 8,
        "reply_rate": 0.01,
    }
    return Training.model_validate(settings | changes)


@pytest.fixture(scope="session")
def steps() -> dict[str, list[Step]]:
    """What each training said of itself."""
    return {kind: [] for kind in KINDS}


@pytest.fixture(scope="session")
def weights(tmp_path_factory: pytest.TempPathFactory, steps: dict[str, list[Step]]) -> Path:
    """A folder with the weights of each kind."""
    folder = tmp_path_factory.mktemp("weights")
    for kind in KINDS:
        train(training(kind, out=str(folder / kind)), steps[kind].append)
    return folder


@pytest.fixture(scope="session")
def books() -> Corpus:
    return open_corpus("sample-books")
