"""Names are found where they are meant, and only there."""

import pytest

from recjury.knowledge import Mention, Name, NameIndex
from tests.growth import grows_linearly
from tests.knowledge.films import CATALOGUE, linked


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Titanic (1997) was long", ["Titanic (1997)"]),
        ("titanic (1953) was short", ["Titanic (1953)"]),
        ("titanic 1953", ["Titanic (1953)"]),
        ("TITANIC", ["Titanic (1997)"]),
        ("I saw spider man twice", ["Spider-Man (2002)"]),
        ("mrs doubtfire, schindlers list", ["Mrs. Doubtfire (1993)", "Schindler's List (1993)"]),
        ("Schindler’s List", ["Schindler's List (1993)"]),
        ("amelie and Amélie", ["Amélie (2001)", "Amélie (2001)"]),
        ("Harold & Maude", ["Harold and Maude (1971)"]),
        ("Titanic's ending", ["Titanic (1997)"]),
        ("bad boys ii beats the Bad Boys", ["Bad Boys II (2003)", "Bad Boys (1995)"]),
        ("I loved Mother! A lot", ["Mother! (2017)"]),
        ("I loved “Mother” a lot", ["Mother (2009)"]),
        ("memento", ["Memento"]),
        ("I liked 50 First Dates a lot", ["50 First Dates (2004)"]),
    ],
)
def test_names_are_found_as_people_write_them(text: str, names: list[str]) -> None:
    assert linked(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "I have never seen that eleven-minute one",
        "titanically large spidermanly",
        "Titanic (2012)",
        "I saw it. Follows nothing.",
        "",
        "¿¡…— ()",
    ],
)
def test_nothing_is_found_inside_words_across_sentences_or_in_another_year(text: str) -> None:
    assert linked(text) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("have you seen It (2017)?", ["It (2017)"]),
        ("it (2017)", ["It (2017)"]),
        ('I liked "up" and *once*', ["Up (2009)", "Once (2007)"]),
        ("I really liked Up and also Her.", ["Up (2009)", "Her (2013)"]),
        ("Try these:\n1. Up\n2) Life\n- Her (2013)", ["Up (2009)", "Life (2017)", "Her (2013)"]),
        ("About Time made me cry, and it follows", ["About Time (2013)"]),
        ("we watched 300 (2006) again", ["300 (2006)"]),
        ("have you seen It or heard of it", ["It (2017)"]),
    ],
)
def test_titles_that_are_ordinary_words_are_found_where_they_are_marked(
    text: str, names: list[str]
) -> None:
    assert [name for name in linked(text) if name != "It Follows (2014)"] == names


@pytest.mark.parametrize(
    "text",
    [
        "it cheered me up once in my life",
        "Once I saw her. Life is good! Up we go: It was fun",
        "I LOVED IT ONCE",
        "Have You Seen It Yet My Friend",
        "about time we talked about it",
        "We saw Coco It was great",
        "Yes. Yes! Yes",
        "that is so good It's great",
        "300 people came, 50 of them first",
    ],
)
def test_ordinary_words_are_no_titles(text: str) -> None:
    assert linked(text) == []


def test_a_person_is_not_taken_for_the_film_that_shares_a_name() -> None:
    assert linked("I like Ben Love in everything") == []
    assert linked("I like Ben in everything") == ["Ben (1972)"]


def test_mentions_say_where_they_stand() -> None:
    text = "Not Heat (1995), but titanic's sister"
    assert CATALOGUE.link(text) == (
        Mention(4, 15, "Heat (1995)", "25"),
        Mention(21, 28, "titanic", "8"),
    )
    assert all(text[m.start : m.end] == m.text for m in CATALOGUE.link(text))


def test_what_is_not_cautious_is_found_anywhere() -> None:
    index = NameIndex([Name("1", "family", cautious=False), Name("2", "Life")])
    assert [mention.id for mention in index.link("my family, my life")] == ["1"]


def test_long_texts_take_linear_time() -> None:
    text = "Titanic and spider man, never Eve. " * 1_000
    assert len(CATALOGUE.link(text)) == 3_000
    assert grows_linearly(lambda times: CATALOGUE.link(text * times))
