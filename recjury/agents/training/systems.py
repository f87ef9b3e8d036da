"""The systems that can be trained, by name, with settings that suit the size of a corpus."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from recjury.agents.training.hyperparameters import SystemPlan
from recjury.agents.training.origins import find_origins
from recjury.agents.training.report import TrainingReport
from recjury.corpora import Corpus
from recjury.errors import ConfigError
from recjury.plugins.extras import require_neural
from recjury.tables import WorkProgress

System = Literal["barcor", "kbrd", "unicrs"]
SYSTEMS: tuple[str, ...] = get_args(System)


@dataclass(frozen=True, kw_only=True)
class TrainingOptions:
    """The options of a training.

    `epochs` limits each part of the system. Only KBRD can be trained without a generator
    (`generator` False). `backbones` are published models to start from, as `find_origins` reads
    them; without any, all weights start at random. `half` stores the weights in half precision; the
    report is that of the weights in full precision.
    """

    seed: int = 0
    epochs: int | None = None
    generator: bool = True
    backbones: Sequence[str] = ()
    half: bool = False


DEFAULT_OPTIONS = TrainingOptions()


def train(
    system: str,
    corpus: Corpus,
    out: Path,
    options: TrainingOptions = DEFAULT_OPTIONS,
    *,
    progress: WorkProgress | None = None,
) -> TrainingReport:
    """Train the system with that name and write the checkpoint folder `out`.

    Raises ConfigError for a name that is not in `SYSTEMS`, for a folder with other contents, for
    backbones that are not found, and if the extra `neural` is not installed. Raises DataError if
    there is nothing to train on, and for backbones that do not fit.
    """
    if system not in SYSTEMS:
        raise ConfigError(f"cannot train {system!r}: expected {', '.join(SYSTEMS)}")
    if options.backbones and not options.generator:
        raise ConfigError(
            "backbones are what the generator starts from: leave them out with generator=false"
        )
    require_neural(f"training {system}")
    trainer, kind = _trainer(system)
    origins = find_origins(system, options.backbones)
    chosen = kind.suited_to(_instances(corpus))
    if origins:
        chosen = chosen.from_published()
    if not options.generator:
        chosen = chosen.without_generator()
    report = trainer(
        corpus,
        out,
        seed=options.seed,
        hyperparameters=chosen.at_most(options.epochs),
        progress=progress,
        origins=origins,
    )
    if options.half:
        from recjury.agents.neural.weights import halve
        from recjury.agents.training.output_folder import PARTS

        for part in PARTS:
            halve(out / part)
    return report


def _instances(corpus: Corpus) -> int:
    """The number of training instances."""
    from recjury.agents.kbrd.dataset import splits

    return len(splits(corpus).train)


def _trainer(system: str) -> tuple[Callable[..., TrainingReport], type[SystemPlan]]:
    """The function that trains a system, and the class of its hyperparameters."""
    if system == "kbrd":
        from recjury.agents.kbrd import training as kbrd

        return kbrd.train_kbrd, kbrd.KbrdHyperparameters
    if system == "barcor":
        from recjury.agents.barcor import training as barcor

        return barcor.train_barcor, barcor.BarcorHyperparameters
    from recjury.agents.unicrs import training as unicrs

    return unicrs.train_unicrs, unicrs.UnicrsHyperparameters
