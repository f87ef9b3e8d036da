"""Instructions by which particles are scored, in the form in which FACE's are released.

A file is named after its aspect, and is a JSON list of `{text, iteration}`, further keys aside.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from recjury.errors import UserError
from recjury.files import nearest, read_json


class Instruction(NamedTuple):
    """An instruction, with its name in files of scores ("itr54")."""

    name: str
    text: str


def read_instructions(path: Path, aspects: Sequence[str]) -> Mapping[str, tuple[Instruction, ...]]:
    """The instructions of each aspect, from `{aspect}.json` in a folder, or from one such file.

    Raises UserError if an aspect has none, or if a file is wrong.
    """
    if not path.exists():
        raise UserError(f"there is no file or folder {path} of instructions; `initial` ships")
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    by_aspect = {file.stem: file for file in files}
    for aspect in aspects:
        if aspect not in by_aspect:
            near = nearest(aspect, by_aspect) or f": there are {', '.join(by_aspect) or 'none'}"
            raise UserError(
                f"{path} has no instructions for {aspect}{near}; a file is named after its "
                f"aspect ({aspect}.json), and `aspects` says which are rated"
            )
    return {aspect: tuple(_read(by_aspect[aspect])) for aspect in aspects}


def _read(file: Path) -> list[Instruction]:
    rows = read_json(file)
    if not isinstance(rows, list) or not rows:
        raise UserError(f"{file}: a list of instructions is wanted, each with a `text`")
    found: dict[str, Instruction] = {}
    for number, row in enumerate(rows, 1):
        instruction = _instruction(row, number, file)
        if instruction.name in found:
            raise UserError(f"{file}: two instructions are called {instruction.name}")
        found[instruction.name] = instruction
    return list(found.values())


def _instruction(row: Any, number: int, file: Path) -> Instruction:
    text = row.get("text") if isinstance(row, Mapping) else None
    if not isinstance(text, str) or not text.strip():
        raise UserError(f"{file}: instruction {number} has no `text`")
    return Instruction(f"itr{row.get('iteration', number)}", text)
