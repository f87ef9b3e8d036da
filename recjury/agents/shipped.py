"""The weights in the package: tiny models for the sample corpus, made by `make demo-weights`.

With them the neural systems run without a download or training. They were trained on a few hundred
invented dialogues, and do not show how good these systems are.
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

    `corpus` is the one that the system `name` works on. Raises ConfigError if it is not the shipped
    sample; another folder with the same name is not accepted.
    """
    advice = f"system {name}: name a checkpoint (recjury train {kind} --dataset"
    if corpus.name != CORPUS:
        raise ConfigError(
            f"{advice} {corpus.name}); the weights in the package are for the corpus {CORPUS}"
        )
    metadata = read_metadata(FOLDER / kind)
    if metadata is not None and metadata.catalogue != corpus.catalogue.digest:
        raise ConfigError(
            f"{advice} FOLDER); the weights in the package are for the package's sample, "
            f"and this folder named {CORPUS} has other films"
        )
    return FOLDER / kind
