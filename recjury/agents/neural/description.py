"""`recjury.json` beside the weights: what a checkpoint was trained on, and how it reads texts.

Published checkpoints do not have this file.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

import orjson
from pydantic import Field, model_validator

from recjury.agents.neural.backbones import TAKES
from recjury.errors import DataError
from recjury.input_files import read_record
from recjury.records import Record

if TYPE_CHECKING:
    from recjury.knowledge import Catalogue

METADATA = "recjury.json"
Fidelity = Literal["corrected", "ievalm"]


class Limits(Record):
    """The most that a model reads and writes: tokens of context, names of entities, tokens of
    reply.

    BARCOR reads only words and has 0 entities; the other systems need at least 1. A context has at
    least three tokens: one token between `<s>` and `</s>`.
    """

    context: int = Field(ge=3)
    entities: int = Field(ge=0)
    response: int = Field(ge=1)


class Backbone(Record):
    """A published model that training started from.

    `name` is its hub name or the absolute path of its folder, and `digest` covers its tensors (see
    `weights.tensors_digest`). If it is `frozen`, it is not part of the checkpoint and is read from
    `name`. If it was fine-tuned, it is part of the checkpoint, and `name` is no longer needed.
    """

    name: str
    digest: str
    frozen: bool


class Metadata(Record):
    """The origin of a checkpoint.

    `trained_on` and `stopped_on` name the split, or the part of a split, that it was trained on and
    that decided when to stop. `figures` are Recall@k and the replies' perplexity on the latter, at
    the epochs that were kept. `hyperparameters` are the sizes and, by part, the plans of the
    training. `limits` are those it was trained with (None: the published ones). `item_token` is the
    token that its generator writes in place of an item (None: it writes names). `backbones` are by
    kind (`bart`, `gpt2`, `roberta`); a part trained from scratch has none.
    """

    model: str = "kbrd"
    corpus: str
    catalogue: str
    entities: int
    relations: int
    fidelity: Fidelity
    seed: int
    trained_on: str
    stopped_on: str
    hyperparameters: dict[str, float]
    best_epoch: int
    figures: dict[str, float]
    versions: dict[str, str]
    limits: Limits | None = None
    item_token: str | None = None
    backbones: dict[str, Backbone] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _fits_its_model(self) -> Self:
        takes = TAKES.get(self.model)
        if takes is None:  # loading it reports that it belongs to another system
            return self
        strange = next((kind for kind in self.backbones if kind not in takes), None)
        if strange is not None:
            raise ValueError(
                f"{self.model} builds on {' and '.join(takes)}, but backbones has {strange!r}"
            )
        if self.limits is not None and self.limits.entities < 1 and self.model != "barcor":
            raise ValueError(f"{self.model} reads entities, but limits: entities is 0")
        return self


def read_metadata(folder: Path) -> Metadata | None:
    """The description in a checkpoint folder, or None. Raises DataError if it is invalid."""
    path = folder / METADATA
    if not path.is_file():
        return None
    return read_record(path, Metadata, "a checkpoint description")


def refuse_other_checkpoint(folder: Path, model: str, catalogue: "Catalogue") -> None:
    """Raise DataError if the checkpoint's description names another model or catalogue.

    An equal number of entities does not mean that they are the same. A checkpoint without a
    description is accepted.
    """
    metadata = read_metadata(folder)
    if metadata is None:
        return
    if metadata.model != model:
        raise DataError(
            f"the checkpoint is one of {metadata.model}, not of {model}: give the system "
            f"`kind: {metadata.model}`, or name another checkpoint",
            path=folder,
        )
    if metadata.catalogue != catalogue.digest:
        raise DataError(
            f"the checkpoint was trained for the catalogue {metadata.corpus} "
            f"({metadata.catalogue[:12]}), but this is {catalogue.name} "
            f"({catalogue.digest[:12]}): train one for it, or name another",
            path=folder,
        )


def write_metadata(folder: Path, metadata: Metadata) -> None:
    """Write the description in one step."""
    folder.mkdir(parents=True, exist_ok=True)
    partial = (folder / METADATA).with_suffix(".partial")
    partial.write_bytes(orjson.dumps(metadata.model_dump(), option=orjson.OPT_INDENT_2))
    os.replace(partial, folder / METADATA)
