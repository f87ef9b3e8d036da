"""The files of a folder with weights: read without running code, each mistake in one line."""

import hashlib
import json
import pickle
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from recjury.errors import UserError
from recjury.files import read_text

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

_DESCRIPTION = "recjury.json"
_BACKBONES = "backbones"
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
    try:
        values = json.loads(read_text(path))
        found, limits = values["system"], Limits(**values["limits"])
    except (TypeError, ValueError, KeyError) as error:
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

    try:
        if path.suffix == ".safetensors":
            from safetensors.torch import load_file

            return dict(load_file(path))
        found = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        raise _pickle(path) from None
    except Exception as error:
        raise UserError(f"{path}: cannot be read as tensors: {one_line(error)}") from None
    if not isinstance(found, dict) or not all(map(torch.is_tensor, found.values())):
        raise UserError(f"{path}: expected tensors by name, got {type(found).__name__}")
    return found


def fill(module: "nn.Module", tensors: Mapping[str, "Tensor"], path: Path) -> None:
    """Load tensors into a module, all that it has; others are ignored. Raises UserError."""
    wanted = module.state_dict()
    for name, tensor in wanted.items():
        if name not in tensors:
            raise _other_system(path, name)
        if tensors[name].shape != tensor.shape:
            raise _other_size(path, name, tensors[name].shape, tensor.shape)
    module.load_state_dict({name: tensors[name] for name in wanted})


def pretrained(class_: Any, folder: Path, **changes: Any) -> Any:
    """A model of transformers from its folder. Raises UserError."""
    file_of(folder, "config.json")
    path = file_of(folder, *TENSORS)
    with quiet():
        try:
            config = class_.config_class.from_pretrained(folder, **changes)
            model, report = class_.from_pretrained(
                folder,
                config=config,
                local_files_only=True,
                ignore_mismatched_sizes=True,
                output_loading_info=True,
            )
        except pickle.UnpicklingError:
            raise _pickle(path) from None
        except Exception as error:
            raise UserError(f"{path}: cannot be loaded: {one_line(error)}") from None
    for name in sorted(report["missing_keys"]):
        if not name.startswith("pooler."):  # RoBERTa's, which nothing here uses
            raise _other_system(path, name)
    for name, found, wanted in sorted(report["mismatched_keys"]):
        raise _other_size(path, name, found, wanted)
    return model.eval()


class Backbones:
    """Published models and tokenizers that a system builds on.

    Each is looked for in `backbones/` beside the weights, in the folder of the setting `backbones`,
    and by its name on the hub.
    """

    def __init__(self, weights: Path, folder: str):
        """`folder` has folders such as `facebook/bart-base`; it may be empty."""
        self._folders = [weights / _BACKBONES, *([Path(folder).expanduser()] if folder else [])]

    def tokenizer(self, name: str) -> Any:
        """The tokenizer with that name, which cuts off the beginning. Raises UserError.

        It joins marks with the word before them, as transformers did when the weights were made.
        """
        from transformers import AutoTokenizer

        return self._from(
            AutoTokenizer,
            name,
            truncation_side="left",
            clean_up_tokenization_spaces=True,
            clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output=True,
        )

    def model(self, class_: Any, name: str) -> Any:
        """The model with that name. Raises UserError."""
        local = self._local(name)
        return pretrained(class_, local) if local else self._from(class_, name).eval()

    def _local(self, name: str) -> Path | None:
        return next((each / name for each in self._folders if (each / name).is_dir()), None)

    def _from(self, class_: Any, name: str, **settings: Any) -> Any:
        with quiet():
            try:
                return class_.from_pretrained(str(self._local(name) or name), **settings)
            except Exception as error:
                looked = " or ".join(map(str, self._folders))
                raise UserError(
                    f"{name} is not in {looked}, and cannot be loaded from the hub "
                    f"({one_line(error)}): set `backbones` to a folder that has it"
                ) from None


def one_line(error: BaseException, longest: int = 200) -> str:
    """The beginning of an error's message, with its type."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= longest else f"{text[:longest]}..."


def is_memory(error: BaseException) -> bool:
    """Whether an error says that memory does not suffice, of the processor or of a device."""
    return isinstance(error, MemoryError) or "memory" in str(error).lower()


def _pickle(path: Path) -> UserError:
    return UserError(
        f"{path}: is a pickle of other things than tensors, which could run code: it is not loaded"
    )


def _other_system(path: Path, name: str) -> UserError:
    return UserError(f"{path}: lacks {name!r}: it has the weights of another system")


def _other_size(path: Path, name: str, found: "torch.Size", wanted: "torch.Size") -> UserError:
    return UserError(
        f"{path}: {name!r} is {list(found)}, expected {list(wanted)}: the weights are of another "
        "size, or of another corpus"
    )


@contextmanager
def quiet() -> Iterator[None]:
    """Without bars, tables and hints on standard error: what is wrong is raised."""
    from transformers.utils import logging

    level = logging.get_verbosity()
    logging.set_verbosity(50)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        logging.set_verbosity(level)
        logging.enable_progress_bar()  # type: ignore[no-untyped-call]
