"""Defects that are counted: residue, loops, cut ends; and what is none of them."""

import pytest

from recjury.language import read_reply
from recjury.language.defects import defects_of, loop, other_language_words, residue


@pytest.mark.parametrize(
    "text",
    [
        "I would recommend {title} to you.",
        "Have you seen <unk>?",
        "You will like @12345.",
        "Try [MOVIE], it is good.",
        "Hello [insert name here], welcome.",
        "Tom &amp; Jerry is fun.",
        "Her latest is __unk__ I think.",
    ],
)
def test_what_templates_leave_is_residue(text: str) -> None:
    assert residue(text)
    assert defects_of(text)[0].kind == "residue"


@pytest.mark.parametrize(
    "text",
    [
        "I would recommend Heat (1995) to you.",
        "It costs < 20 dollars, I think.",
        "What about [REC], the Spanish one?",
        "E-mail me @ noon!",
        "AT&T made it.",
        "A$ap Rocky or Ke$ha, and Ty Dolla $ign.",
        "It has great reviews @4.5 stars",
        "Look in C:\\new",
        "8 1/2 is a classic.",
    ],
)
def test_signs_that_people_type_are_none(text: str) -> None:
    assert not residue(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I like it it it it it.", "it"),
        ("a man and a man and a man and a man", "a man and"),
        ("It is very good, very good, very good, very good", "very good"),
    ],
)
def test_words_that_stand_again_and_again_are_a_loop(text: str, words: str) -> None:
    assert set(loop(text).split()) == set(words.split())


@pytest.mark.parametrize(
    "text",
    ["New York, New York", "New York, New York, New York Stories", "It is very, very good.",
     "had had", "Bye bye bye!", "...", "Tora! Tora! Tora! is a war film.",
     "plant, water, repeat, repeat, repeat"],
)  # fmt: skip
def test_a_repetition_that_people_use_is_none(text: str) -> None:
    assert not loop(text)


def test_a_text_that_stops_on_a_small_word_is_cut() -> None:
    assert defects_of("I think that you would like the")[0].kind == "truncated"
    assert not defects_of("I think that you would like the one with Al Pacino")
    assert not defects_of("What for?")


def test_a_text_without_a_letter_is_empty() -> None:
    assert [defects_of(text)[0].kind for text in ("", "...", " ? ")] == ["empty"] * 3


def test_names_and_titles_are_no_other_language_words() -> None:
    assert other_language_words("La La Land and Das Boot are both good") == []
    assert other_language_words("it is una buena película para los niños") == ["una", "para", "los"]


@pytest.mark.parametrize(("reply", "broken"), [("👍", None), ("★★★★☆", None), ("...", True)])
def test_symbols_alone_are_not_read_and_signs_alone_are_empty(
    reply: str, broken: bool | None
) -> None:
    assert read_reply(reply).broken is broken
