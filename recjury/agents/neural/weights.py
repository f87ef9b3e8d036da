"""Read and write weight files without executing anything in them."""

import hashlib
import os
import pickle
import struct
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from recjury.errors import ConfigError, DataError
from recjury.input_files import sha256_of

_NAMED = 8


def find_weights(folder: Path, names: Sequence[str], *, advice: str) -> Path:
    """The first of `names` that exists in `folder`. Raises ConfigError with the advice if none
    does."""
    for name in names:
        if (folder / name).is_file():
            return folder / name
    wanted = " or ".join(str(folder / name) for name in names)
    raise ConfigError(f"no weights in {folder}: expected {wanted} ({advice})")


def read_tensors(path: Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file or of a torch checkpoint, by name, on the CPU.

    torch files are read with weights-only loading: a file with anything but tensors is refused, and
    nothing in it is executed. Raises DataError for such a file and for one that cannot be read.
    """
    if path.suffix == ".safetensors":
        return _safetensors(path)
    try:
        with warnings.catch_warnings():
            # For a file that it refuses, torch would also warn about the pickle protocol.
            warnings.simplefilter("ignore")
            found = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        reason = str(error).split(". ")[0].splitlines()[0]
        raise DataError(
            f"contains more than tensors (nothing in it was executed): {reason}", path=path
        ) from error
    except (RuntimeError, EOFError, OSError, ValueError, KeyError, struct.error) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(f"cannot be read as a torch checkpoint: {reason}", path=path) from error
    if not isinstance(found, dict) or not all(isinstance(t, Tensor) for t in found.values()):
        raise DataError(f"expected tensors by name, found {type(found).__name__}", path=path)
    for name, tensor in found.items():
        if not isinstance(name, str):
            raise DataError(f"expected tensors by name, found the key {name!r}", path=path)
        if not _is_plain(tensor):
            kind = f"{tensor.layout} {tensor.dtype} on {tensor.device}"
            raise DataError(f"{name}: expected plain real numbers, found {kind}", path=path)
    return found


def _safetensors(path: Path) -> dict[str, Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        tensors: dict[str, Tensor] = load_file(path)
    except (SafetensorError, OSError) as error:
        raise DataError(f"cannot be read as safetensors: {error}", path=path) from error
    return tensors


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write a torch checkpoint in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    torch.save(dict(tensors), partial)
    os.replace(partial, path)


def halve(folder: Path) -> None:
    """Store the weights of torch checkpoints under `folder` in half precision.

    They are still read in single precision. Tensors that share memory continue to share it.
    """
    for path in sorted((*folder.rglob("*.pt"), *folder.rglob("*.bin"))):
        tensors = read_tensors(path)
        halves = {_place(tensor): tensor.half() for tensor in tensors.values()}
        write_tensors(path, {name: halves[_place(tensor)] for name, tensor in tensors.items()})


def load_into(model: nn.Module, tensors: Mapping[str, Tensor], path: Path, *, whose: str) -> None:
    """Copy the tensors into the model, in single precision.

    Raises DataError, with expected and found names and shapes, unless they are exactly those of the
    model.
    """
    expected = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    wrong = [
        f"{name}: expected {_shown(expected.get(name))}, found {_shown(found.get(name))}"
        for name in sorted(expected.keys() | found.keys())
        if expected.get(name) != found.get(name)
    ]
    if wrong:
        more = f"; and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
        raise DataError(f"not {whose}'s tensors: " + "; ".join(wrong[:_NAMED]) + more, path=path)
    with torch.no_grad():
        model.load_state_dict({name: tensor.float() for name, tensor in tensors.items()})


def refuse_other_entities(
    tensors: Mapping[str, Tensor], name: str, entities: int, path: Path, *, extra: int = 0
) -> None:
    """Raise DataError with both counts unless tensor `name` has `entities` + `extra` rows."""
    rows = size(tensors, name, axis=0, default=entities + extra)
    if rows != entities + extra:
        raise DataError(
            f"was trained on {rows - extra} entities, but the graph has {entities}: "
            "use the data set it was trained on",
            path=path,
        )


def file_digest(paths: Iterable[Path]) -> str:
    """16 hex digits over the contents of the files, in their order."""
    found = hashlib.sha256()
    for path in paths:
        found.update(bytes.fromhex(sha256_of(path)))
    return found.hexdigest()[:16]


def tensors_digest(tensors: Mapping[str, Tensor]) -> str:
    """16 hex digits over names, shapes and numbers, independent of the file format.

    Numbers are compared in single precision.
    """
    found = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        found.update(f"{name} {list(tensor.shape)}\n".encode())
        found.update(tensor.float().contiguous().numpy().tobytes())
    return found.hexdigest()[:16]


def size(tensors: Mapping[str, Tensor], name: str, *, axis: int, default: int) -> int:
    """The length of a tensor's axis; the default if there is no such tensor or axis."""
    tensor = tensors.get(name)
    return default if tensor is None or tensor.dim() <= axis else int(tensor.shape[axis])


def _place(tensor: Tensor) -> tuple[int, tuple[int, ...]]:
    """The value that is equal for tensors that are views of the same data."""
    return tensor.data_ptr(), tuple(tensor.shape)


def _is_plain(tensor: Tensor) -> bool:
    """Whether it can be copied into a model as it is: dense, real, and with data."""
    dense = tensor.layout is torch.strided and not tensor.is_quantized and not tensor.is_meta
    return dense and not tensor.is_complex()


def _shown(shape: tuple[int, ...] | None) -> str:
    return "nothing" if shape is None else str(list(shape))
