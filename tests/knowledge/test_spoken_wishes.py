"""What a person's text says for and against what it names."""

import pytest

from recjury.knowledge.spoken_wishes import SpokenWish


def _place(text: str, part: str) -> tuple[int, int]:
    start = text.index(part)
    return start, start + len(part)


@pytest.mark.parametrize(
    ("text", "part", "refused"),
    [
        ("No horror, please.", "horror", True),
        ("I hate westerns but I love horror.", "westerns", True),
        ("I hate westerns but I love horror.", "horror", False),
        ("I don't know horror well.", "horror", False),
        ("Anything without Ann Reed, whom I would like to avoid", "Ann Reed", False),
        ("Anything without Ann Reed, please", "Ann Reed", True),
    ],
)
def test_the_scope_of_a_negation(text: str, part: str, refused: bool) -> None:
    assert SpokenWish(text).refuses_value(*_place(text, part)) is refused


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("Jaws I did not like.", True),
        ("I did not like Jaws.", True),
        ("I liked Jaws.", False),
        ("I liked Jaws. No horror, though.", False),
    ],
)
def test_an_item_is_refused_before_it_or_behind_it(text: str, refused: bool) -> None:
    assert SpokenWish(text).refuses_item(*_place(text, "Jaws")) is refused


def test_decades_and_years() -> None:
    text = "Something from the 80s, or the 2010s, or from 1999; not 42."
    assert [span for _, span in SpokenWish(text).years()] == [
        (1980, 1989),
        (2010, 2019),
        (1999, 1999),
    ]


def test_praise() -> None:
    assert SpokenWish("That one was great").praises
    assert not SpokenWish("I would like a western").praises
