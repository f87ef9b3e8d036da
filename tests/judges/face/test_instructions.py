"""Instruction files in the released format."""

from pathlib import Path
from typing import Any

import pytest

from recjury.errors import DataError
from recjury.judges.face.instructions import (
    identity,
    read_instruction_folder,
    read_instructions,
    write_instructions,
)
from recjury.records import Aspect
from tests.corpora.arena import write


def _entry(iteration: int, text: str) -> dict[str, Any]:
    return {"filename": "", "rank": 1, "iteration": iteration, "index": 0, "text": text}


def test_the_released_instructions_load_as_they_are(data_folder: Path, tmp_path: Path) -> None:
    folder = data_folder / "crsarena-eval" / "face-instructions"
    every = read_instruction_folder(folder)
    assert {aspect: len(some) for aspect, some in every.items()} == dict.fromkeys(Aspect, 16)
    assert every[Aspect.RELEVANCE][0].name == "itr54"
    write_instructions(tmp_path / "relevance.json", every[Aspect.RELEVANCE])
    assert read_instruction_folder(tmp_path) == {Aspect.RELEVANCE: every[Aspect.RELEVANCE]}


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([], "holds no instruction"),
        ([_entry(1, "a"), _entry(1, "b")], "two instructions are called itr1"),
        ([_entry(1, "a  b"), _entry(2, "a b\n")], "itr1 and itr2 are the same"),
        ([_entry(1, " \n")], "itr1 is blank"),
        ([{"text": "a", "rank": 1}], "0.iteration: is missing"),
        ([{**_entry(1, "a"), "iteration": "1"}], "0.iteration: "),
    ],
)
def test_files_that_cannot_be_used_are_refused(tmp_path: Path, entries: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        read_instructions(write(tmp_path / "relevance.json", entries))


def test_a_folder_needs_instructions_of_known_aspects(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no instructions"):
        read_instruction_folder(tmp_path)
    write(tmp_path / "fluency.json", [_entry(1, "a")])
    with pytest.raises(DataError, match="'fluency' is not an aspect"):
        read_instruction_folder(tmp_path)


def test_the_order_is_no_part_of_a_sets_identity(tmp_path: Path) -> None:
    some = read_instructions(write(tmp_path / "x.json", [_entry(1, "a"), _entry(2, "b")]))
    other = read_instructions(write(tmp_path / "y.json", [_entry(1, "a"), _entry(2, "c")]))
    assert identity(some) == identity(some[::-1])
    assert identity(some) != identity(other)
