"""Names are found where they are meant, and only there."""

import itertools
import tracemalloc

import pytest

from recjury.knowledge import Catalogue, MatchKind, Mention, Name, TitleRecogniser
from recjury.knowledge.title_marks import TitleMarks
from recjury.knowledge.tokenizer import tokenize
from tests.growth import grows_linearly
from tests.knowledge.films import CATALOGUE, FILMS, film, linked


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
        ("I saw Ame\u0301lie twice", ["Amélie (2001)"]),  # its accent as a character of its own
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
        ("Try these:\n1. Up!\n2. Life?", ["Up (2009)", "Life (2017)"]),
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


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("I loved titanik", ["Titanic (1997)"]),
        ("I loved Titannic", ["Titanic (1997)"]),
        ("I loved Titnic", ["Titanic (1997)"]),
        ("I loved Titainc", ["Titanic (1997)"]),
        ("I loved Titanik (1953)", ["Titanic (1953)"]),
        ("harald and maude", ["Harold and Maude (1971)"]),
        ("spiderman and mrs doubtfir", ["Spider-Man (2002)", "Mrs. Doubtfire (1993)"]),
        ("Shindler's List", ["Schindler's List (1993)"]),
        ("It was Memennto.", ["Memento"]),
    ],
)
def test_a_name_one_edit_away_is_found(text: str, names: list[str]) -> None:
    assert linked(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "I loved Titaaniic",
        "titanium, memes and a moment",
        "a pair of hears, and Ev, and bead bays",
        "heap, beat, hear and 25 first dates",
    ],
)
def test_two_edits_words_that_mean_something_else_and_short_names_are_none(text: str) -> None:
    assert linked(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "I saw that film Hope you like it",
        "A good one Take care",
        "It was a Life for me, an Eve of sorts",
        "do you like Drama, Horror or Romance",
        "I liked Robert Life and J Life",
        "he is a sea captain",
        "Heard of it It seems fine",
    ],
)
def test_what_only_looks_like_a_title_is_none(text: str) -> None:
    films = (*FILMS, film(40, "Hope (2013)"), film(41, "Take (2007)"), film(42, "Romance (1999)"))
    genres = film(43, "Sea Captain (1990)", popularity=3).model_copy(
        update={"genres": ("Romance",)}
    )
    assert Catalogue("films", (*films, genres)).link(text) == ()


def test_a_film_that_nobody_talks_about_needs_a_mark_where_it_is_ordinary_words() -> None:
    catalogue = Catalogue("films", (film(1, "The Box (2009)", popularity=0), *FILMS[7:]))
    assert catalogue.link("it came out of the box") == ()
    assert [m.id for m in catalogue.link("I saw The Box, the box (2009) and “the box”")] == [
        "1"
    ] * 3


def test_a_title_is_found_that_is_all_a_text_says() -> None:
    assert linked("Up!") == ["Up (2009)"]
    assert linked("Yes!") == []


def test_the_longer_name_is_counted_without_its_article() -> None:
    catalogue = Catalogue("films", (film(1, "The Toy (1982)"), film(2, "Toy Story (1995)")))
    assert [m.id for m in catalogue.link("all of the Toy Story films")] == ["2"]


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


def test_the_kind_of_a_match_is_told_and_surer_kinds_have_more_confidence() -> None:
    text = 'Heat (1995), then titanic, then Titanik; "The Unknown One" and not Nobody Knows (1988)'
    found = CATALOGUE.mentions(text)
    assert [(mention.text, mention.kind) for mention in found] == [
        ("Heat (1995)", MatchKind.WITH_YEAR),
        ("titanic", MatchKind.TITLE),
        ("Titanik", MatchKind.NEAR),
        ("The Unknown One", MatchKind.UNLISTED),
        ("Nobody Knows (1988)", MatchKind.UNLISTED),
    ]
    sure, plain, near, *unlisted = (mention.confidence for mention in found)
    assert sure is not None
    assert plain is not None
    assert near is not None
    assert 1.0 >= sure > plain > near > 0.0
    assert unlisted == [None, None]
    assert [mention.key for mention in found[3:]] == ["?the unknown one", "?nobody knows (1988)"]


def test_what_is_not_kept_may_still_look_like_a_title() -> None:
    text = "I like Heat (1995) and Titanic"
    found = CATALOGUE.mentions(text, keep=lambda mention: mention.kind is MatchKind.TITLE)
    assert [(mention.text, mention.id is None) for mention in found] == [
        ("Heat (1995)", True),
        ("Titanic", False),
    ]


def test_what_is_not_cautious_is_found_anywhere() -> None:
    index = TitleRecogniser([Name("1", "family", cautious=False), Name("2", "Life")])
    assert [mention.id for mention in index.link("my family, my life")] == ["1"]


def test_long_texts_take_linear_time() -> None:
    text = "Titanic and spider man, never Eve. " * 1_000
    assert len(CATALOGUE.link(text)) == 3_000
    assert grows_linearly(lambda times: CATALOGUE.link(text * times))


def test_a_text_is_copied_once_for_all_its_titles() -> None:
    copies: list[str] = []

    class Text(str):
        __slots__ = ()

        def strip(self, chars: str | None = None, /) -> str:
            copies.append(super().strip(chars))
            return copies[-1]

    text = Text("up up up up.")
    marks = TitleMarks(text, tokenize(text))
    assert not any(marks.is_title(place, 1, "Up") for place in range(4))
    assert copies == ["up up up up"]


def test_one_long_word_takes_linear_time() -> None:
    """Each word anew, since what was looked for is remembered."""
    endings = ("".join(pair) for pair in itertools.product("bcdfg", repeat=2))
    assert grows_linearly(lambda times: CATALOGUE.link("ab" * 8_000 * times + next(endings)))


@pytest.mark.parametrize(
    "word", ["{:x}" + "ab" * 20_000, "ab{:x}ab"], ids=["endless words", "many words"]
)
@pytest.mark.slow
def test_what_was_looked_for_is_forgotten_some_day(
    monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    monkeypatch.setattr("recjury.knowledge.near_names._REMEMBERED", 100)
    monkeypatch.setattr("recjury.knowledge.text_cache._LONGEST", 0)
    texts = 10_000_000 // len(word) // 20
    digits = str.maketrans("0123456789", "ghijklmnop")
    CATALOGUE.link("xyzxyz")  # what is built with the first search stays
    tracemalloc.start()
    try:
        for number in range(0x100000, 0x100000 + min(texts, 20_000)):
            CATALOGUE.link(word.format(number).translate(digits))
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 300_000


def test_a_year_alone_is_no_name_of_a_film_whose_title_has_no_words() -> None:
    index = TitleRecogniser(
        [Name("$", "$ (1971)", year=1971), Name("heat", "Heat (1995)", year=1995)]
    )
    assert index.link("I was born in 1971, and saw it in (1971)") == ()
