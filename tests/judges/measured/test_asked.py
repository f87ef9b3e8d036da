"""Direct questions that a text tells nothing of, and what the user wants left out."""

import pytest

from recjury.judges.measured.questions import Topic, left_open, questions_in
from recjury.judges.measured.text import TITLE, MaskedText
from recjury.judges.measured.wished_genres import refused_genres, wanted_genres
from recjury.records import Factor
from tests.judges.measured.logs import log, rating, replies, score

CAST = "Al Pacino and Robert De Niro star in it. Michael Mann directed it."


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("What's it about?", CAST, Topic.STORY),
        ("What's it about?", "A thief and a detective hunt each other through Los Angeles.", None),
        ("What is it about?", "It is about a thief.", None),
        ("Would you say it's more serious or more light?", CAST, Topic.TONE),
        ("Would you say it's more serious or more light?", "Quite serious, I think.", None),
        ("Does it end well?", "A thief wants one last job before he leaves.", Topic.ENDING),
        ("Does it end well?", "The ending is a sad one.", None),
        ("When was it made, roughly?", CAST, Topic.AGE),
        ("When was it made, roughly?", "Heat (1995) is by Michael Mann.", None),
        ("And who made it?", "It came out in 1995.", Topic.PEOPLE),
        ("And who made it?", CAST, None),
        ("Tell me more about it.", CAST, None),
    ],
)
def test_what_a_question_leaves_open(question: str, answer: str, expected: Topic | None) -> None:
    assert left_open(MaskedText(question, ()), MaskedText(answer, ())) is expected


def test_a_turn_may_ask_two_things() -> None:
    asked = MaskedText("What is it about, and when was it made?", ())
    assert questions_in(asked) == (Topic.STORY, Topic.AGE)
    assert left_open(asked, MaskedText("It was made in 1995.", ())) is None


def test_a_list_of_the_cast_does_not_answer() -> None:
    before = ("Hello", "Heat (1995) is good.", "What is it about?")
    told = rating(Factor.COHERENCE, log(*before, f"Heat (1995)? {CAST}"))
    assert told.score == 2
    assert "asked the story, not told (turn 4)" in told.rationale
    assert score(Factor.COHERENCE, log(*before, "Heat (1995) is about a thief.")) == 4
    assert score(Factor.COHERENCE, log(*before, "Alien (1979) is about a ship.")) == 2


def test_an_objection_that_asks_is_not_met_by_something_else() -> None:
    before = ("Hi", "Heat (1995) is good.", "This doesn't answer my question. What's it about?")
    assert score(Factor.RECOVERABILITY, log(*before, CAST, "Bye")) == 0
    assert score(Factor.RECOVERABILITY, log(*before, "It is about a thief.", "Bye")) == 4


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no action film, please", {"action"}),
        ("not another horror film", {"horror"}),
        ("i've had enough of westerns", {"western"}),
        ("a comedy is a bit much for me", {"comedy"}),
        ("i don't like horror", {"horror"}),
        ("no, a comedy", set()),
        ("i don't mind a comedy", set()),
        ("heat is not a comedy", set()),
        ("heat isn't exactly a comedy, is it?", set()),
        ("i really hate horror movies", {"horror"}),
        ("i don't like science fiction", {"sci-fi"}),
        ("i can't stand watching westerns", {"western"}),
        ("can't get enough of westerns", set()),
        ("i never get tired of comedies", set()),
        ("i'm not tired of horror yet", set()),
        ("there is no comedy like it", set()),
        ("i hate when a comedy ends badly", set()),
        ("i don't like dark comedies", set()),
        ("i don't like my comedies to be dumb", set()),
        ("i don't like comedies that are dumb", set()),
        ("i hate that it is not a comedy", set()),
        ("why not a comedy?", set()),
    ],
)
def test_what_is_to_be_left_out(text: str, expected: set[str]) -> None:
    assert refused_genres(text) == expected


def test_to_doubt_a_genre_is_not_to_want_it() -> None:
    assert wanted_genres(f"{TITLE}, a drama? since when?") == set()
    assert wanted_genres(f"something like {TITLE}, a drama?") == {"drama"}
    assert wanted_genres("a drama?") == {"drama"}


def test_an_item_that_the_wish_names_twice_in_one_phrase_is_told_once() -> None:
    asked = "Heat (1995) is good, but I want something like Alien (1979), really."
    told = rating(Factor.COHERENCE, log(asked, "Then Notting Hill (1999)."))
    assert "wished for like Alien (1979), offered 'Notting Hill (1999)'" in told.rationale


def test_what_is_left_out_stays_so() -> None:
    """Until the user asks for it."""
    wish = "No comedy, please. I want something from the 90s."
    asked = ("Something else from the 90s?", "Then Notting Hill (1999).")
    told = rating(Factor.COHERENCE, log(wish, "Heat (1995).", *asked))
    assert told.score == 2
    assert "wished for 1990s, no comedy, offered 'Notting Hill (1999)'" in told.rationale
    asked = ("A comedy from the 90s, after all?", "Then Notting Hill (1999).")
    assert score(Factor.COHERENCE, log(wish, "Heat (1995).", *asked)) == 4


def test_a_film_that_has_its_director_in_common_with_itself() -> None:
    told = log("Hello", "Heat (1995)? Michael Mann directed it, as well as Heat (1995).")
    assert score(Factor.EXPLAINABILITY, told) == 0
    told = log("Hello", "Heat (1995)? Michael Mann directed it, as well as The Insider (1999).")
    assert score(Factor.EXPLAINABILITY, told) == 2


def test_an_objection_to_what_is_unclear() -> None:
    told = log("Hi", "Heat (1995).", "Oh. I'm not quite sure what you mean there.", "Heat.", "Bye")
    assert score(Factor.RECOVERABILITY, told) == 0


def test_to_suggest_is_not_to_ask() -> None:
    """A film in the form of a question is a suggestion; a list of films leads on by half."""
    assert score(Factor.PROACTIVENESS, replies("How about Heat (1995)?")) == 1
    assert score(Factor.PROACTIVENESS, replies("Have you thought of Heat (1995)?")) == 1
    assert score(Factor.PROACTIVENESS, replies("Heat (1995) and Alien (1979).")) == 2
    assert score(Factor.PROACTIVENESS, replies("How about a comedy?")) == 4
