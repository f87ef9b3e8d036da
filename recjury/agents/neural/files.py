"""The files of a folder with weights: read without running code, each mistake in one line."""

import hashlib
import json
import pickle
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from recjury.errors import UserError
from recjury.files import read_json
from recjury.keys import one_line

if TYPE_CHECKING:
    from torch import Tensor, nn

_DESCRIPTION = "recjury.json"
TENSORS = ("model.safetensors", "pytorch_model.bin")


class Limits(NamedTuple):
    """How many tokens of a conversation are read, how many entities, how long a reply is."""

    context: int
    entities: int
    reply: int

    def write(self, folder: Path, system: str) -> None:
        """The file that tells a folder of `recjury train` from a published one."""
        text = json.dumps({"system": system, "limits": self._asdict()})
        (folder / _DESCRIPTION).write_text(text, "utf-8")


def described(folder: Path, system: str, published: Limits) -> Limits:
    """The limits that a folder tells, or the published ones.

    Raises UserError if the folder has the weights of another system.
    """
    path = folder / _DESCRIPTION
    if not path.is_file():
        return published
    values = read_json(path)
    try:
        found, limits = values["system"], Limits(**values["limits"])
    except (TypeError, KeyError) as error:
        raise UserError(f"{path}: expected `system` and `limits`: {error}") from None
    if found != system:
        raise UserError(f"{folder} has the weights of {found}: expected those of {system}")
    return limits


def weights_digest(folder: Path) -> str:
    """16 hex digits over all files below a folder, and their names. Raises UserError."""
    found = hashlib.sha256()
    try:
        for path in sorted(each for each in folder.rglob("*") if each.is_file()):
            found.update(f"{path.relative_to(folder).as_posix()}\0".encode())
            with path.open("rb") as file:
                found.update(hashlib.file_digest(file, "sha256").digest())
    except OSError as error:
        raise UserError(f"{error.filename}: {error.strerror}") from None
    return found.hexdigest()[:16]


def file_of(folder: Path, *names: str) -> Path:
    """The first of the names that the folder has. Raises UserError if it has none."""
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise UserError(f"{folder / names[0]} is missing")


def read_tensors(path: Path) -> dict[str, "Tensor"]:
    """The tensors of a file by name. Raises UserError; a pickle with code in it is refused."""
    import torch
    from safetensors.torch import load_file

    with _reading(path, "read as tensors"):
        if path.suffix == ".safetensors":
            return dict(load_file(path))
        found = torch.load(path, map_location="cpu", weights_only=True)
    if not isinstance(found, dict) or not all(map(torch.is_tensor, found.values())):
        raise UserError(f"{path}: expected tensors by name, got {type(found).__name__}")
    return found


def fill(module: "nn.Module", tensors: Mapping[str, "Tensor"], path: Path) -> None:
    """Load tensors into a module, all that it has; others are ignored. Raises UserError."""
    wanted = module.state_dict()
    pairs = [(name, tensors[name].shape, wanted[name].shape) for name in wanted if name in tensors]
    _check_fit(path, wanted.keys() - tensors.keys(), [each for each in pairs if each[1] != each[2]])
    module.load_state_dict({name: tensors[name] for name in wanted})


def pretrained(class_: Any, folder: Path, **changes: Any) -> Any:
    """A model of transformers from its folder. Raises UserError."""
    file_of(folder, "config.json")
    path = file_of(folder, *TENSORS)
    with _reading(path, "loaded"):
        config = class_.config_class.from_pretrained(folder, **changes)
        model, report = class_.from_pretrained(
            folder,
            config=config,
            local_files_only=True,
            ignore_mismatched_sizes=True,
            output_loading_info=True,
        )
    # RoBERTa's pooler is used by nothing here.
    missing = {name for name in report["missing_keys"] if not name.startswith("pooler.")}
    _check_fit(path, missing, report["mismatched_keys"])
    return model.eval()


def backbone(class_: Any, name: str, folders: Sequence[Path]) -> Any:
    """The published model with that name: from one of the folders, or from the hub.

    Raises UserError.
    """
    local = _local(name, folders)
    return pretrained(class_, local) if local else _from_hub(class_, name, folders).eval()


def tokenizer(name: str, folders: Sequence[Path]) -> Any:
    """The tokenizer with that name, which cuts off the beginning. Raises UserError.

    It joins marks with the word before them, as transformers did when the weights were made.
    """
    from transformers import AutoTokenizer

    settings = {
        "truncation_side": "left",
        "clean_up_tokenization_spaces": True,
        "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output": True,
    }
    local = _local(name, folders)
    if local is None:
        return _from_hub(AutoTokenizer, name, folders, **settings)
    # Without these files, transformers would return a tokenizer that knows no words.
    path = file_of(local, "tokenizer.json", "vocab.json")
    with _reading(path, "loaded"):
        return AutoTokenizer.from_pretrained(local, **settings)


def _local(name: str, folders: Sequence[Path]) -> Path | None:
    return next((each / name for each in folders if (each / name).is_dir()), None)


def _from_hub(class_: Any, name: str, folders: Sequence[Path], **settings: Any) -> Any:
    try:
        return class_.from_pretrained(name, **settings)
    except Exception as error:
        looked = " or ".join(map(str, folders))
        raise UserError(
            f"{name} is not in {looked}, and cannot be loaded from the hub ({one_line(error)}): "
            "set `backbones` to a folder that has it"
        ) from None


@contextmanager
def _reading(path: Path, done: str) -> Iterator[None]:
    """Raises UserError for whatever is wrong with a file."""
    try:
        yield
    except pickle.UnpicklingError:
        raise UserError(
            f"{path}: is a pickle of other things than tensors, which could run code: it is not "
            "loaded"
        ) from None
    except Exception as error:
        raise UserError(f"{path}: cannot be {done}: {one_line(error)}") from None


def _check_fit(
    path: Path, missing: Collection[str], mismatched: Iterable[tuple[str, Any, Any]]
) -> None:
    """Raise UserError for names that a file lacks, and for tensors of other sizes."""
    for name in sorted(missing):
        raise UserError(f"{path}: lacks {name!r}: it has the weights of another system")
    for name, found, wanted in sorted(mismatched):
        raise UserError(
            f"{path}: {name!r} is {list(found)}, expected {list(wanted)}: the weights are of "
            "another size, or of another corpus"
        )


def is_memory(error: BaseException) -> bool:
    """Whether an error says that memory does not suffice, of the processor or of a device."""
    return isinstance(error, MemoryError) or "memory" in str(error).lower()


def quiet() -> None:
    """No bars, tables and hints of transformers on standard error: what is wrong is raised."""
    from transformers.utils import logging

    logging.set_verbosity(50)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
