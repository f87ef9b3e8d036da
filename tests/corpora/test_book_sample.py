"""The sample about books holds what docs/sample.md promises."""

from collections import Counter
from pathlib import Path

import orjson
import pytest

from recjury.corpora import open_corpus
from recjury.corpora.folder import book_sample_folder

CORPUS = open_corpus("sample-books")
CATALOGUE = CORPUS.catalogue
LINES = (book_sample_folder() / "dialogues.jsonl").read_text("utf-8").splitlines()
DIALOGUES = [orjson.loads(line) for line in LINES]
TURNS = [turn for dialogue in DIALOGUES for turn in dialogue["turns"]]


def test_every_book_has_an_author_a_year_a_genre_a_language_and_a_plot() -> None:
    assert CATALOGUE.domain.name == "book"
    assert len(CATALOGUE) == 40
    for book in CATALOGUE:
        assert all(each.of(book) for each in CATALOGUE.domain.attributes), book.name
        assert book.plot.endswith(".")
        assert book.title not in book.plot


def test_books_share_authors_and_genres() -> None:
    genres = Counter(genre for book in CATALOGUE for genre in book.genres)
    authors = Counter(author for book in CATALOGUE for author in book.writers)

    assert sum(count > 1 for count in authors.values()) >= 8
    assert sum(count > 3 for count in genres.values()) >= 8


def test_the_files_are_small() -> None:
    assert sum(path.stat().st_size for path in book_sample_folder().iterdir()) < 100_000


@pytest.mark.parametrize("turn", TURNS, ids=lambda turn: turn["text"][:30])
def test_a_named_book_stands_in_the_text_and_each_in_the_text_is_named(
    turn: dict[str, object],
) -> None:
    text, named = str(turn["text"]), turn.get("items", [])
    assert isinstance(named, list)
    likes = turn.get("likes", [])
    assert isinstance(likes, list)

    assert all(CATALOGUE.item(id_).title in text for id_ in named)
    assert {mention.id for mention in CATALOGUE.link(text)} <= set(named)
    assert set(likes) <= set(named)


def test_every_book_is_named_and_the_splits_have_scenarios() -> None:
    named = {item for turn in TURNS for item in turn.get("items", [])}
    counts = {split: len(CORPUS.scenarios(split).scenarios) for split in CORPUS.splits}

    assert named == {book.id for book in CATALOGUE}
    assert counts == {"train": 19, "valid": 7, "test": 21}
    assert len(DIALOGUES) == 26


def test_the_files_ship_with_the_package() -> None:
    assert {path.name for path in book_sample_folder().iterdir()} == {
        "dialogues.jsonl",
        "domain.yaml",
        "items.jsonl",
    }
    assert book_sample_folder().is_relative_to(Path(open_corpus.__code__.co_filename).parent)
