"""Objections that stay, reasons and questions that come again, and claims before their verb."""

import pytest

from recjury.records import Factor, Speaker, Turn
from tests.judges.measured.logs import HEAT, log, rating, replies, score

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
    assert score(RECOVERABILITY, log(*before, "You might enjoy Amelie (2001).", "Bye")) == 0
    assert score(RECOVERABILITY, log(*before, "What genre do you like?", "Bye")) == 0
    assert score(RECOVERABILITY, log(*before, "Heat (1995) is about a thief.", "Bye")) == 4


@pytest.mark.parametrize(
    ("objection", "answer", "expected"),
    [
        ("I've seen it.", "Then try Amelie (2001). Do you like it?", 0),
        ("I've seen it.", "Then try Alien (1979). Do you like it?", 4),
        ("I've seen it. Something from the 90s?", "Then try The Insider (1999).", 4),
        ("I've seen it. Something from the 90s?", "Then try Amelie (2001).", 0),
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
        ("There is Heat (1995). Ridley Scott directed it.", 0),
        ("There is Heat (1995). Al Pacino and Val Kilmer star in it.", 4),
        ("There is Heat (1995). Hugh Grant is in it.", 0),
        ("There is Amelie (2001). It counts as comedy and romance.", 4),
        ("There is Amelie (2001). It counts as horror.", 0),
        ("Alien (1979) is a story from the seventies.", 4),
        ("Alien (1979) is a story from the 90s.", 0),
        ("Heat (1995) is an animated adventure about thieves.", 0),
        ("There is Heat (1995). Do you want something from the sixties?", None),
        ("There is Heat (1995), or one from the sixties.", None),
    ],
)
def test_claims_before_their_verb_and_decades_are_checked(text: str, expected: int | None) -> None:
    assert rating(Factor.GROUNDNESS, replies(text)).score == expected


def test_one_false_claim_of_one_is_0() -> None:
    """The lower score of the number of errors and of the share of right claims."""
    assert score(Factor.GROUNDNESS, replies("Alien (1979) is a romance.")) == 0
    told = replies("Alien (1979) is a romance. Ridley Scott directed it.")
    assert score(Factor.GROUNDNESS, told) == 2


def test_it_is_not_the_film_that_is_compared() -> None:
    text = "There is Alien (1979). Like Heat (1995) it counts as horror; Ridley Scott directed it."
    assert score(Factor.GROUNDNESS, replies(text)) == 4


def test_a_film_about_a_man_who_is_no_sentence_about_a_person() -> None:
    text = "Try Heat (1995). It is an animated adventure about a man who steals."
    assert score(Factor.GROUNDNESS, replies(text)) == 0
    assert rating(Factor.GROUNDNESS, replies("Try Heat (1995). He was in a comedy.")).score is None


def test_suggesting_a_film_leads_a_quarter() -> None:
    told = rating(Factor.PROACTIVENESS, replies("Take Heat (1995)."))
    assert (told.score, "suggests a film, a quarter" in told.rationale) == (1, True)
    assert score(Factor.PROACTIVENESS, replies("Heat. Have you seen it?", "It is old.")) == 2


def test_salad_gives_no_reason() -> None:
    assert score(Factor.EXPLAINABILITY, replies("Take Heat (1995), it is about a man.")) == 4
    assert score(Factor.EXPLAINABILITY, replies("Take Heat (1995), it is about a man and a.")) == 0


def test_what_is_not_understood_is_an_objection() -> None:
    """Salad does not clear it up, and another film that makes sense does."""
    asked = ("Hello", "Heat (1995) is good.", "What are you getting at?")
    assert score(RECOVERABILITY, log(*asked, "Alien (1979) is tense and tense.", "Bye")) == 0
    assert score(RECOVERABILITY, log(*asked, "I meant Alien (1979).", "Bye")) == 4


def test_a_film_that_the_system_named_before_is_recommended() -> None:
    """A film that the user named is not; one from the history of the system is."""
    history = [
        Turn(speaker=Speaker.SYSTEM, text="Have you seen Heat (1995)?"),
        Turn(speaker=Speaker.USER, text="No, but I liked Alien (1979)."),
    ]
    told = log(
        "Heat (1995) it is, like Alien (1979).", items=(HEAT,), history=history, system_opens=True
    )
    found = rating(Factor.SEMANTIC_RELEVANCE, told)
    assert found.rationale == "1 of 1 recommended film in the list"
