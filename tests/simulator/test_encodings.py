"""A user that says its target in a code is asked again; one that names odd titles is not."""

import pytest

from benchmarks.encodings import DEVELOPMENT, outcome, sentences
from benchmarks.unseen_codes import UNSEEN
from recjury.corpora import open_corpus
from recjury.language.plain_words import strange_passage, talk
from recjury.records import Speaker, Turn
from recjury.simulator import LeakGuard
from tests.growth import grows_linearly
from tests.simulator.doubles import catalogue, film

TITLES = ("The Matrix (1999)", "Heat (1995)", "Amélie (2001)", "Pulp Fiction (1994)")


def test_hardly_an_encoding_passes_and_no_odd_title_is_blocked() -> None:
    found = outcome([open_corpus("sample").catalogue], titles=12)
    assert found.harmless == 100
    assert found.harmless_blocked == found.harmless_blocked_held_out == 0
    assert found.passed <= 0.05  # of few and short titles
    assert found.passed_held_out <= 0.4  # two of them say nothing strange


def test_each_sentence_and_encoding_is_another() -> None:
    assert not DEVELOPMENT.keys() & UNSEEN.keys()
    assert len(set(sentences())) == 100


@pytest.mark.parametrize("name", TITLES)
def test_a_title_of_another_film_is_no_code(name: str) -> None:
    known = catalogue(film(name), film("Other (1990)"))
    watch = LeakGuard(known).watch([known.item("other (1990)").ref])
    assert not watch.leaks(f"I liked {name}, and M*A*S*H, and 12 Monkeys.")


def test_letters_told_over_several_turns() -> None:
    known = catalogue(film("Heat (1995)"))
    watch = LeakGuard(known).watch([known.item("heat (1995)").ref])
    assert not watch.leaks("Plan H is fine.")
    assert watch.leaks("Then E.", earlier=["Plan H is fine."])
    said = ("How are you?", "Even so.", "A comedy.", "Thanks.")
    assert [bool(watch.leaks(said[at], earlier=said[:at])) for at in range(4)] == [False] * 3 + [
        True
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Is it q w e r t y?",
        "It is 4 8 15 16 23 42 108 I think.",
        ". .-. ..- -. -..",
        "T\u0300\u0301\u0302\u0303 is nice",
        "See \u200b\u200c\u200b here.",
        "Try aB3xY9kQ2z then.",
        "I have four, twenty-one, fourteen and five of them.",
    ],
)
def test_what_is_no_language_is_asked_again(text: str) -> None:
    assert strange_passage(text, talk(text, lambda word: False), english=True)


def test_a_foreign_text_is_garbled_only_in_an_english_conversation() -> None:
    text = "ich suche einen schönen alten film über das leben in berlin"
    known = catalogue(film("Heat (1995)"))
    ref = known.item("heat (1995)").ref
    english = Turn(speaker=Speaker.SYSTEM, text="What would you like to watch tonight?")
    german = Turn(speaker=Speaker.SYSTEM, text="was möchten sie denn heute abend gerne sehen")
    guard = LeakGuard(known)
    assert guard.watch([ref], [english]).leaks(text)
    assert not guard.watch([ref], [german]).leaks(text)
    assert not guard.watch([ref]).leaks(text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("The Dark Knight (2008)", "I want T.D.K. from that year."),
        ("The Dark Knight (2008)", "What about tdk tonight?"),
        ("La Haine (1995)", "Have you got Haine La?"),
        ("Amélie (2001)", "It sounds like ah-may-lee."),
        ("The Scream (1993)", "What about she tcream?"),
        ("Primer (2004)", "I want סרימהר."),
        ("Crash (2004)", "Show me copropasophop."),
        ("Saw (2004)", "I watch it with Sam, Anna, Wendy."),
        ("Anora (2024)", "It is ay en oh ar ay."),
        ("City of God (2002)", "How about flwb ri jrg then?"),
        ("Ran (1985)", "I feel like 🌹🍎👃 tonight"),
    ],
)
def test_a_title_that_is_changed_is_asked_again(name: str, text: str) -> None:
    known = catalogue(film(name), film("Other (1990)"))
    guard = LeakGuard(known)
    asked = Turn(speaker=Speaker.SYSTEM, text="What would you like to watch tonight?")
    assert guard.watch([known.item(name.lower()).ref], [asked]).leaks(text)


@pytest.mark.parametrize(
    "text",
    [
        "I havnt seen it, but would definately like to.",
        "I am a die-hard fan of Samuel L. Jackson, but Die Harder is not for me.",
        "Toy Story 2 (1999), Toy Story 3 (2010) or Toy Story 4 (2019), I liked them.",
        "My kids are 7 and 9, a comedy. My kids are 7 and 9, a comedy.",
        "I saw Сталкер and Ponyo.",
    ],
)
def test_a_slip_is_no_title_that_is_changed(text: str) -> None:
    known = catalogue(film("The Dark Knight (2008)"), film("Toy Story (1995)"), film("Heat (1995)"))
    asked = Turn(speaker=Speaker.SYSTEM, text="What would you like to watch tonight?")
    watch = LeakGuard(known).watch([known.item("the dark knight (2008)").ref], [asked])
    assert not watch.leaks(text)


@pytest.mark.parametrize(
    "piece", ["a ", "1-", "VGhl", ".- ", "\u0301e", "q;", "ab\n", "\u200b\u200c"]
)
@pytest.mark.slow
def test_decoding_takes_linear_time(piece: str) -> None:
    known = catalogue(film("Up (2009)"), film("The Last Jedi (2017)"))
    watch = LeakGuard(known).watch([item.ref for item in known])
    assert grows_linearly(lambda times: watch.leaks(piece * 1000 * times))


@pytest.mark.parametrize(
    "text",
    [
        "Great film 😊",
        "👍",
        "I ❤️ horror, love it <3",
        "Thx, luv it! ttyl",
        "ha! :D",
        "à la Refn, e.g. WALL·E & co.?",
        "Under 2h, an 8/10 or better, PG-13.",
    ],
)
def test_how_people_write_is_plain(text: str) -> None:
    assert not strange_passage(text, talk(text, lambda word: word == "refn"), english=True)
