"""Objections that stay, reasons and questions that come again, and claims before their verb."""

import pytest

from recjury.records import Factor
from tests.judges.measured.logs import log, rating, replies, score

RECOVERABILITY = Factor.RECOVERABILITY


@pytest.mark.parametrize(
    "complaint",
    [
        "Hold on, what about Heat (1995)? You haven't told me anything about it.",
        "I'd still like to hear about Heat (1995).",
        "Those can wait. What is Heat (1995) like?",
        "Before you go on, a word about Heat (1995), please.",
        "Never mind those, I was asking about Heat (1995).",
    ],
)
def test_an_ignored_question_is_an_error_pointed_out(complaint: str) -> None:
    """Only what is said of the item answers it; another item does not, nor does a question."""
    before = ("Hello", "Heat (1995) and Alien (1979) are good.", complaint)
    assert score(RECOVERABILITY, log(*before, "You might enjoy Amelie (2001).", "Bye")) == 1
    assert score(RECOVERABILITY, log(*before, "What genre do you like?", "Bye")) == 1
    assert score(RECOVERABILITY, log(*before, "Heat (1995) is about a thief.", "Bye")) == 4


@pytest.mark.parametrize(
    ("objection", "answer", "expected"),
    [
        ("I've seen it.", "Then try Amelie (2001). Do you like it?", 1),
        ("I've seen it.", "Then try Alien (1979). Do you like it?", 4),
        ("I've seen it. Something from the 90s?", "Then try The Insider (1999).", 4),
        ("I've seen it. Something from the 90s?", "Then try Amelie (2001).", 1),
    ],
)
def test_a_correction_must_fit_the_wish(objection: str, answer: str, expected: int) -> None:
    """The wish of the objection, or else the last one; a closing question corrects nothing."""
    told = log("I want a horror film.", "Heat (1995).", objection, answer, "Bye")
    assert score(RECOVERABILITY, told) == expected


def test_coming_back_with_what_was_refused_counts_half() -> None:
    told = log(
        *("Hello", "Heat (1995) is good.", "I've seen it."),
        *("Heat (1995) is good, and so is Alien (1979).", "Not for me."),
        *("Then Amelie (2001).", "Bye"),
    )
    found = rating(RECOVERABILITY, told)
    assert found.score == 3
    assert "0.5 of 2 errors pointed out" in found.rationale


def test_a_genre_is_half_a_reason_the_second_time() -> None:
    first = "How about Amelie (2001)? It is a comedy, as you asked."
    again = "How about Notting Hill (1999)? It is a comedy, as you asked."
    told = rating(Factor.EXPLAINABILITY, log("A comedy, please.", first, "Another one?", again))
    assert told.score == 3
    assert "genre 'comedy', as wished, again, half (turn 4)" in told.rationale


def test_a_person_nobody_asked_for_is_half_a_reason() -> None:
    """A person whom the user named, or who made a film that the user named, is a whole one."""
    answer = "How about The Insider (1999)? Michael Mann directed it."
    assert score(Factor.EXPLAINABILITY, log("Hello", answer)) == 2
    assert score(Factor.EXPLAINABILITY, log("Something by Mann?", answer)) == 4
    assert score(Factor.EXPLAINABILITY, log("I liked Heat (1995).", answer)) == 4


def test_a_question_in_the_same_words_counts_half() -> None:
    canned = [f"Many people like {film}. Have you seen it?" for film in ("Heat", "Alien", "Amelie")]
    told = rating(Factor.PROACTIVENESS, replies(*canned))
    assert told.score == 3
    assert "2 of 3 turns lead on" in told.rationale
    assert "asks 'have you', as before, half (turn 4)" in told.rationale


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("There is Heat (1995). Michael Mann directed it.", 4),
        ("There is Heat (1995). Ridley Scott directed it.", 3),
        ("There is Heat (1995). Al Pacino and Val Kilmer star in it.", 4),
        ("There is Heat (1995). Hugh Grant is in it.", 3),
        ("There is Amelie (2001). It counts as comedy and romance.", 4),
        ("There is Amelie (2001). It counts as horror.", 3),
        ("Alien (1979) is a story from the seventies.", 4),
        ("Alien (1979) is a story from the 90s.", 3),
        ("Heat (1995) is an animated adventure about thieves.", 3),
        ("There is Heat (1995). Do you want something from the sixties?", None),
        ("There is Heat (1995), or one from the sixties.", None),
    ],
)
def test_claims_before_their_verb_and_decades_are_checked(text: str, expected: int | None) -> None:
    assert rating(Factor.GROUNDNESS, replies(text)).score == expected
