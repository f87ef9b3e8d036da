"""What the rule user wants, in the words of each domain."""

from random import Random

import pytest

from recjury.knowledge import Catalogue, known_domain
from recjury.records import Act, Attribute, Item
from recjury.simulator.wants import (
    agenda,
    is_near,
    like,
    plural,
    spoken_decade,
    thing,
    want_of,
    wants_of,
)
from tests.simulator.doubles import film, system_turn
from tests.simulator.moments import NEAR, TARGET, does, each_seed, moment, values

FILM = known_domain("film")


def wanted(domain: str, *attributes: tuple[str, str]) -> str:
    found = [want_of(Attribute(*each), known_domain(domain)) for each in attributes]
    return thing([want for want in found if want is not None], known_domain(domain))


@pytest.mark.parametrize(
    ("domain", "attributes", "words"),
    [
        ("film", [("genre", "Crime Fiction")], "a crime film"),
        ("film", [("genre", "Comedy film")], "a comedy"),
        ("film", [("genre", "comedy"), ("actor", "Ann Reed")], "a comedy with Ann Reed"),
        ("film", [("director", "Cy Marsh")], "something directed by Cy Marsh"),
        ("film", [("decade", "1990s")], "something from the 90s"),
        ("film", [("language", "French Language")], "something in French"),
        ("book", [("writer", "Di Falk"), ("genre", "fantasy")], "a fantasy book by Di Falk"),
        ("product", [("type", "headphones"), ("brand", "Acme")], "headphones by Acme"),
        ("song", [("mood", "calm"), ("artist", "Bo Lund")], "a calm song by Bo Lund"),
        ("restaurant", [("cuisine", "Thai"), ("area", "Soho")], "a Thai restaurant in Soho"),
        ("film", [("genre", "a genre that nobody says")], "something"),
    ],
)
def test_things_in_the_words_of_a_domain(
    domain: str, attributes: list[tuple[str, str]], words: str
) -> None:
    assert wanted(domain, *attributes) == words


def test_an_item_that_is_liked_and_kinds_in_the_plural() -> None:
    assert thing([like(NEAR)], FILM) == "something like Low Tide"
    crime, comedy = (want_of(Attribute("genre", each), FILM) for each in ("crime", "comedy"))
    assert crime
    assert comedy
    assert (plural(crime, FILM), plural(comedy, FILM)) == ("crime films", "comedies")
    assert is_near("music", "musical")
    assert not is_near("crime", "comedy")


def test_the_agenda_begins_with_a_category_and_has_every_kind() -> None:
    wants = agenda(TARGET, FILM, Random(0))
    assert wants[0].attribute == Attribute("genre", "drama")
    kinds = {want.attribute.kind for want in wants if want.attribute}
    assert kinds == {"genre", "decade", "actor", "director", "writer"}
    assert agenda(film("Nameless"), FILM, Random(0)) == ()


def test_each_value_is_wanted_once_and_in_the_catalogues_spelling() -> None:
    item = film("Solo (2001)", genres=("Sci-Fi", "sci-fi"), actors=("Ann Reed", "Ann Reed"))
    found = [want.attribute for want in wants_of(item, FILM)]
    assert found == [
        Attribute("genre", "Sci-Fi"), Attribute("actor", "Ann Reed"), Attribute("decade", "2000s"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("year", "decade"), [(1994, "the 90s"), (2003, "the 2000s"), (1850, "the 1850s")]
)
def test_decades(year: int, decade: str) -> None:
    assert spoken_decade(year) == decade


def test_other_domains_speak_of_their_own_attributes() -> None:
    places = [
        Item(
            id=f"p{n}",
            name=f"Place Number {n}",
            title=f"Place Number {n}",
            attributes=(("cuisines", ("Thai",)), ("areas", ("Soho",))),
        )
        for n in range(3)
    ]
    known = Catalogue("places", places, domain=known_domain("restaurant"))
    texts = each_seed(moment(targets=(places[0],)), known)
    assert all("Thai" in said.text for said in texts)
    answers = each_seed(moment(system_turn("In which area?"), targets=(places[0],)), known)
    assert all(Attribute("area", "Soho") in values(said) for said in answers)


def test_books_are_read_and_not_watched() -> None:
    books = [
        film(f"Book {n}", genres=("Fantasy", "Young-adult fiction"), writers=("Ann Reed",))
        for n in range(3)
    ]
    known = Catalogue("books", books, domain=known_domain("book"))
    said = each_seed(moment(targets=(books[0],)), known, seeds=40)
    for asked in ("Book 2?", "Which author do you like?"):
        said += each_seed(moment(system_turn(asked), targets=(books[0],)), known, seeds=40)
    words = {word.strip(".,?!").lower() for each in said for word in each.text.split()}
    assert words & {"book", "books"}
    assert not words & {"watch", "film", "films", "movie", "seen"}
    assert any(Attribute("writer", "Ann Reed") in values(each) for each in said)
    assert any(does(each, Act.WISH) for each in said)
