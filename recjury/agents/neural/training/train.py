"""A training from its settings to a folder. torch is imported when it begins."""

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
    name = training.out or f"{training.kind}-{corpus.name}"
    if not corpus.scenarios:
        why = corpus.skipped[0] if corpus.skipped else "it has no scenarios"
        raise UserError(f"{training.corpus}: {why}: set `split`")
    test = open_corpus(training.corpus, split=training.test)
    with training.new_folder(name) as work:
        found = learned(training, corpus, test, work, progress)
    return found._replace(folder=Path(name).expanduser())
