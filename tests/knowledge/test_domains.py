"""What a corpus says of its items: known domains, domain files, and the domain of an item."""

from pathlib import Path

import pytest

from recjury.errors import DataError
from recjury.knowledge import (
    BOOK,
    FILM,
    Catalogue,
    CatalogueFacts,
    domain_names,
    known_domain,
    read_domain,
)
from recjury.records import Item, ItemRef, Scenario

NOVEL = Item(id="b", name="Emma", title="Emma", year=1815, writers=("Jane Austen",))
PLAY = Item(id="f", name="Heat", title="Heat", genres=("crime",), directors=("Michael Mann",))


def _read(folder: Path, text: str) -> str:
    path = folder / "domain.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError) as error:
        read_domain(path)
    return str(error.value).removeprefix(f"{path}: ")


@pytest.mark.parametrize("name", domain_names())
def test_known_domains_have_words_for_each_attribute(name: str) -> None:
    domain = known_domain(name)

    assert domain.name == name
    assert all(each.word and each.words and each.field for each in domain.attributes)
    assert all(each.by and each.did for each in domain.of_kind("maker"))


def test_dimensions_are_those_of_the_paper() -> None:
    dimensions = {name: known_domain(name).dimensions for name in domain_names()}

    assert dimensions["film"] == ("genre", "director", "actor", "year")
    assert dimensions["book"] == ("genre", "writer", "language")
    assert dimensions["restaurant"] == ("cuisine", "price", "diet", "ingredient")
    assert dimensions["product"] == ("type", "brand", "price")


def test_attributes_read_fields_years_and_others_of_an_item() -> None:
    place = Item(id="r", name="Sol", title="Sol", attributes=(("cuisines", ("Thai", "Thai")),))
    cuisine = known_domain("restaurant").attribute("cuisine")
    book = known_domain(BOOK)

    assert cuisine is not None
    assert cuisine.of(place) == ("Thai",)
    assert [each.of(NOVEL) for each in book.attributes] == [(), ("Jane Austen",), ("1815",), ()]
    assert book.describes(NOVEL)
    assert not known_domain("restaurant").describes(NOVEL)


def test_a_corpus_describes_a_domain_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "domain.yaml"
    path.write_text(
        "item: hike\nitems: hikes\nverb: walk\ndone: walked\n"
        "attributes:\n  terrain: {kind: category}\n  guide: {kind: maker, by: led by}\n",
        "utf-8",
    )

    domain = read_domain(path)

    assert domain.dimensions == ("terrain", "guide")
    assert [(each.word, each.words, each.field) for each in domain.attributes] == [
        ("terrain", "terrains", "terrains"),
        ("guide", "guides", "guides"),
    ]


def test_a_corpus_names_a_known_domain(tmp_path: Path) -> None:
    path = tmp_path / "domain.yaml"
    path.write_text("domain: book\n", "utf-8")

    assert read_domain(path) is known_domain(BOOK)


def test_faults_of_a_domain_file_are_one_line(tmp_path: Path) -> None:
    words = "item: hike\nitems: hikes\nverb: walk\ndone: walked\n"

    assert _read(tmp_path, words).startswith("names no attribute: `attributes` must have")
    assert _read(tmp_path, words + "attributes: {}\n").startswith("names no attribute")
    assert _read(tmp_path, words + "attributes: {area: {kind: place}}\n") == (
        "attributes.area.kind: Input should be 'category', 'maker', 'cast' or 'era'"
    )
    assert _read(tmp_path, "attributes: {area: {kind: category}}\n").startswith("lacks 'item'")
    assert _read(tmp_path, words + "colour: red\n").startswith("unknown key 'colour'")
    assert _read(tmp_path, "domain: boks\n").startswith("no domain 'boks': there are book, film")
    assert _read(tmp_path, "- film\n").startswith("expected the keys item, items")
    assert _read(
        tmp_path, words + "attributes: {area: {kind: category}}\ndimensions: [price]\n"
    ) == ("the dimension 'price' is no attribute: area")


def test_a_catalogue_knows_what_each_item_and_scenario_is_about() -> None:
    catalogue = Catalogue("both", [PLAY, NOVEL], others={"b": known_domain(BOOK)})

    def wanted(*ids: str) -> str:
        targets = tuple(ItemRef(id=id_, name=id_) for id_ in ids)
        scenario = Scenario(corpus="both/test", record="1", targets=targets)
        return catalogue.wanted_domain(scenario).name

    assert [domain.name for domain in catalogue.domains] == [FILM, BOOK]
    assert [catalogue.domain_of(item).name for item in catalogue] == [FILM, BOOK]
    assert wanted("f") == FILM
    assert wanted("b") == wanted("b", "f") == BOOK
    assert wanted("?") == wanted() == FILM
    assert [catalogue.domain_named(name).name for name in (BOOK, "opera", "")] == [BOOK, FILM, FILM]


def test_the_domain_of_a_catalogue_counts_in_its_identity_unless_it_is_film() -> None:
    films = Catalogue("one", [NOVEL]).digest

    assert Catalogue("one", [NOVEL], domain=known_domain(FILM)).digest == films
    assert Catalogue("one", [NOVEL], domain=known_domain(BOOK)).digest != films


def test_attributes_stay_out_of_identities_where_there_are_none() -> None:
    place = NOVEL.model_copy(update={"attributes": (("cuisines", ("Thai",)),)})

    assert "attributes" not in NOVEL.model_dump()
    assert Item.model_validate(place.model_dump()) == place


def test_facts_of_an_item_are_those_of_its_domain() -> None:
    values = (("cuisines", ("Thai", "Lao")), ("chefs", ("Ann Lee",)), ("area", ("town",)))
    sol = Item(id="r", name="Sol", title="Sol", languages=("Thai",), attributes=values)
    places = CatalogueFacts(Catalogue("town", [sol], domain=known_domain("restaurant")))
    both = CatalogueFacts(Catalogue("both", [PLAY, NOVEL], others={"b": known_domain(BOOK)}))

    assert places(sol.ref) == "cuisine: Thai, Lao; run by Ann Lee"
    assert both(NOVEL.ref) == "1815; by Jane Austen"
    assert both(PLAY.ref) == "crime; directed by Michael Mann"
