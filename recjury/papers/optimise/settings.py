"""What an optimisation is asked to do; the defaults are the paper's where it gives a value."""

from typing import Literal

from pydantic import Field

from recjury.records import ModelName, Record


class FaceTraining(Record):
    """An optimisation of FACE's instructions for one `aspect` on people's `labels` (FORM:PATH).

    `config` is a file with the models, of which `model` rates and `rewriter` rewrites (by default
    the same). The paper's: `iterations` K, `beam` b, `candidates` b', `gradients` alpha,
    `exploration` c, `batches` (T = 5 B with B half the rewrites, C.1), `final` instructions, and
    `share` of the dialogues for training. Ours: in an iteration `shown` error cases are spread
    over the beam (algorithm 1 takes all, thousands of calls), and a pull of the bandit samples
    `sampled` particles. With `pool`, nothing is rewritten: the instructions of that file are
    measured anew (FACE*).
    """

    kind: Literal["face"] = "face"
    aspect: str
    labels: str
    config: str
    out: str = "face-instructions"
    store: str = "recjury.db"
    pool: str = ""
    model: ModelName = "main"
    rewriter: ModelName = ""
    iterations: int = Field(default=6, ge=1)
    beam: int = Field(default=4, ge=1)
    candidates: int = Field(default=16, ge=1)
    gradients: int = Field(default=2, ge=1)
    exploration: float = Field(default=1.0, ge=0)
    batches: int = Field(default=5, ge=1)
    final: int = Field(default=16, ge=1)
    shown: int = Field(default=32, ge=1)
    sampled: int = Field(default=64, ge=2)
    samples: int = Field(default=5, ge=1)
    temperature: float = Field(default=0.6, ge=0, le=2)
    share: float = Field(default=0.6, gt=0, lt=1)
    correlation: Literal["spearman", "pearson"] = "spearman"
    seed: int = 0
