"""A training from its settings to a folder. torch is imported when it begins."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from recjury.agents.neural.settings import MISSING, is_installed
from recjury.agents.neural.training.settings import Learned, Step, Training
from recjury.corpora import open_corpus
from recjury.errors import UserError


def train(training: Training, progress: Callable[[Step], None]) -> Learned:
    """Train, and write the folder `out` (by default `kind-corpus`), which must be new.

    Raises UserError.
    """
    if not is_installed():
        raise UserError(f"training {training.kind} {MISSING}")
    from recjury.agents.neural.training.learning import learned

    corpus = open_corpus(training.corpus, split=training.split)
    folder = Path(training.out or f"{training.kind}-{corpus.name}").expanduser()
    if folder.exists():
        raise UserError(f"{folder} is there already: name another folder with `out`")
    if not corpus.scenarios:
        why = corpus.skipped[0] if corpus.skipped else "it has no scenarios"
        raise UserError(f"{training.corpus}: {why}: set `split`")
    test = open_corpus(training.corpus, split=training.test)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".training-") as scratch:
        work = Path(scratch) / "weights"
        found = learned(training, corpus, test, work, progress)
        shutil.move(work, folder)
    return found._replace(folder=folder)
