"""Proactiveness, Explainability, Grammatical Correctness and Naturalness, counted by hand."""

import pytest

from recjury.records import Factor, Status, Turn
from tests.judges.measured.logs import (
    ALIEN,
    HEAT,
    PANEL,
    SHOP,
    log,
    rating,
    replies,
    says,
    score,
    talk,
)

GRAMMAR, NATURALNESS = Factor.GRAMMATICAL_CORRECTNESS, Factor.NATURALNESS
PLAIN = tuple(f"It has {word} sides, I think." for word in ("two", "some", "many", "dark", "few"))
FINE = ("Hi there.", "I like films a lot.", "Long ones are best.", "So say we all.", "Well then.")


@pytest.mark.parametrize(("broken", "expected"), [(0, 4), (1, 3), (2, 2), (3, 0), (5, 0)])
def test_grammar_counts_turns_with_errors_and_most_are_none(broken: int, expected: int) -> None:
    texts = [f"{text} [garbled]" if n < broken else text for n, text in enumerate(FINE)]
    assert score(GRAMMAR, replies(*texts)) == expected


def test_residues_are_unnatural_but_no_errors_of_grammar() -> None:
    told = replies("Hi there.", "Watch [residue] tonight.")
    assert (score(GRAMMAR, told), score(NATURALNESS, told)) == (4, 2)
    assert rating(NATURALNESS, told).rationale == (
        "1 of 2 turns natural: text of a program '[residue]' (turn 4)"
    )


def test_doubtful_turns_count_half_unless_at_least_half_of_all_are_fine() -> None:
    some = replies(*FINE[:3], "So [doubtful].", "It is [garbled] so.")
    assert (score(GRAMMAR, some), score(NATURALNESS, some)) == (3, 3)
    most = replies("A [doubtful] one.", "Another [doubtful] thing.", FINE[0])
    assert (score(GRAMMAR, most), score(NATURALNESS, most)) == (3, 3)
    assert rating(GRAMMAR, most).rationale.startswith("2 of 3 turns without errors")
    broken = replies("It is [garbled] so.", "Another [doubtful] thing.", "A [doubtful] one.")
    assert (score(GRAMMAR, broken), score(NATURALNESS, broken)) == (1, 1)


def test_the_same_words_are_unnatural_and_a_template_again_is_half() -> None:
    assert score(NATURALNESS, replies(*FINE[:4], FINE[1])) == 3
    filled = [f"You should watch {name}, my friend." for name in ("Heat", "Alien", "Jaws", "Up")]
    assert rating(NATURALNESS, replies(*filled)).rationale.startswith("2.5 of 4 turns natural")


def test_a_template_is_seen_without_a_catalogue_and_across_genres() -> None:
    comedy = "If you like comedy, Notting Hill (1999) and Big are fine."
    horror = "If you like horror, Alien (1979) is fine."
    found = rating(NATURALNESS, replies(comedy, horror.replace("is fine", "and It are fine")))
    assert "says turn 2 again with other names" in found.rationale


def test_another_language_is_not_judged() -> None:
    hello = says("Hola, quiero ver una comedia muy divertida")
    told = log(hello.text, "Hola [other language].", hello.text, "Que tal [other language]?")
    unread = {r.factor for r in PANEL.measure(told) if "another language" in r.reason}
    assert unread == {
        Factor.COHERENCE,
        Factor.RECOVERABILITY,
        Factor.PROACTIVENESS,
        GRAMMAR,
        NATURALNESS,
        Factor.EXPLAINABILITY,
        Factor.GROUNDNESS,
    }


def test_an_answer_in_another_language_than_the_users_is_broken() -> None:
    told = replies("Hola [other language].", "Que tal [other language]?")
    for factor in (Factor.COHERENCE, GRAMMAR, NATURALNESS):
        found = rating(factor, told)
        assert found.score == 0
        assert "mixed languages" in found.rationale


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("What do you like?",), 4),
        (("Which genre?",), 4),  # a word of the domain
        (("Why not?",), 0),
        (("Heat (1995).",), 1),
        (("Heat (1995) or Alien (1979).",), 2),
        (("Fine.",), 0),
        (("What do you like?", "What do you like?"), 3),
        (("What do you like?", "Fine."), 2),
    ],
)
def test_proactive_turns_ask_or_offer(texts: tuple[str, ...], expected: int) -> None:
    assert score(Factor.PROACTIVENESS, replies(*texts)) == expected


