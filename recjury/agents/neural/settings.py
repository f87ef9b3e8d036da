"""The neural systems as a campaign file names them; their models are loaded when prepared."""

import importlib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field

from recjury.agents.neural.files import weights_digest
from recjury.agents.neural.said import Fidelity
from recjury.agents.settings import SystemSettings
from recjury.corpora import Corpus
from recjury.errors import UserError
from recjury.records import LIST_LENGTH, LookUp

_CLASSES = {"kbrd": "KBRD", "barcor": "BARCOR", "unicrs": "UniCRS"}
_SHIPPED = Path(__file__).parent / "weights"
MISSING = "needs torch and transformers: pip install 'recjury[neural]'"


class Neural(SystemSettings):
    """KBRD, BARCOR or UniCRS, with weights from a folder.

    Without `weights` it has those that ship, for the sample; `{corpus}` in it is the corpus's name.
    `backbones` is a folder of published models that the weights build on, `batch` how many replies
    are written together, `device` one of torch, `length` how many items a turn recommends.
    """

    kind: Literal["kbrd", "barcor", "unicrs"]
    weights: str = ""
    fidelity: Fidelity = "corrected"
    backbones: str = ""
    batch: int = Field(default=16, ge=1, le=1024)
    device: str = "cpu"
    length: int = Field(default=LIST_LENGTH, ge=1, le=100)

    def over(self, corpus: Corpus) -> Self:
        """The settings with the corpus's name in `weights`."""
        return self.model_copy(update={"weights": self.weights.replace("{corpus}", corpus.name)})

    @property
    def folder(self) -> Path:
        """The folder with the weights."""
        return Path(self.weights).expanduser() if self.weights else _SHIPPED / self.kind

    def identity(self, look_up: LookUp) -> Mapping[str, object]:
        """What the folder has stands in place of its name. Raises UserError without a folder."""
        if not self.folder.is_dir():
            raise UserError(f"`weights`: there is no folder {self.folder}")
        found = super().identity(look_up)
        kept = found.keys() - {"weights", "device", "batch"}
        return {key: found[key] for key in kept} | {"digest": weights_digest(self.folder)}

    def prepared(self, corpus: Corpus) -> Any:
        """The system over a corpus. Raises UserError."""
        if not self.weights and corpus.name != "sample":
            raise UserError(
                f"{self.kind} has weights of its own for the corpus `sample` alone: name a folder "
                f"with `weights`; `recjury train {self.kind} --set corpus={corpus.name}` makes one"
            )
        options = self.model_dump(include={"fidelity", "backbones", "device", "batch", "length"})
        return neural_class(self.kind)(corpus, str(self.folder), **options)


def is_installed() -> bool:
    """Whether torch and transformers can be imported."""
    return find_spec("torch") is not None and find_spec("transformers") is not None


def neural_class(kind: str) -> Any:
    """The class of a system. Raises UserError without torch or transformers."""
    if not is_installed():
        raise UserError(f"{kind} {MISSING}")
    return getattr(importlib.import_module(f"recjury.agents.neural.{kind}"), _CLASSES[kind])
