"""Similarity and Diversity of items that are no films, by the attributes of their domain."""

from recjury.judges.measured.diversity import characteristics, domain_of_list
from recjury.judges.measured.similarity import Similarity, similarity, traits_of
from recjury.knowledge import Catalogue, KnowledgeGraph, known_domain
from recjury.records import Item

FILM, BOOK, RESTAURANT = (known_domain(name) for name in ("film", "book", "restaurant"))


def book(name: str, author: str, *genres: str, language: str = "English") -> Item:
    return Item(
        id=name, name=name, title=name, writers=(author,), genres=genres, languages=(language,)
    )


def place(name: str, cuisine: str, price: str, chef: str) -> Item:
    values = (("cuisines", (cuisine,)), ("price", (price,)), ("chefs", (chef,)))
    return Item(id=name, name=name, title=name, attributes=values)


EMMA = book("Emma", "Jane Austen", "Romance Novel")
PERSUASION = book("Persuasion", "Jane Austen", "Romance")
FAUST = book("Faust", "Goethe", "Drama", language="German")
HEAT = Item(id="Heat", name="Heat", title="Heat", genres=("Crime",), directors=("Michael Mann",))
SOL, MAR, LUZ = (
    place("Sol", "Thai", "cheap", "Ann Lee"),
    place("Mar", "Thai", "expensive", "Bo Kim"),
    place("Luz", "Greek", "cheap", "Ann Lee"),
)


def test_the_dimensions_of_books_are_genres_authors_and_languages() -> None:
    assert characteristics([EMMA, PERSUASION, FAUST], BOOK) == {
        "genres": 2,
        "authors": 2,
        "languages": 2,
    }


def test_the_dimensions_of_restaurants_are_the_papers() -> None:
    assert characteristics([SOL, MAR, LUZ], RESTAURANT) == {
        "cuisines": 2,
        "price ranges": 2,
        "diets": 0,
        "main ingredients": 0,
    }


def test_the_dimensions_of_a_list_are_those_of_most_of_its_items() -> None:
    catalogue = Catalogue("both", [HEAT, EMMA, FAUST], others={"Emma": BOOK, "Faust": BOOK})

    assert domain_of_list([HEAT, EMMA, FAUST], catalogue) is BOOK
    assert domain_of_list([HEAT, EMMA], catalogue) is FILM
    assert domain_of_list([], catalogue) is FILM


def test_books_and_restaurants_are_similar_by_their_own_attributes() -> None:
    def alike(one: Item, other: Item) -> Similarity:
        domain = RESTAURANT if one.attributes else BOOK
        return similarity(traits_of(one, domain, None), traits_of(other, domain, None))

    assert alike(EMMA, PERSUASION) is Similarity.VERY  # one author, one genre
    assert alike(EMMA, FAUST) is Similarity.UNLIKE
    assert alike(SOL, LUZ) is Similarity.VERY  # one chef, one price
    assert alike(SOL, MAR) is Similarity.SOMEWHAT  # one cuisine
    assert alike(MAR, LUZ) is Similarity.UNLIKE


def test_attributes_of_the_domain_come_before_the_graph() -> None:
    graph = KnowledgeGraph(
        entities=("Sol", "Crime"),
        relations=("genre",),
        triples=(),
        item_ids={0: "Sol"},
        item_entities=(0,),
    )

    assert traits_of(SOL, RESTAURANT, graph).makers == {"Ann Lee"}
