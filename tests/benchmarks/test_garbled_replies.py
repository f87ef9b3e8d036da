"""What the small judge is trained on and measured with, beside people's replies."""

import pytest

pytest.importorskip("torch")

from benchmarks.garbled_replies import Asked, garbled, word_pairs
from benchmarks.small_judge_garbled import rows
from recjury.corpora import open_corpus


def test_films_names_are_no_words() -> None:
    films = open_corpus("sample", None).catalogue
    found = word_pairs("Then try Heat (1995) or a film", films)
    assert found == {("then", "try"), ("or", "a"), ("a", "film")}


def test_garbled_replies_have_pairs_of_words_that_nobody_wrote() -> None:
    asked = [
        Asked("sample", str(number), (f"I want a {kind} film from the {decade}.",), "Try Heat.")
        for number, (kind, decade) in enumerate(
            (kind, decade) for kind in ("sad", "loud", "blue") for decade in ("sixties", "future")
        )
    ]
    sample = open_corpus("sample", None)
    known = {
        pair
        for split in sample.splits
        for each in sample.examples(split)
        for pair in word_pairs(each.response, sample.catalogue)
    }
    found = list(garbled(asked))
    assert found
    for system, each, text in found:
        assert system in {"kbrd", "barcor", "unicrs"}
        assert each in asked
        assert len(word_pairs(text, sample.catalogue) - known) >= 2


def test_shares_are_of_histories_and_equal_qualities_count_half() -> None:
    replies = [
        {"system": system, "corpus": "sample", "dialogue": name, "history": [name], "text": ""}
        for name in ("a", "b")
        for system in ("kbrd", "retrieval", "person")
    ]
    (row,) = rows(replies, [0.1, 0.5, 0.9, 0.5, 0.5, 0.4], [0.3, 0.6])
    assert (row.system, row.n) == ("kbrd", 2)
    assert row.below_retrieval == 0.75
    assert row.below_person == 0.5
    assert row.below_chatgpt == 0.75
    assert row.low == 0.5
    assert row.high == 1
    assert row.quality == pytest.approx(0.3)
