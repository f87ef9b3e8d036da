"""The systems that can be trained, by name, with settings that suit the size of a corpus."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from recjury.agents.training.origins import find_origins
from recjury.agents.training.report import TrainingReport
from recjury.corpora import Corpus
from recjury.errors import ConfigError
from recjury.plugins.extras import require_neural
from recjury.tables import WorkProgress

if TYPE_CHECKING:
    from recjury.agents.training.run import SystemPlan

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
    from recjury.agents.kbrd.dataset import splits
    from recjury.agents.training.run import train_system

    origins = find_origins(system, options.backbones)
    chosen = _plans(system).suited_to(len(splits(corpus).train))
    if origins:
        chosen = chosen.from_published()
    if not options.generator:
        chosen = chosen.without_generator()
    chosen = chosen.at_most(options.epochs)
    report = train_system(
        chosen, corpus, out, seed=options.seed, progress=progress, origins=origins
    )
    if options.half:
        from recjury.agents.neural.weights import halve
        from recjury.agents.training.output_folder import PARTS

        for part in PARTS:
            halve(out / part)
    return report


def _plans(system: str) -> type["SystemPlan"]:
    """The class of a system's hyperparameters."""
    if system == "kbrd":
        from recjury.agents.kbrd.training import KbrdHyperparameters

        return KbrdHyperparameters
    if system == "barcor":
        from recjury.agents.barcor.training import BarcorHyperparameters

        return BarcorHyperparameters
    from recjury.agents.unicrs.training import UnicrsHyperparameters

    return UnicrsHyperparameters
