"""Coherence and Recoverability: what a turn must do after what the user declares to do."""

import asyncio

import pytest

from recjury.judges.measured.wishes import has
from recjury.knowledge import known_domain
from recjury.records import Attribute, Factor, Status, Turn
from tests.judges.measured.logs import (
    BLIND,
    PANEL,
    SHOP,
    log,
    phone,
    rating,
    says,
    score,
    talk,
)

COHERENCE, RECOVERABILITY = Factor.COHERENCE, Factor.RECOVERABILITY
WISH = says("A comedy, please.", "wish genre=comedy")
AFTER_A_WISH = [
    ("Try Amelie (2001).", True),
    ("Alien (1979) or Heat (1995).", False),  # neither is a comedy
    ("Amelie (2001) or Alien (1979).", True),  # it begins with one that is
    ("Which decade do you like?", True),
    ("I like films.", False),
    ('Try "The Silent Thing".', True),  # nobody knows whether it is one
    ("I loved it [garbled].", False),
    ("Notting Hill (1999), Alien (1979) or Heat (1995).", True),
]


@pytest.mark.parametrize(("reply", "answers"), AFTER_A_WISH)
def test_a_wish_is_answered_by_an_item_that_has_it_or_by_a_question(
    reply: str, *, answers: bool
) -> None:
    assert score(COHERENCE, talk(WISH, reply)) == (4 if answers else 0)


ABOUT_HEAT = says("Who made Heat?", "ask heat director=")
QUESTIONS = [
    (ABOUT_HEAT, "Michael Mann did.", True),
    (ABOUT_HEAT, "It is a thriller.", False),  # true, but not what was asked
    (ABOUT_HEAT, "Try Alien (1979).", False),
    (ABOUT_HEAT, "Do you like films?", False),
    (says("What is Heat?", "ask heat"), "A thriller by Michael Mann.", True),
    (says("What is Heat?", "ask heat"), "Well, have a nice day.", False),
    (says("Is Heat violent?", "ask heat"), "Yes, quite violent.", True),
    (says("And the theatres near me?", "ask"), "There are two.", True),  # nobody can tell
    (says("And the theatres near me?", "ask"), "The theatres are fine.", True),
    (says("And the theatres near me?", "ask"), "It was great.", False),
    (says("And who made it?", "ask"), "That was Jane Doe.", True),
]


@pytest.mark.parametrize(("question", "reply", "answers"), QUESTIONS)
def test_a_question_is_answered_by_what_was_asked(
    question: Turn, reply: str, *, answers: bool
) -> None:
    assert score(COHERENCE, talk(question, reply)) == (4 if answers else 0)


def test_a_question_beside_a_wish_is_answered_by_either() -> None:
    both = says("Is Heat a comedy? If not, give me one.", "ask heat", "wish genre=comedy")
    for reply in ("Try Amelie (2001).", "It is a thriller."):
        assert score(COHERENCE, talk(both, reply)) == 4


def test_nothing_new_is_called_for_after_thanks_but_after_a_goodbye_nothing() -> None:
    bye = says("Thanks, goodbye!", "thank", "bye")
    assert score(COHERENCE, talk(bye, "Have fun!")) == 4
    assert score(COHERENCE, talk(bye, "Try Heat (1995).")) == 0
    assert score(COHERENCE, talk(says("Great, thanks!", "thank"), "Try Heat (1995).")) == 4


def test_a_wish_has_lapsed_when_the_user_is_pleased() -> None:
    """The thriller is offered to somebody who has taken a comedy."""
    taken = talk(WISH, "Amelie (2001).", says("I take it!", "accept amelie"), "Heat (1995), too.")
    still = talk(WISH, "Amelie (2001).", says("Hm.", "chat"), "Heat (1995), too.")
    assert (score(COHERENCE, taken), score(COHERENCE, still)) == (4, 2)


def test_what_was_rejected_stays_so_until_it_is_wanted() -> None:
    no_horror = says("No horror.", "refuse genre=horror")
    turns = (no_horror, "Which films do you like?", says("Any.", "wish"), "Alien (1979).")
    assert score(COHERENCE, talk(*turns)) == 2
    wanted = says("Now horror!", "wish genre=horror")
    assert score(COHERENCE, talk(no_horror, "Which do you like?", wanted, "Alien (1979).")) == 4


def test_an_item_of_both_genres_is_neither_wanted_nor_rejected() -> None:
    drama = says("A comedy, no drama.", "wish genre=comedy", "refuse genre=drama")
    assert score(COHERENCE, talk(drama, "Notting Hill (1999).")) == 4  # comedy and drama


