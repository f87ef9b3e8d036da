"""The weights that come with recjury: tiny models for the sample corpus, `make demo-weights`.

They make the neural systems run without a download or a training. Trained on a few hundred
invented dialogues, they say nothing about how good these systems are.
"""

from pathlib import Path

from recjury.errors import ConfigError

FOLDER = Path(__file__).parent / "sample_weights"
CORPUS = "sample"


def shipped_checkpoint(kind: str, corpus: str, *, name: str) -> Path:
    """The folder of the shipped `kbrd`, `barcor` or `unicrs`.

    `corpus` is the name of the corpus that the system `name` is to work on. Raises ConfigError
    where that is another one than the sample.
    """
    if corpus != CORPUS:
        raise ConfigError(
            f"system {name}: name a checkpoint (recjury train {kind} --dataset {corpus}); the "
            f"weights that ship with recjury are for the corpus {CORPUS}"
        )
    return FOLDER / kind
