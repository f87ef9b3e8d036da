"""What people say to each other is no missed turn: found in the dialogues of AB-ReDial and USS."""

import pytest

from recjury.records import Factor
from tests.judges.measured.logs import log, score


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Oh, that sounds really good!", 4),
        ("I have never heard of it, but it looks great.", 4),
        ("It does not appeal to me.", 2),
        ("What else?", 2),
    ],
)
def test_an_earlier_wish_has_lapsed_when_the_user_is_pleased(reply: str, expected: int) -> None:
    """The drama is offered to somebody who had asked for comedies before."""
    told = log("Any comedies?", "Amelie (2001).", reply, "The Insider (1999) is a strong drama.")
    assert score(Factor.COHERENCE, told) == expected


def test_thanks_for_an_explanation_are_no_goodbye() -> None:
    for thanks, expected in (("Thank you for the explanation.", 4), ("Thanks for your help!", 2)):
        told = log("Any thrillers?", "Heat (1995).", thanks, "Alien (1979) is scary, too.")
        assert score(Factor.COHERENCE, told) == expected


def test_asking_what_somebody_liked_before_answers_a_wish() -> None:
    told = log("I love comedies. Any suggestions?", "What are some that you have liked?")
    assert score(Factor.COHERENCE, told) == 4


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("I heard that was sad. Is that true?", "Yup.", 4),
        ("Is it any good?", "I loved it! You will laugh.", 4),
        ("Is that the one with whales?", "It is.", 4),
        ("Is that the one with whales?", "Have a look at Alien (1979).", 2),
        ("Tell me more about it.", "Yup.", 2),
    ],
)
def test_yes_answers_a_question_that_can_be_answered_by_it(
    question: str, answer: str, expected: int
) -> None:
    told = log("Any thrillers?", "Heat (1995).", question, answer)
    assert score(Factor.COHERENCE, told) == expected
