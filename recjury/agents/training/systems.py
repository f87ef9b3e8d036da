"""The systems that can be trained, by name, with settings that suit the size of a corpus."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal, get_args

from recjury.agents.neural.backbones import Origin
from recjury.agents.training.loop import Progress
from recjury.agents.training.origins import find_origins
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
    backbones: Sequence[str] = (),
    half: bool = False,
) -> TrainingReport:
    """Train the system of that name and write the checkpoint folder `out`.

    `epochs` limits all of its parts. KBRD can do without a generator (`speaks` false).
    `backbones` are published models to start from, as `find_origins` reads them; without any,
    everything starts from random weights. `half` stores the weights in half precision; the
    report is that of the full one. Raises ConfigError for a name that is none of
    `SYSTEMS`, for a folder that holds something else and for backbones that are not there,
    DataError when there is nothing to train on and for backbones that do not fit.
    """
    trainers: dict[str, Callable[..., TrainingReport]] = {
        "barcor": _barcor,
        "kbrd": partial(_kbrd, speaks=speaks),
        "unicrs": _unicrs,
    }
    if system not in trainers:
        raise ConfigError(f"cannot train {system!r}: expected {', '.join(SYSTEMS)}")
    if backbones and not speaks:
        raise ConfigError("--backbone is what the generator starts from: there is to be none")
    origins = find_origins(system, backbones)
    report = trainers[system](corpus, out, seed, epochs, progress, origins)
    if half:
        from recjury.agents.neural.weights import halve
        from recjury.agents.training.place import PARTS

        for part in PARTS:
            halve(out / part)
    return report


def _few(corpus: Corpus) -> bool:
    from recjury.agents.kbrd.dataset import splits

    return len(splits(corpus).train) < _FEW


def _kbrd(
    corpus: Corpus,
    out: Path,
    seed: int,
    epochs: int | None,
    progress: Progress | None,
    origins: Mapping[str, Origin],
    *,
    speaks: bool,
) -> TrainingReport:
    from recjury.agents.kbrd.training import Hyperparameters, train_kbrd

    chosen = Hyperparameters.small() if _few(corpus) else Hyperparameters()
    if origins:
        chosen = chosen.from_published()
    assert chosen.generator is not None, "the default trains one"
    chosen = replace(
        chosen,
        recommender=chosen.recommender.at_most(epochs),
        generator=chosen.generator.at_most(epochs) if speaks else None,
    )
    return train_kbrd(
        corpus, out, seed=seed, hyperparameters=chosen, progress=progress, origins=origins
    )


def _barcor(
    corpus: Corpus,
    out: Path,
    seed: int,
    epochs: int | None,
    progress: Progress | None,
    origins: Mapping[str, Origin],
) -> TrainingReport:
    from recjury.agents.barcor.training import Hyperparameters, train_barcor

    chosen = Hyperparameters.small() if _few(corpus) else Hyperparameters()
    if origins:
        chosen = chosen.from_published()
    chosen = replace(
        chosen,
        recommender=chosen.recommender.at_most(epochs),
        generator=chosen.generator.at_most(epochs),
    )
    return train_barcor(
        corpus, out, seed=seed, hyperparameters=chosen, progress=progress, origins=origins
    )


def _unicrs(
    corpus: Corpus,
    out: Path,
    seed: int,
    epochs: int | None,
    progress: Progress | None,
    origins: Mapping[str, Origin],
) -> TrainingReport:
    from recjury.agents.unicrs.training import Hyperparameters, train_unicrs

    chosen = Hyperparameters.small() if _few(corpus) else Hyperparameters()
    if origins:
        chosen = chosen.from_published()
    chosen = replace(
        chosen,
        prompts=chosen.prompts.at_most(epochs),
        recommender=chosen.recommender.at_most(epochs),
        generator=chosen.generator.at_most(epochs),
    )
    return train_unicrs(
        corpus, out, seed=seed, hyperparameters=chosen, progress=progress, origins=origins
    )
