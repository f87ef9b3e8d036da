"""The weights that come with recjury: tiny models for the sample corpus, `make demo-weights`.

They make the neural systems run without a download or a training. Trained on a few hundred
invented dialogues, they say nothing about how good these systems are.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from recjury.agents.neural.description import read_metadata
from recjury.errors import ConfigError

if TYPE_CHECKING:
    from recjury.corpora import Corpus

FOLDER = Path(__file__).parent / "sample_weights"
CORPUS = "sample"


def shipped_checkpoint(kind: str, corpus: "Corpus", *, name: str) -> Path:
    """The folder of the shipped `kbrd`, `barcor` or `unicrs`.

    `corpus` is what the system `name` is to work on. Raises ConfigError where that is another
    one than the sample, be it a folder that is called so.
    """
    advice = f"system {name}: name a checkpoint (recjury train {kind} --dataset"
    if corpus.name != CORPUS:
        raise ConfigError(
            f"{advice} {corpus.name}); the weights that ship with recjury are for the corpus "
            f"{CORPUS}"
        )
    metadata = read_metadata(FOLDER / kind)
    if metadata is not None and metadata.catalogue != corpus.catalogue.digest:
        raise ConfigError(
            f"{advice} FOLDER); the weights that ship with recjury are for the sample that ships, "
            f"and this folder named {CORPUS} has other films"
        )
    return FOLDER / kind
