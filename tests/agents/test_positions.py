"""Checkpoints that are to read or say more than they can, or nothing: refused when loaded."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from recjury.agents import SystemContext, load_recommender
from recjury.agents.neural.description import METADATA
from recjury.agents.shipped import FOLDER
from recjury.corpora import open_corpus
from recjury.errors import DataError

AROUND = SystemContext(open_corpus("sample"))


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


def described(tmp_path: Path, kind: str, changes: dict[str, dict[str, Any]]) -> Path:
    """The shipped checkpoint, with a description that was edited by hand."""
    folder = tmp_path / kind
    shutil.copytree(FOLDER / kind, folder)
    metadata = json.loads((folder / METADATA).read_text())
    limits = metadata["limits"] | changes.get("limits", {})
    (folder / METADATA).write_text(json.dumps(metadata | changes | {"limits": limits}))
    return folder


@pytest.mark.parametrize(
    ("kind", "limits", "said"),
    [
        ("barcor", {"context": 0}, "limits.context: .* greater than or equal to 3"),
        ("unicrs", {"response": 0}, "limits.response: .* greater than or equal to 1"),
        ("kbrd", {"entities": -1}, "limits.entities: .* greater than or equal to 0"),
        ("kbrd", {"entities": 0}, "kbrd reads entities, but limits: entities is 0"),
        ("unicrs", {"entities": 0}, "unicrs reads entities, but limits: entities is 0"),
    ],
)
def test_one_that_is_to_read_or_say_nothing_is_refused(
    tmp_path: Path, kind: str, limits: dict[str, int], said: str
) -> None:
    folder = described(tmp_path, kind, {"limits": limits})
    with pytest.raises(
        DataError, match=rf"recjury\.json: is not a checkpoint description, .*{said}"
    ):
        load_recommender(kind, kind, {"checkpoint": str(folder)}, AROUND)


def test_a_backbone_of_a_kind_that_the_system_does_not_build_on_is_refused(tmp_path: Path) -> None:
    bart = {"name": "facebook/bart-base", "digest": "0" * 16, "frozen": True}
    folder = described(tmp_path, "unicrs", {"backbones": {"bart": bart}})
    with pytest.raises(DataError, match=r"unicrs builds on gpt2 and roberta, but .* has 'bart'"):
        load_recommender("unicrs", "unicrs", {"checkpoint": str(folder)}, AROUND)


def test_a_tokenizer_with_more_tokens_than_the_model_has_is_refused() -> None:
    other = {"bart": str(FOLDER / "barcor" / "backbones" / "bart")}
    with pytest.raises(DataError, match=r"a vocabulary of \d+, but the tokenizer has \d+ tokens"):
        load_recommender("kbrd", "kbrd", {"backbones": other}, AROUND)
