"""The catalogue finds items by id and by name, and says which of them are little known."""

import pytest

from recjury.errors import DataError
from recjury.knowledge import Catalogue, split_year
from recjury.records import ItemRef
from tests.knowledge.films import CATALOGUE, FILMS, film


@pytest.mark.parametrize(
    ("name", "id_"),
    [
        ("Heat (1995)", "25"),
        ("heat  (1995)", "25"),
        ("HEAT", "25"),
        ("Titanic", None),
        ("Titanic (1953)", "9"),
        ("Titanic (2000)", None),
        ("memento", "24"),
        ("Heat (1986)", None),
        ("Ame\u0301lie", "12"),  # its accent as a character of its own
        ("", None),
    ],
)
def test_names_resolve_when_they_mean_one_item(name: str, id_: str | None) -> None:
    found = CATALOGUE.named(name)
    assert (found.id if found else None) == id_
    assert CATALOGUE.ref(name).id == id_


def test_a_name_that_does_not_resolve_keeps_its_spelling() -> None:
    assert CATALOGUE.ref("No Such Film") == ItemRef(id=None, name="No Such Film")


def test_case_decides_between_names_that_differ_in_nothing_else() -> None:
    catalogue = Catalogue("two", [film(1, "xXx"), film(2, "XXX")])
    assert [catalogue.ref(name).id for name in ("xXx", "XXX", "xxx")] == ["1", "2", None]


def test_a_year_that_only_the_attributes_have_counts() -> None:
    catalogue = Catalogue("one", [film(1, "Fight Club").model_copy(update={"year": 1999})])
    assert catalogue.ref("Fight Club (1999)").id == "1"
    assert catalogue.ref("Fight Club (2001)").id is None
    assert [m.text for m in catalogue.link("fight club (1999)!")] == ["fight club (1999)"]


def test_an_unknown_id_is_named() -> None:
    with pytest.raises(DataError, match="no item '99' in the catalogue films"):
        CATALOGUE.item("99")
    assert "99" not in CATALOGUE


def test_little_known_is_what_nobody_mentions() -> None:
    assert CATALOGUE.little_known("9") is True
    assert CATALOGUE.little_known("8") is False
    assert CATALOGUE.little_known("24") is None
    estimates = Catalogue("sample", [film(1, "A", 36), film(2, "B", 37)], known_from=37)
    assert [estimates.little_known(id_) for id_ in ("1", "2")] == [True, False]


def test_items_beyond_are_known_but_not_recommended() -> None:
    catalogue = Catalogue("split", FILMS[:2], beyond=[FILMS[7]])
    assert len(catalogue) == 2
    assert [item.id for item in catalogue] == ["1", "2"]
    assert "8" in catalogue
    assert catalogue.item("8").name == "Titanic (1997)"
    assert not catalogue.recommendable("8")
    assert catalogue.link("Titanic") == ()


def test_the_digest_changes_with_the_content() -> None:
    same = Catalogue("films", FILMS)
    other = Catalogue("films", [*FILMS[:-1], film(25, "Heat (1995)", popularity=2)])
    beyond = Catalogue("films", FILMS[1:], beyond=FILMS[:1])
    assert same.digest == CATALOGUE.digest
    assert len({same.digest, other.digest, beyond.digest}) == 3


@pytest.mark.parametrize(
    ("name", "title", "year"),
    [
        ("Heat (1995)", "Heat", 1995),
        ("The Others  (2001)", "The Others", 2001),
        ("1984", "1984", None),
        ("2012 (2009)", "2012", 2009),
        ("(1999)", "(1999)", None),
        ("Ted (Comedy)", "Ted (Comedy)", None),
    ],
)
def test_years_come_off_names(name: str, title: str, year: int | None) -> None:
    assert split_year(name) == (title, year)
