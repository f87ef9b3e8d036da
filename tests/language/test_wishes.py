"""What an utterance wants and turns down, without and with a catalogue."""

import pytest

from recjury.language import read
from recjury.language.wishes import is_refused, spoken_in
from recjury.records import Attribute, Speaker, Turn
from tests.simulator.doubles import catalogue, film


def said(text: str) -> set[str]:
    signs = {True: "-", False: "+"}
    return {f"{signs[v.refused]}{':'.join(v.attribute)}" for v in spoken_in(text)}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("something funny please", {"+genre:comedy"}),
        ("anything but horror", {"-genre:horror"}),
        ("I said comedy, not drama", {"+genre:comedy", "-genre:drama"}),
        ("a thriller from the seventies", {"+genre:thriller", "+decade:1970s"}),
        ("sth from the 80s, no zombies", {"+decade:1980s", "-genre:zombie"}),
        ("no more Nolan pls", {"-person:nolan"}),
        ("something with Denzel Washington or Tom Hanks", {
            "+person:denzel washington",
            "+person:tom hanks",
        }),
        ("anything like Heat?", {"+like:heat"}),
        ("not too long, under 90 minutes", {"-length:long", "+length:under 90 minutes"}),
        ("we would like Italian food tonight", {"+cuisine:italian"}),
        ("an Italian film", {"+language:italian"}),
        ("a Sony tv for less than 500", {"+brand:sony", "+price:under 500"}),
        ("I'm sad today.", set()),
        ("no idea, a western maybe", {"+genre:western"}),
        ("not only drama", {"+genre:drama"}),
    ],
)  # fmt: skip
def test_values_are_looked_up_with_their_side(text: str, values: set[str]) -> None:
    assert said(text) == values


def test_a_refusal_ends_with_its_clause() -> None:
    assert is_refused("no horror", 3)
    assert not is_refused("no horror. comedy", 11)
    assert not is_refused("no horror but comedy", 14)


def test_with_a_catalogue_its_values_and_spelling_count() -> None:
    known = catalogue(
        film("Heat (1995)", genres=("Crime Film",), directors=("Michael Mann",)),
        film("Solaris (1972)", genres=("Science Fiction",), directors=("Andrei Tarkovsky",)),
    )
    turn = Turn(
        speaker=Speaker.USER, text="a crime film by michael mann, no sci-fi, like Heat (1995)"
    )
    reading = read(turn, (), known)
    assert Attribute("genre", "Crime Film") in reading.wants
    assert Attribute("director", "Michael Mann") in reading.wants
    assert Attribute("like", "Heat (1995)") in reading.wants
    assert reading.rejects == (Attribute("genre", "Science Fiction"),)
    assert reading.items == ("heat (1995)",)


def test_attributes_that_the_catalogue_lacks_are_left_out() -> None:
    known = catalogue(film("Heat (1995)", genres=("Crime",)))
    reading = read(Turn(speaker=Speaker.USER, text="a cheap crime story"), (), known)
    assert {each.kind for each in reading.wants} == {"genre"}
