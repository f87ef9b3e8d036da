"""What a training is asked to do, where it stands, and what came of it."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field

from recjury.errors import UserError
from recjury.records import Record


class Step(NamedTuple):
    """An epoch of a part, or a batch, that is over: `loss` is the mean over its examples."""

    part: str
    epoch: int
    epochs: int
    loss: float

    def __str__(self) -> str:
        return f"{self.part}: epoch {self.epoch} of {self.epochs}, loss {self.loss:.3f}"


class Learned(NamedTuple):
    """The weights' folder, how many examples there were, and Recall@k of the last split by k."""

    folder: Path
    recommendations: int
    replies: int
    tested: int
    recall: dict[int, float]


class Schedule(Record):
    """What all trainings have: the first `limit` examples are learned `epochs` times by AdamW."""

    out: str = ""
    epochs: int = Field(default=10, ge=1)
    batch: int = Field(default=32, ge=1)
    rate: float = Field(default=1e-3, gt=0)
    limit: int | None = Field(default=None, ge=1)
    seed: int = 42
    device: str = "cpu"

    @contextmanager
    def new_folder(self, name: str = "") -> Iterator[Path]:
        """A folder to write into, which becomes `out` (or the name) when all is written.

        Raises UserError if that is there already.
        """
        folder = Path(self.out or name).expanduser()
        if folder.exists():
            raise UserError(f"{folder} is there already: name another folder with `out`")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".training-") as scratch:
            yield Path(scratch) / folder.name
            shutil.move(Path(scratch) / folder.name, folder)


class Training(Schedule):
    """A training of `kind` on the split `split` of a corpus; `test` is the split for Recall.

    Without `start`, small models are made, with `layers` layers of `width` features, `words` tokens
    and random weights by `seed`; else the weights of that folder are trained further. `limit` takes
    the first so many examples of each kind. `epochs` and `rate` are of lists, `reply_epochs` and
    `reply_rate` of replies.
    """

    kind: Literal["kbrd", "barcor", "unicrs"]
    corpus: str = "sample"
    split: str = "train"
    test: str = "test"
    start: str = ""
    backbones: str = ""
    reply_epochs: int = Field(default=10, ge=0)
    reply_rate: float = Field(default=3e-3, gt=0)
    width: int = Field(default=64, ge=8, multiple_of=8)
    layers: int = Field(default=2, ge=1)
    words: int = Field(default=2000, ge=300)
