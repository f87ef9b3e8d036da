"""KBRD checkpoint folders: `rec_model/model.pt` in iEvaLM's format, and `recjury.json` beside it.

`recjury.agents.kbrd.generator` reads the generator's `conv_model/`.
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
    """Write a checkpoint folder; each file is written in one step, and the metadata last."""
    (folder / METADATA).unlink(missing_ok=True)
    weights.write_tensors(folder / WEIGHTS, model.state_dict())
    write_metadata(folder, metadata)


def load(
    folder: Path, *, entities: int, relations: int, fidelity: Fidelity | None = None
) -> KbrdCheckpoint:
    """Load a checkpoint for a graph with that many entities and relations.

    With `fidelity` None, the metadata's value is used, or "ievalm" if there is no metadata. Raises
    ConfigError if the folder has no checkpoint. Raises DataError if the file cannot be read as
    plain tensors, or if its tensors are not those of this graph (the message has the expected and
    the found ones).
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
    """An untrained model with the same width as the file's tensors."""
    dim = weights.size(tensors, "node_embeds", axis=1, default=128)
    bases = weights.size(tensors, "kg_encoder.weight", axis=0, default=8)
    return KbrdModel(entities, relations, dim=dim, bases=bases, fidelity=fidelity)