def test_wishes_of_other_domains_and_kinds() -> None:
    cheap = says("A cheap phone.", "wish price=cheap")
    assert score(COHERENCE, talk(cheap, "Try the Nova Twelve."), SHOP) == 4
    assert score(COHERENCE, talk(cheap, "Try the Orbit Max."), SHOP) == 0
    waterproof = says("A waterproof one.", "wish seal=waterproof")  # no attribute of the shop
    assert score(COHERENCE, talk(waterproof, "Try the Orbit Max."), SHOP) == 4
    for wish, there in (("decade=1990s", True), ("actor=Al Pacino", True), ("year=1979", False)):
        asked = says("Well?", f"wish {wish}")
        assert score(COHERENCE, talk(asked, "Heat (1995).")) == (4 if there else 0)


@pytest.mark.parametrize(
    ("price", "wanted", "expected"),
    [
        ("199", "under 300", True),
        ("199", "under 100", False),
        ("$199.50", "199", False),
        ("199", "cheap", None),  # nobody knows what is
        ("cheap", "under 300", None),
        ("cheap", "expensive", False),
    ],
)
def test_a_price_is_compared_as_a_number(price: str, wanted: str, *, expected: bool | None) -> None:
    item = phone("a14", "Galaxy A14", "Acme", price)
    assert has(item, Attribute("price", wanted), known_domain("product")) is expected


def test_a_value_that_is_only_asked_about_is_no_wish() -> None:
    thriller = says("A thriller!", "wish genre=thriller")
    asked = says("Is Amelie a comedy?", "ask amelie")
    more = says("Another one!", "wish")
    told = talk(thriller, "Heat (1995).", asked, "Amelie is a comedy.", more, "Jaws (1975).")
    assert score(COHERENCE, told) == 4, rating(COHERENCE, told)


def test_a_genre_is_missed_only_where_no_close_one_stands_for_it() -> None:
    drama = says("A drama.", "wish genre=drama")
    assert score(COHERENCE, talk(drama, "Alien (1979).")) == 0
    assert score(COHERENCE, talk(drama, "Heat (1995).")) == 4  # a thriller may be one
    strange = says("A giallo.", "wish genre=giallo")  # nobody knows what is close to it
    assert score(COHERENCE, talk(strange, "Alien (1979).")) == 4


def test_repeated_turns_answer_nothing() -> None:
    same = talk(WISH, "What do you like?", WISH, "What do you like?")
    assert score(COHERENCE, same) == 2
    assert "says turn 2 again" in rating(COHERENCE, same).rationale
    thanks = says("Thanks!", "thank")
    assert score(COHERENCE, talk(thanks, "You are welcome.", thanks, "You are welcome.")) == 4
    parrot = talk(WISH, "A comedy, please.")
    assert score(COHERENCE, parrot) == 0
    names = ("Heat", "Back to the Future (1985)", "Alien and Up")
    filled = [f"You should watch {name}, my friend." for name in names]
    told = talk(*(line for text in filled for line in (says("A film?", "wish"), text)))
    assert score(COHERENCE, told) == 4  # other names are an answer


def test_failed_and_empty_turns_are_incoherent() -> None:
    hello = says("Hello", "chat")
    assert score(COHERENCE, talk(hello, None, hello, "")) == 0


def test_who_offers_nothing_does_not_answer_a_complaint_by_a_question() -> None:
    stop = says("Stop asking!", "complain", "wish")
    asked = talk(WISH, "Which films do you like?", stop, "Which actors do you like?")
    assert score(RECOVERABILITY, asked) == 2
    offered = talk(WISH, "Amelie (2001)?", stop, "Which films do you like, then?")
    assert score(RECOVERABILITY, offered) == 4


OBJECTIONS = [
    (says("No, not that.", "refuse"), "Try Amelie (2001).", 4),
    (says("No, not that.", "refuse"), "Try Heat (1995) again.", 2),
    (says("I saw it.", "seen heat"), "Have you? What else do you like?", 4),
    (says("I saw it.", "seen heat"), "It is good.", 2),
    (says("You never listen.", "complain"), "Sorry about that.", 2),
    (says("You never listen.", "complain"), None, 2),
    (says("A comedy!", "refuse heat", "wish genre=comedy"), "Alien (1979) is good.", 2),
    (says("Nice.", "accept"), "It is good.", None),
    (says("I saw Alien.", "seen alien"), "It is good.", None),  # the system had not offered it
]


@pytest.mark.parametrize(("objection", "reply", "expected"), OBJECTIONS)
def test_an_objection_is_met_by_something_new(
    objection: Turn, reply: str | None, expected: int | None
) -> None:
    told = talk(says("A film!", "wish"), "Heat (1995).", objection, reply)
    assert score(RECOVERABILITY, told) == expected, rating(RECOVERABILITY, told)


