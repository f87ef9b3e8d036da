"""`recjury.json` beside the weights: what a checkpoint was trained on, and how it reads texts.

A published checkpoint does not have it.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

import orjson
from pydantic import Field, ValidationError, model_validator

from recjury.agents.neural.backbones import TAKES
from recjury.errors import DataError
from recjury.records import Record

if TYPE_CHECKING:
    from recjury.knowledge import Catalogue

METADATA = "recjury.json"
Fidelity = Literal["corrected", "ievalm"]


class Limits(Record):
    """How much a model reads and says: tokens of context, names of entities, tokens of reply.

    BARCOR, which reads words alone, has no entities; the others need some. A context of three
    is one token between `<s>` and `</s>`.
    """

    context: int = Field(ge=3)
    entities: int = Field(ge=0)
    response: int = Field(ge=1)


class Backbone(Record):
    """A published model that training started from.

    `name` is its hub name or the absolute path of its folder, `digest` is over its tensors (see
    `weights.tensors_digest`). One that is `frozen` is no part of the checkpoint: it is read from
    where `name` says. One that was fine-tuned is part of it, and no longer needed.
    """

    name: str
    digest: str
    frozen: bool


class Metadata(Record):
    """Where a checkpoint comes from.

    `trained_on` and `stopped_on` say which split, or part of one, was trained on and which
    decided when to stop; `figures` are Recall@k and the replies' perplexity on the latter, at the
    epochs that were kept. `hyperparameters` are the sizes and, by part, the plans of the training.
    `limits` are those it was trained with (None: the published ones), `item_token` the token its
    generator says in place of an item (None: it says names). `backbones` are by kind (`bart`,
    `gpt2`, `roberta`), and none for what was trained from scratch.
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
        if takes is None:  # the system that is to load it says that it is another one's
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
    """The description in a checkpoint folder, if there is one. DataError if it is broken."""
    path = folder / METADATA
    if not path.is_file():
        return None
    try:
        return Metadata.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        said = first["msg"].removeprefix("Value error, ")
        reason = ": ".join((*map(str, first["loc"]), said))
        raise DataError(f"not a checkpoint description: {reason}", path=path) from None


def refuse_other_checkpoint(folder: Path, model: str, catalogue: "Catalogue") -> None:
    """DataError for a checkpoint whose description names another model or catalogue than these.

    As many entities are not the same ones. A checkpoint without a description is taken.
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
    """Write the description; the file is whole or not there."""
    folder.mkdir(parents=True, exist_ok=True)
    partial = (folder / METADATA).with_suffix(".partial")
    partial.write_bytes(orjson.dumps(metadata.model_dump(), option=orjson.OPT_INDENT_2))
    os.replace(partial, folder / METADATA)
