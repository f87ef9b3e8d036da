"""The systems that can be trained, by name, with settings that suit the size of a corpus."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal, get_args

from recjury.agents.training.loop import Progress
from recjury.agents.training.report import TrainingReport
from recjury.corpora import Corpus
from recjury.errors import ConfigError

System = Literal["barcor", "kbrd", "unicrs"]
SYSTEMS: tuple[str, ...] = get_args(System)
_FEW = 2000  # instances


def train(
    system: str,
    corpus: Corpus,
    out: Path,
    *,
    seed: int = 0,
    epochs: int | None = None,
    progress: Progress | None = None,
    speaks: bool = True,
) -> TrainingReport:
    """Train the system of that name and write the checkpoint folder `out`.

    `epochs` limits both of its parts. KBRD can do without a generator (`speaks` false). Raises
    ConfigError for a name that is none of `SYSTEMS` and for a folder that holds something else,
    DataError when there is nothing to train on.
    """
    trainers: dict[str, Callable[..., TrainingReport]] = {
        "barcor": _barcor,
        "kbrd": partial(_kbrd, speaks=speaks),
        "unicrs": _unicrs,
    }
    if system not in trainers:
        raise ConfigError(f"cannot train {system!r}: expected {', '.join(SYSTEMS)}")
    return trainers[system](corpus, out, seed, epochs, progress)


def _few(corpus: Corpus) -> bool:
    from recjury.agents.kbrd.dataset import splits

    return len(splits(corpus).train) < _FEW


def _kbrd(
    corpus: Corpus,
    out: Path,
    seed: int,
    epochs: int | None,
    progress: Progress | None,
    *,
    speaks: bool,
) -> TrainingReport:
    from recjury.agents.kbrd.training import Hyperparameters, train_kbrd

    chosen = Hyperparameters.small() if _few(corpus) else Hyperparameters()
    assert chosen.generator is not None, "the default trains one"
    chosen = replace(
        chosen,
        recommender=chosen.recommender.at_most(epochs),
        generator=chosen.generator.at_most(epochs) if speaks else None,
    )
    return train_kbrd(corpus, out, seed=seed, hyperparameters=chosen, progress=progress)


def _barcor(
    corpus: Corpus, out: Path, seed: int, epochs: int | None, progress: Progress | None
) -> TrainingReport:
    from recjury.agents.barcor.training import Hyperparameters, train_barcor

    chosen = Hyperparameters.small() if _few(corpus) else Hyperparameters()
    chosen = replace(
        chosen,
        recommender=chosen.recommender.at_most(epochs),
        generator=chosen.generator.at_most(epochs),
    )
    return train_barcor(corpus, out, seed=seed, hyperparameters=chosen, progress=progress)


def _unicrs(
    corpus: Corpus, out: Path, seed: int, epochs: int | None, progress: Progress | None
) -> TrainingReport:
    from recjury.agents.unicrs.training import Hyperparameters, train_unicrs

    chosen = Hyperparameters.small() if _few(corpus) else Hyperparameters()
    chosen = replace(
        chosen,
        recommender=chosen.recommender.at_most(epochs),
        generator=chosen.generator.at_most(epochs),
    )
    return train_unicrs(corpus, out, seed=seed, hyperparameters=chosen, progress=progress)