def test_a_refusal_of_nothing_is_no_objection() -> None:
    opening = talk(
        says("Hi", "chat"), "What do you like?", says("No horror.", "refuse genre=horror"), "Hm."
    )
    found = rating(RECOVERABILITY, opening)
    assert found.status is Status.NOT_APPLICABLE
    assert found.reason == "the user objected to nothing"


def test_the_evidence_has_the_turn_and_the_words() -> None:
    told = talk(WISH, "Alien (1979) is good.", says("No!", "refuse alien"), "Alien (1979) it is.")
    evidence = [e for e in asyncio.run(PANEL.rate(told)).evidence if e.factor == COHERENCE]
    assert [e.turn for e in evidence] == [1, 3]
    assert evidence[0].label == "unmet wish"
    assert evidence[1].span == (0, len("Alien (1979) it is."))


def test_without_acts_there_is_no_score_where_they_decide() -> None:
    """Nobody declared what the user does, and texts without a word could do anything."""
    told = log("?!", "I like films.", "🎉", "So do I.", "...", "Films it is.")
    for factor in (COHERENCE, RECOVERABILITY):
        found = rating(factor, told)
        assert found.status is Status.NOT_MEASURED
        assert found.reason == "doubtful: what the user's turn does"


def test_one_doubtful_turn_of_many_is_left_out() -> None:
    turns = [each for n in range(6) for each in (says("Fine.", "thank"), f"It has {n} parts, see.")]
    doubtful = (Turn(speaker=says("x").speaker, text="🎉"), "I do like to watch films.")
    found = rating(COHERENCE, talk(*turns[:8], *doubtful))
    assert found.score is not None, found.reason
    assert "of 4 turns" in found.rationale
    assert ", 1 doubtful left out (by acts declared and read from the text)" in found.rationale


def test_without_a_catalogue_what_needs_items_is_not_judged() -> None:
    asked = rating(COHERENCE, talk(WISH, "Amelie (2001)."), BLIND)
    assert asked.reason == "no catalogue: what items are is not known"
    assert score(COHERENCE, talk(says("Hi", "chat"), "Hello, friend."), BLIND) == 4
    assert score(COHERENCE, talk(says("Hi", "chat"), None), BLIND) == 0


@pytest.mark.parametrize("refusal", ["refuse", "refuse heat", "refuse an-item-of-nobody"])
def test_a_refusal_of_an_unknown_item_is_one_of_the_suggestion(refusal: str) -> None:
    wish = says("A thriller.", "wish genre=thriller")
    told = talk(wish, "Heat (1995).", says("No.", refusal), "Heat (1995), then.")
    assert score(RECOVERABILITY, told) == 2


def test_items_before_a_wish_are_not_asked_for() -> None:
    hello = says("Hello!", "chat")
    assert score(COHERENCE, talk(hello, "Watch Heat (1995).")) == 0
    assert score(COHERENCE, talk(hello, "Hi there.", WISH, "Amelie (2001).", hello, "Big.")) == 4


def test_a_question_answers_only_if_it_is_new_and_nothing_else_is_told() -> None:
    no = says("Not Heat, please.", "refuse heat")
    asked = "Which mood do you prefer?"
    assert score(COHERENCE, talk(WISH, asked, no, f"I see. {asked}")) == 2
    again = talk(WISH, "Amelie (2001).", says("No.", "refuse amelie"), "Amelie is fun. Seen it?")
    assert score(COHERENCE, again) == 2


@pytest.mark.parametrize(
    ("then", "answered"),
    [
        (says("Once more: Anything on bikes and hope?", "wish"), False),
        (says("Anything on boats and hope?", "wish"), True),
        (says("You do not listen.", "complain"), False),
        (says("No.", "refuse alien"), True),
    ],
)
def test_what_the_catalogue_cannot_tell_the_user_decides(then: Turn, *, answered: bool) -> None:
    free = says("Anything on bikes and hope?", "wish")
    told = talk(free, "Alien (1979).", then)
    assert score(COHERENCE, told) == (4 if answered else 0), rating(COHERENCE, told)
    comedy = says("Anything on bikes and hope?", "wish genre=comedy")
    assert score(COHERENCE, talk(comedy, "Amelie (2001).", then)) == 4  # the catalogue knows


def test_complaints_that_are_only_read_decide_nothing() -> None:
    """The model finds some where there are none."""
    for then in ("You do not listen to me at all!", "That is useless, you never listen."):
        told = log("Can you suggest a film?", "Alien (1979).", then, "Heat (1995).")
        assert "complains" not in str(rating(COHERENCE, told))
