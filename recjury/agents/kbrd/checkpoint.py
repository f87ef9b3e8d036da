"""KBRD checkpoint folders: `rec_model/model.pt` as iEvaLM saves it, and `recjury.json` beside it.

The generator's `conv_model/` is read by `recjury.agents.kbrd.generator`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from torch import Tensor

from recjury.agents.kbrd.model import KbrdModel
from recjury.agents.neural import weights
from recjury.agents.neural.description import (
    METADATA,
    Fidelity,
    Metadata,
    read_metadata,
    write_metadata,
)
from recjury.errors import ConfigError

__all__ = ["METADATA", "WEIGHTS", "KbrdCheckpoint", "Metadata", "load", "save"]

WEIGHTS = Path("rec_model") / "model.pt"


class KbrdCheckpoint(NamedTuple):
    """A loaded model in evaluation mode; `digest` is 16 hex digits over its weights file."""

    model: KbrdModel
    metadata: Metadata | None
    digest: str


def save(folder: Path, model: KbrdModel, metadata: Metadata) -> None:
    """Write a checkpoint folder; a file is whole or not there, metadata comes last."""
    (folder / METADATA).unlink(missing_ok=True)
    weights.write_tensors(folder / WEIGHTS, model.state_dict())
    write_metadata(folder, metadata)


def load(
    folder: Path, *, entities: int, relations: int, fidelity: Fidelity | None = None
) -> KbrdCheckpoint:
    """Load a checkpoint for a graph of that many entities and relations.

    `fidelity` None means what the metadata says, and "ievalm" for a checkpoint without any.
    Raises ConfigError when the folder has none, DataError when the file cannot be read as plain
    tensors, or its tensors are not those of this graph (naming expected and found).
    """
    path = folder / WEIGHTS
    if not path.is_file():
        raise ConfigError(f"no KBRD checkpoint in {folder}: expected {path} (recjury train kbrd)")
    tensors = weights.read_tensors(path)
    metadata = read_metadata(folder)
    if fidelity is None:
        fidelity = metadata.fidelity if metadata else "ievalm"
    weights.refuse_other_entities(tensors, "node_embeds", entities, path)
    model = _model_for(tensors, entities, relations, fidelity)
    weights.load_into(model, tensors, path, whose="KBRD")
    model.eval()
    return KbrdCheckpoint(model, metadata, weights.file_digest([path]))


def _model_for(
    tensors: Mapping[str, Tensor], entities: int, relations: int, fidelity: Fidelity
) -> KbrdModel:
    """An untrained model of the file's own width."""
    dim = weights.size(tensors, "node_embeds", axis=1, default=128)
    bases = weights.size(tensors, "kg_encoder.weight", axis=0, default=8)
    return KbrdModel(entities, relations, dim=dim, bases=bases, fidelity=fidelity)
