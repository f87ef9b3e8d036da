"""Evaluation instructions: read and written in the released format of `face-instructions`.

A file is named after its aspect and contains a JSON list of `{filename, rank, iteration, index,
text}`; scores name an instruction "itr" + `iteration`.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import orjson
from pydantic import ConfigDict, Field, TypeAdapter

from recjury.errors import DataError
from recjury.input_files import read_json_file
from recjury.records import Aspect, Record, digest


class Instruction(Record):
    """One instruction. `iteration` is its name within its aspect; `rank` orders them from 1."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    text: str = Field(min_length=1)
    iteration: int = Field(ge=0)
    rank: int = Field(ge=1)
    index: int = Field(default=0, ge=0)
    filename: str = ""

    @property
    def name(self) -> str:
        """Its name in files of scores."""
        return f"itr{self.iteration}"


Instructions = Mapping[Aspect, tuple[Instruction, ...]]

_FILE = TypeAdapter(list[Instruction])


def read_instructions(path: Path) -> tuple[Instruction, ...]:
    """The instructions of one file, in its order.

    Raises DataError if there are none, if a text is blank, or if a name or text occurs twice.
    """
    found: list[Instruction] = read_json_file(path, _FILE)
    if not found:
        raise DataError("holds no instruction", path=path)
    texts: dict[str, str] = {}
    names: set[str] = set()
    for instruction in found:
        text = " ".join(instruction.text.split())
        if not text:
            raise DataError(f"{instruction.name} is blank", path=path)
        if instruction.name in names:
            raise DataError(f"two instructions are called {instruction.name}", path=path)
        if text in texts:
            raise DataError(f"{texts[text]} and {instruction.name} are the same", path=path)
        names.add(instruction.name)
        texts[text] = instruction.name
    return tuple(found)


def read_instruction_folder(folder: Path) -> dict[Aspect, tuple[Instruction, ...]]:
    """The instructions by aspect, for each `{aspect}.json` in `folder`, in the order of `Aspect`.

    Raises DataError as `read_instructions`, for a file that is not named after an aspect, and if
    there is no file.
    """
    files = {path.stem: path for path in sorted(folder.glob("*.json"))}
    unknown = sorted(files.keys() - set(Aspect))
    if unknown:
        raise DataError(
            f"{unknown[0]!r} is not an aspect: expected {', '.join(Aspect)}", path=files[unknown[0]]
        )
    if not files:
        raise DataError("holds no instructions: expected files like relevance.json", path=folder)
    return {aspect: read_instructions(files[aspect]) for aspect in Aspect if aspect in files}


def write_instructions(path: Path, instructions: Iterable[Instruction]) -> None:
    """Write one aspect's instructions in the released format. Raises DataError."""
    from recjury.corpora.writing import write_file

    rows = [
        {
            "filename": instruction.filename,
            "rank": instruction.rank,
            "iteration": instruction.iteration,
            "index": instruction.index,
            "text": instruction.text,
        }
        for instruction in instructions
    ]
    write_file(path, [orjson.dumps(rows, option=orjson.OPT_INDENT_2)])


def identity(instructions: Sequence[Instruction]) -> str:
    """The identity of a set: 16 hex digits over names and texts, independent of their order."""
    return digest(sorted((each.name, each.text) for each in instructions))[:16]
