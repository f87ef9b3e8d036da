"""Checkpoints that are to read or say more than they have room for: refused when loaded."""

import shutil
from pathlib import Path

import pytest

from recjury.agents import Surroundings, load_recommender
from recjury.agents.neural.description import METADATA
from recjury.agents.shipped import FOLDER
from recjury.corpora import open_corpus
from recjury.errors import DataError

AROUND = Surroundings(open_corpus("sample"))


@pytest.mark.parametrize("kind", ["barcor", "kbrd", "unicrs"])
def test_without_its_description_a_small_one_is_not_read_as_published(
    tmp_path: Path, kind: str
) -> None:
    folder = tmp_path / kind
    shutil.copytree(FOLDER / kind, folder)
    (folder / METADATA).unlink()
    said = r"positions for \d+ tokens, but contexts of \d+ and replies .* recjury\.json says how"
    with pytest.raises(DataError, match=said):
        load_recommender(kind, kind, {"checkpoint": str(folder)}, AROUND)


def test_a_tokenizer_with_more_tokens_than_the_model_has_is_refused() -> None:
    other = {"bart": str(FOLDER / "barcor" / "backbones" / "bart")}
    with pytest.raises(DataError, match=r"a vocabulary of \d+, but the tokenizer has \d+ tokens"):
        load_recommender("kbrd", "kbrd", {"backbones": other}, AROUND)
