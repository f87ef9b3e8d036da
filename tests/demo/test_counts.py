"""`counted`: each factor on logs whose count one can see."""

import asyncio

import pytest

from recjury.demo import Counted
from recjury.records import ConversationLog, Rating, Status
from tests.demo.talk import film, found, log, system, user
from tests.logs import CATALOGUE


def count(factor: str, given: ConversationLog) -> Rating:
    return asyncio.run(found(given))[0][factor]


LITTLE_KNOWN = [item.ref.name for item in sorted(CATALOGUE, key=lambda item: item.popularity)]


@pytest.mark.parametrize(
    ("factor", "given", "score"),
    [
        ("coherence", log(system("Hello."), user("Hi."), system("Really?")), 4),
        ("coherence", log(system("Hello."), user("Hi."), system("Hello!")), 3),
        ("coherence", log(user("Some horror, please."), system("See Toy Story.", "Toy Story")), 3),
        ("coherence", log(user("Some horror, please."), system("See Alien.", "Alien (1979)")), 4),
        ("recoverability", log(user("Hi."), system("See Alien.", "Alien (1979)")), 4),
        (
            "recoverability",
            log(system("See Alien.", "Alien (1979)"), user("No."), system("Alien it is.")),
            3,
        ),
        (
            "recoverability",
            log(system("See Alien.", "Alien (1979)"), user("No."), system("Heat?", "Heat (1995)")),
            4,
        ),
        ("proactiveness", log(system("What do you like?"), user("x"), system("Well.")), 2),
        ("proactiveness", log(system("Well."), user("x"), system("See Heat.")), 0),
        ("grammatical_correctness", log(system("This is the the film, a old one .")), 1),
        ("grammatical_correctness", log(system("This is an old film, and a good one.")), 4),
        (
            "naturalness",
            log(
                system("You may like Heat.", "Heat (1995)"),
                user("No."),
                system("You may like Alien.", "Alien (1979)"),
            ),
            2,
        ),
        ("effectiveness", log(system("Heat.", "Alien (1979)", "Heat (1995)")), 4),
        ("effectiveness", log(system("Thief.", "Thief (1981)")), 3),
        ("effectiveness", log(system("Toy Story.", "Toy Story (1995)")), 0),
        ("novelty", log(system("These.", *LITTLE_KNOWN[:4])), 4),
        ("novelty", log(system("These.", *LITTLE_KNOWN[-6:], LITTLE_KNOWN[0])), 1),
        ("novelty", log(system("These.", *LITTLE_KNOWN[-4:])), 0),
        ("diversity", log(system("Heat.", "Heat (1995)")), 0),
        ("diversity", log(system("These.", *LITTLE_KNOWN[::43])), 4),
        ("semantic_relevance", log(system("See Heat or Alien.", "Heat (1995)")), 2),
        ("semantic_relevance", log(system("See Heat.", "Heat (1995)")), 4),
        ("explainability", log(system("Alien: horror at its best.", "Alien (1979)")), 4),
        ("explainability", log(system("See Alien.", "Alien (1979)")), 0),
    ],
)
def test_what_is_counted(factor: str, given: ConversationLog, score: float) -> None:
    rating = count(factor, given)
    assert (rating.score, rating.status) == (score, Status.OK), rating
    assert rating.rationale


@pytest.mark.parametrize(
    ("factor", "given"),
    [
        ("appropriateness", log(system("See Heat.", "Heat (1995)"))),
        ("groundness", log(system("See Heat.", "Heat (1995)"))),
        ("novelty", log(system("See Heat."))),
        ("effectiveness", log(system("See Heat.", "Heat (1995)"), targets=())),
        ("effectiveness", log(system("See X.", "No such film"), targets=("No such film",))),
        ("diversity", log(system("See X.", "No such film"))),
        ("semantic_relevance", log(system("Here they are.", "Heat (1995)"))),
        ("semantic_relevance", log(system("See Heat.", "Heat (1995)"), linked=True)),
    ],
)
def test_what_cannot_be_counted_has_no_score(factor: str, given: ConversationLog) -> None:
    rating = count(factor, given)
    assert (rating.score, rating.status) == (None, Status.NOT_APPLICABLE)
    assert rating.reason


@pytest.mark.parametrize(
    "text",
    [
        "Der Film ist ein Meisterwerk und auch nicht zu lang.",
        "Les films que vous aimez sont dans la liste, avec Heat.",
        "히트는 훌륭한 영화입니다.",
        "これは素晴らしい映画です。",
        "Gerne! Schöne Auswahl:\n1. Heat\nViel Spaß damit!",
        "Schaut Toy Story, The Red Shoes und Heat!",
        "The Thin Man (1934), Heat (1995).",
    ],
)
def test_english_words_are_counted_in_english_only(text: str) -> None:
    ratings, _ = asyncio.run(found(log(user("No."), system(text, "Heat (1995)"))))
    for factor in ("recoverability", "grammatical_correctness", "explainability"):
        assert ratings[factor].status is Status.NOT_APPLICABLE
    assert ratings["effectiveness"].score == 4


def test_a_short_answer_is_no_other_language() -> None:
    assert count("grammatical_correctness", log(system("Try Heat (1995)."))).score == 4


@pytest.mark.parametrize("text", ["", "🎬🎬🎬", "film " * 100_000, "<think>{{ cut }}\x1f</think>"])
def test_odd_texts_do_no_harm(text: str) -> None:
    ratings, debate = asyncio.run(found(log(user(text), system(text, "Heat (1995)"), user(text))))
    assert {rating.metric for rating in ratings.values()} == {m.name for m in Counted().metrics}
    assert debate.verdict.score is not None


def test_the_same_log_has_the_same_ratings() -> None:
    given = log(system("See Alien or Heat.", "Alien (1979)"), user("No."), system("Heat.", "Heat"))
    assert asyncio.run(found(given)) == asyncio.run(found(given))


def test_a_copy_of_a_log_that_repeats_itself_is_rated_lower() -> None:
    fresh = log(system("Heat is tense."), user("More."), system("Alien is horror at its best."))
    dull = log(system("Heat is tense."), user("More."), system("Heat is tense."))
    for factor in ("coherence", "naturalness"):
        better, worse = count(factor, fresh).score, count(factor, dull).score
        assert better is not None
        assert worse is not None
        assert better > worse


def test_what_the_user_named_is_not_the_systems_recommendation() -> None:
    given = log(user("I liked Alien."), system("Like Alien? Then Heat.", "Heat (1995)"))
    assert count("semantic_relevance", given).score == 4
    assert film("Heat").name == "Heat (1995)"
