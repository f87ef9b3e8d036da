"""Weights that do not fit end in one line that says which file, and why."""

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from recjury.agents import OUTSIDE, load_system
from recjury.agents.neural.training import train
from recjury.corpora import Catalogue, Corpus, Item
from recjury.errors import UserError
from tests.agents.neural.conftest import KINDS, training


def load(kind: str, folder: Path, corpus: Corpus, **more: Any) -> Any:
    settings = {"kind": kind, "weights": str(folder), **more}
    return load_system(settings, corpus, lambda kind, name: "")


class Code:
    """Runs when it is unpickled."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


def without(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def cut(name: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        whole = (folder / name).read_bytes()
        (folder / name).unlink()
        (folder / name).write_bytes(whole[:500])

    return change


def poisoned(name: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).unlink()
        torch.save({"weight": Code(folder / "ran")}, folder / name)

    return change


def grown(name: str, tensor: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        tensors = torch.load(folder / name, weights_only=True)
        tensors[tensor] = torch.cat([tensors[tensor]] * 2)
        (folder / name).unlink()
        torch.save(tensors, folder / name)

    return change


def other(name: str, source: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).unlink()
        shutil.copy(folder / source, folder / name)

    return change


def renamed(folder: Path) -> None:
    names = json.loads((folder / "entity2id.json").read_text())
    names = {("Another book" if n == 0 else name): n for name, n in names.items()}
    (folder / "entity2id.json").write_text(json.dumps(names))


BART, PT = "pytorch_model.bin", "model.pt"
MISTAKES = [
    ("kbrd", without(f"rec_model/{PT}"), f"rec_model/{PT} is missing"),
    ("kbrd", without(f"conv_model/{BART}"), r"conv_model/model\.safetensors is missing"),
    ("barcor", without("conv_model/config.json"), r"conv_model/config\.json is missing"),
    ("unicrs", without(f"conv_model/{PT}"), f"conv_model/{PT} is missing"),
    ("kbrd", cut(f"rec_model/{PT}"), "cannot be read as tensors"),
    ("barcor", cut(f"rec_model/{BART}"), "cannot be loaded"),
    ("kbrd", cut("entity2id.json"), "is not JSON"),
    ("kbrd", cut("kg.json"), "is not JSON"),
    ("kbrd", poisoned(f"rec_model/{PT}"), "could run code: it is not loaded"),
    ("barcor", poisoned(f"conv_model/{BART}"), "could run code: it is not loaded"),
    ("kbrd", grown(f"rec_model/{PT}", "node_embeds"), "another size, or of another corpus"),
    ("unicrs", grown(f"rec_model/{PT}", "node_embeds"), "another size, or of another corpus"),
    ("barcor", grown(f"rec_model/{BART}", "classification_head.out_proj.bias"), "another size"),
    ("kbrd", other(f"rec_model/{PT}", f"conv_model/{BART}"), "the weights of another system"),
    ("barcor", other(f"rec_model/{BART}", f"conv_model/{BART}"), "the weights of another system"),
    (
        "barcor",
        without("backbones/facebook/bart-base/tokenizer.json"),
        r"tokenizer\.json is missing",
    ),
    ("kbrd", renamed, "lacks 1 of 40 items of sample-books"),
]


@pytest.mark.parametrize(("kind", "change", "says"), MISTAKES)
def test_a_folder_that_does_not_fit_is_one_line(
    weights: Path,
    books: Corpus,
    tmp_path: Path,
    kind: str,
    change: Callable[[Path], None],
    says: str,
) -> None:
    folder = tmp_path / kind
    shutil.copytree(weights / kind, folder)
    change(folder)
    with pytest.raises(UserError) as error:
        load(kind, folder, books)
    assert re.search(says, str(error.value))
    assert "\n" not in str(error.value)
    assert not (folder / "ran").exists()


def test_weights_of_another_kind(weights: Path, books: Corpus) -> None:
    with pytest.raises(UserError, match="has the weights of kbrd: expected those of unicrs"):
        load("unicrs", weights / "kbrd", books)


@pytest.mark.parametrize("kind", KINDS)
def test_published_weights_want_their_corpus(
    weights: Path, books: Corpus, tmp_path: Path, kind: str
) -> None:
    """Published folders have no numbers of entities: a corpus without them does not fit."""
    folder = tmp_path / kind
    shutil.copytree(weights / kind, folder)
    (folder / "entity2id.json").unlink()
    few = Catalogue(list(books.catalogue)[:30])
    with pytest.raises(UserError, match="of another size, or of another corpus"):
        load(kind, folder, books._replace(catalogue=few))


def test_an_item_that_the_vocabulary_lacks(weights: Path, books: Corpus) -> None:
    more = Catalogue([*books.catalogue, Item(id="new", name="A new book", year=2026)])
    with pytest.raises(UserError, match=r"lacks 1 of 41 items .* 'A new book \(2026\)'"):
        load("kbrd", weights / "kbrd", books._replace(catalogue=more))


def test_what_is_not_there(books: Corpus, tmp_path: Path, weights: Path) -> None:
    with pytest.raises(UserError, match=r"there is no folder .*nowhere"):
        load("kbrd", tmp_path / "nowhere", books)
    with pytest.raises(UserError, match="recjury train kbrd --set corpus=sample-books"):
        load_system({"kind": "kbrd"}, books, lambda kind, name: "")
    with pytest.raises(UserError, match="on the device meta"):
        load("kbrd", weights / "kbrd", books, device="meta")


def test_other_weights_are_another_version(weights: Path, books: Corpus, tmp_path: Path) -> None:
    folder = tmp_path / "kbrd"
    shutil.copytree(weights / "kbrd", folder)
    same, before = load("kbrd", folder, books), load("kbrd", weights / "kbrd", books)
    assert same.version == before.version
    (folder / "rec_model" / "notes.txt").write_text("epoch 9")
    assert load("kbrd", folder, books).version != before.version
    assert load("kbrd", folder, books, fidelity="ievalm").version != same.version


def test_a_dry_run_needs_no_models(weights: Path, books: Corpus) -> None:
    settings = {"kind": "kbrd", "weights": str(weights / "kbrd")}
    system = load_system(settings, books, lambda kind, name: "", stand_ins=OUTSIDE)
    assert system.version == load("kbrd", weights / "kbrd", books).version


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"split": "trian"}, "has no split 'trian'"),
        ({"start": "nowhere"}, "there is no folder nowhere"),
        ({"corpus": "sampel"}, "did you mean sample"),
    ],
)
def test_a_training_that_cannot_begin(
    tmp_path: Path, changes: dict[str, object], says: str
) -> None:
    asked = training("kbrd", out=str(tmp_path / "new"), **changes)
    with pytest.raises(UserError, match=says):
        train(asked, lambda _: None)
    assert not list(tmp_path.iterdir())