def test_a_shop_asks_in_its_own_words() -> None:
    assert score(Factor.PROACTIVENESS, replies("Which brand?"), SHOP) == 4
    assert score(Factor.PROACTIVENESS, replies("Which director?"), SHOP) == 0


WANTS_THRILLER = says("A thriller, please.", "wish genre=thriller")
LIKES_INSIDER = says("I liked The Insider (1999).", "wish insider")
LONG_BATTERY = says("I need a long battery life and a low price.", "wish")
REASONS = [
    (WANTS_THRILLER, "Heat (1995) is a thriller.", 4),
    (says("A film.", "wish"), "Heat (1995) is a thriller.", 2),  # a bare genre
    (says("A film.", "wish"), "Heat (1995), with Al Pacino.", 2),  # nobody asked for him
    (LIKES_INSIDER, "Heat (1995), with Al Pacino.", 4),
    (LIKES_INSIDER, "Like The Insider (1999): Heat (1995).", 4),
    (WANTS_THRILLER, "Heat (1995) would suit you.", 0),
    (WANTS_THRILLER, "Amelie (2001) is a thriller.", 0),  # it is none
    (says("From the 1990s.", "wish decade=1990s"), "Heat (1995), of the 1990s.", 4),
    (WANTS_THRILLER, "Heat (1995) is a thriller [garbled].", 0),
]


@pytest.mark.parametrize(("wish", "reply", "expected"), REASONS)
def test_a_reason_is_a_value_of_the_item_that_the_user_spoke_of(
    wish: Turn, reply: str, expected: int
) -> None:
    assert score(Factor.EXPLAINABILITY, talk(wish, reply)) == expected


def test_a_reason_given_before_counts_half() -> None:
    again = talk(
        WANTS_THRILLER,
        "Heat (1995) is a thriller.",
        says("Another?", "wish"),
        "Alien (1979) is nearly a thriller.",
    )
    assert rating(Factor.EXPLAINABILITY, again).rationale.startswith("1 of 2 recommending turns")


@pytest.mark.parametrize("factor", [Factor.EXPLAINABILITY, Factor.PROACTIVENESS])
def test_a_rationale_quotes_a_turn_that_counts_least(factor: Factor) -> None:
    good = "Heat (1995) is a thriller. Do you like Al Pacino?"
    told = talk(WANTS_THRILLER, good, says("Another?", "wish"), "Alien (1979) would suit you.")
    said = rating(factor, told).rationale
    assert "Alien" in said
    assert said.endswith("(turn 4)")
    assert rating(factor, talk(WANTS_THRILLER, good)).rationale.endswith("(turn 2)")


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("The Nova Twelve has a long battery life.", 4),
        ("The Nova Twelve, cheap.", 2),  # a value of it, in other words than the user's
        ("The Nova Twelve would suit you.", 0),
        ("The Nova Twelve is a phone.", 0),
        ("The Nova Twelve, by Acme.", 2),
    ],
)
def test_reasons_of_a_shop(reply: str, expected: int) -> None:
    assert score(Factor.EXPLAINABILITY, talk(LONG_BATTERY, reply), SHOP) == expected


def test_nothing_recommended_is_nothing_to_explain() -> None:
    assert rating(Factor.EXPLAINABILITY, replies("Hello.")).status is Status.NOT_APPLICABLE


def test_a_shop_says_nothing_of_films() -> None:
    told = talk(LONG_BATTERY, "The Nova Twelve or the Orbit Max.", None, items=(HEAT, ALIEN))
    said = " ".join(r.rationale + r.reason for r in SHOP.measure(told))
    assert "film" not in said
    assert log("Hi", "Hello").system_turns
