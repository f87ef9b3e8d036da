"""KBRD checkpoint folders: `rec_model/model.pt` as iEvaLM saves it, and `recjury.json` beside it.

`recjury.json` says what the weights were trained on and with what; a published checkpoint does
not have it. Weights are read with torch's weights-only loading, which executes nothing.
"""

import hashlib
import os
import pickle
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import orjson
import torch
from pydantic import ValidationError
from torch import Tensor

from recjury.agents.kbrd.model import Fidelity, KbrdModel
from recjury.errors import ConfigError, DataError
from recjury.records import Record

METADATA = "recjury.json"
WEIGHTS = Path("rec_model") / "model.pt"


class Metadata(Record):
    """Where a checkpoint comes from.

    `trained_on` and `stopped_on` say which split, or part of one, was trained on and which
    decided when to stop; `figures` are Recall@k on the latter.
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


class Checkpoint(NamedTuple):
    """A loaded model in evaluation mode; `digest` is 16 hex digits over its weights file."""

    model: KbrdModel
    metadata: Metadata | None
    digest: str


def save(folder: Path, model: KbrdModel, metadata: Metadata) -> None:
    """Write a checkpoint folder; a file is whole or not there, metadata comes last."""
    weights = folder / WEIGHTS
    weights.parent.mkdir(parents=True, exist_ok=True)
    (folder / METADATA).unlink(missing_ok=True)
    partial = weights.with_suffix(".partial")
    torch.save(model.state_dict(), partial)
    os.replace(partial, weights)
    described = (folder / METADATA).with_suffix(".partial")
    described.write_bytes(orjson.dumps(metadata.model_dump(), option=orjson.OPT_INDENT_2))
    os.replace(described, folder / METADATA)


def load(
    folder: Path, *, entities: int, relations: int, fidelity: Fidelity | None = None
) -> Checkpoint:
    """Load a checkpoint for a graph of that many entities and relations.

    `fidelity` None means what the metadata says, and "ievalm" for a checkpoint without any.
    Raises ConfigError when the folder has none, DataError when the file cannot be read as plain
    tensors, or its tensors are not those of this graph (naming expected and found).
    """
    path = folder / WEIGHTS
    if not path.is_file():
        raise ConfigError(f"no KBRD checkpoint in {folder}: expected {path} (recjury train kbrd)")
    content = path.read_bytes()
    tensors = _tensors(path)
    metadata = _metadata(folder / METADATA)
    if fidelity is None:
        fidelity = metadata.fidelity if metadata else "ievalm"
    model = _model_for(tensors, path, entities, relations, fidelity)
    model.load_state_dict(tensors)
    model.eval()
    return Checkpoint(model, metadata, hashlib.sha256(content).hexdigest()[:16])


def _tensors(path: Path) -> dict[str, Tensor]:
    try:
        with warnings.catch_warnings():
            # Of a file it is about to refuse, torch would also say which pickle protocol it has.
            warnings.simplefilter("ignore")
            found = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        reason = str(error).split(". ")[0].splitlines()[0]
        raise DataError(
            f"holds more than tensors, and nothing in it was executed: {reason}", path=path
        ) from error
    except (RuntimeError, EOFError, OSError, ValueError, KeyError) as error:
        raise DataError(f"cannot be read as a torch checkpoint: {error}", path=path) from error
    if not isinstance(found, dict) or not all(isinstance(t, Tensor) for t in found.values()):
        raise DataError(f"expected tensors by name, found {type(found).__name__}", path=path)
    return found


def _metadata(path: Path) -> Metadata | None:
    if not path.is_file():
        return None
    try:
        return Metadata.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise DataError(
            f"not a checkpoint description: {place}: {first['msg']}", path=path
        ) from None


def _model_for(
    tensors: Mapping[str, Tensor], path: Path, entities: int, relations: int, fidelity: Fidelity
) -> KbrdModel:
    """An empty model of the file's own width, once all tensors fit the graph."""
    dim = _size(tensors, "node_embeds", axis=1, default=128)
    bases = _size(tensors, "kg_encoder.weight", axis=0, default=8)
    rows = _size(tensors, "node_embeds", axis=0, default=entities)
    if rows != entities:
        raise DataError(
            f"was trained on {rows} entities, but the graph has {entities}: "
            "use the data set it was trained on",
            path=path,
        )
    model = KbrdModel(entities, relations, dim=dim, bases=bases, fidelity=fidelity)
    expected = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    wrong = [
        f"{name}: expected {_shown(expected.get(name))}, found {_shown(found.get(name))}"
        for name in sorted(expected.keys() | found.keys())
        if expected.get(name) != found.get(name)
    ]
    if wrong:
        raise DataError("not KBRD's tensors: " + "; ".join(wrong), path=path)
    return model


def _size(tensors: Mapping[str, Tensor], name: str, *, axis: int, default: int) -> int:
    tensor = tensors.get(name)
    return default if tensor is None or tensor.dim() <= axis else int(tensor.shape[axis])


def _shown(shape: tuple[int, ...] | None) -> str:
    return "nothing" if shape is None else str(list(shape))
