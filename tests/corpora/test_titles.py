"""What names an item, in lists and in texts."""

import pytest

from recjury.corpora import Catalogue, Item, Title, fold
from recjury.records import ItemRef

FILMS = [
    ("Alien", 1979, 9),
    ("Alien Nation", 1988, 1),
    ("Amélie", 2001, 5),
    ("Blade Runner", 1982, 8),
    ("Blade Runner 2049", 2017, 7),
    ("Don't Look Now", 1973, 3),
    ("Heat", 1995, 9),
    ("It", 2017, 8),
    ("It Happened One Night", 1934, 2),
    ("Little Women", 1994, 4),
    ("Little Women", 2019, 6),
    ("The Matrix", 1999, 9),
    ("The Others", 2001, 4),
    ("The Thing", 1982, 6),
    ("Toy Story", 1995, 9),
    ("Toy Story 2", 1999, 8),
    ("Up", 2009, 9),
    ("1917", 2019, 5),
]
CATALOGUE = Catalogue(
    Item(id=f"{name} {year}", name=name, year=year, popularity=known) for name, year, known in FILMS
)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Try Heat (1995), or Amelie.", ["Heat 1995", "Amélie 2001"]),
        ("What's up? It is the thing that others like in this heat.", []),
        ("I liked Up, The Others and The Thing.", ["Up 2009", "The Others 2001", "The Thing 1982"]),
        ('Have you seen "up" or *It*?', ["Up 2009", "It 2017"]),
        ("1. Up\n2. It (2017)\n- Heat: three hours", ["Up 2009", "It 2017", "Heat 1995"]),
        ("Alien Nation is no Alien.", ["Alien Nation 1988", "Alien 1979"]),
        ("Blade Runner 2049, then Blade Runner", ["Blade Runner 2049 2017", "Blade Runner 1982"]),
        ("Toy Story 2 has the song.", ["Toy Story 2 1999"]),
        ("it happened one night, they say", ["It Happened One Night 1934"]),
        ("Little Women is lovely.", ["Little Women 2019"]),
        ("Little Women (1994) is lovely.", ["Little Women 1994"]),
        ("Little Women (1949) is lovely.", ["?little women 1949"]),
        ("The Matrix (1998) is a year off.", ["The Matrix 1999"]),
        ("amelie, AMÉLIE", ["Amélie 2001"]),
        ("In 1917 (the year), nobody saw 1917 (2019).", ["1917 2019"]),
        ("Don’t Look Now", ["Don't Look Now 1973"]),
        ("Heat.", ["Heat 1995"]),
        ("", []),
    ],
)
def test_titles_in_a_text(text: str, named: list[str]) -> None:
    assert [item.id for item in CATALOGUE.link(text)] == named


FEW = Catalogue(
    Item(id=name, name=name, year=year, attributes={"known for": (value,)})
    for name, year, value in [
        ("Alien", 1979, "Ridley Scott"),
        ("Ghost", 1990, "drama"),
        ("Monsters", 2010, "Gareth Edwards"),
        ("Speed", 1994, "Jan de Bont"),
        ("Toy Story", 1995, "John Lasseter"),
        ("Jack", 1996, "Francis Ford Coppola"),
        ("Fast & Furious", 2009, "Justin Lin"),
        ("Drama", 2010, "Jack Black"),
    ]
)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Toy Story 3 (2010) is a treat for everybody.", ["?toy story 3 2010"]),
        ("I would watch Alien: Covenant (2017) tonight.", ["?alien covenant 2017"]),
        ("Monsters, Inc. (2001) is good fun.", ["?monsters inc 2001"]),
        ("You might enjoy Ghost in the Shell 2: Innocence.", []),
        ("Speed Racer (2008) is loud and bright, and I mean Speed Racer.", ["?speed racer 2008"]),
        ("Alien (1979), Speed (1994) and Toy Story (1995).", ["Alien", "Speed", "Toy Story"]),
        ("See Alien, or Toy Story and Speed.", ["Alien", "Toy Story", "Speed"]),
        ("1. **Alien**: A crew in space.\n2. Toy Story: Toys.", ["Alien", "Toy Story"]),
        ("I love Alien by Ridley Scott, and Jack Black.", ["Alien"]),
        ("Try Initial Speed (1994).", ["?initial speed 1994"]),
        ("Fast &amp; Furious? Fast and furious!", ["Fast & Furious"]),
        ("I like Drama, but not 'Drama'.", ["Drama"]),
        ("I like Drama.", []),
        ("T\u200boy St\u00f6ry", ["Toy Story"]),
        ("Toy Story's end", ["Toy Story"]),
        (
            "Try Alien, **Up in the Air** (2009), 3 Women (1977)!",
            ["Alien", "?up in the air 2009", "?3 women 1977"],
        ),
        ("It is of (1999), and made in 1999.", []),
    ],
)
def test_a_title_that_goes_on_is_another_one(text: str, named: list[str]) -> None:
    """Case 01, and what is none of it."""
    assert [item.id for item in FEW.link(text)] == named


def test_names_that_a_catalogue_lacks() -> None:
    listed: list[ItemRef | str] = [
        "Heat (1995)",
        "Heat (1949)",
        ItemRef(id="Up 2009", name="Up"),
        "heat, 1949",
        "Heat",
    ]
    assert [ref.name for ref in CATALOGUE.unknown(listed)] == ["Heat (1949)"]


def test_a_long_text_is_read() -> None:
    assert not CATALOGUE.link("x" * 1_000_000)
    assert [item.id for item in CATALOGUE.link("no " * 100_000 + "Blade Runner")] == [
        "Blade Runner 1982"
    ]


@pytest.mark.parametrize(
    ("entry", "id_"),
    [
        ("Heat 1995", "Heat 1995"),
        ("up", "Up 2009"),
        ("Matrix, The (1999)", "The Matrix 1999"),
        ("matrix", "The Matrix 1999"),
        ("Little Women (1994)", "Little Women 1994"),
        ("LITTLE WOMEN", "Little Women 2019"),
        ("Little Women (1949)", "?little women 1949"),
        ("Persona", "?persona"),
        ("!?", "?!?"),
    ],
)
def test_entries_of_a_list(entry: str, id_: str) -> None:
    item = CATALOGUE.resolve(entry)
    assert item.id == id_
    assert CATALOGUE.resolve(item) == item


def test_a_reference_gets_the_name_of_the_catalogue() -> None:
    assert CATALOGUE.resolve(ItemRef(id="Up 2009", name="Oben")).name == "Up (2009)"


def test_a_reference_of_another_catalogue_is_found_by_its_name() -> None:
    assert CATALOGUE.resolve(ItemRef(id="tt1049413", name="Up (2009)")).id == "Up 2009"
    other = CATALOGUE.resolve(ItemRef(id="tt1", name="Persona"))
    assert (other.id, other.is_known) == ("?persona", False)
    assert Catalogue().resolve(other.model_copy(update={"id": "tt1"})).id == "tt1"


def test_a_title_says_where_it_is_named() -> None:
    title = Title("The Matrix (1999)")
    assert title.in_text("You saw The Matrix?") == 2
    assert title.in_text("You saw it?") is None


@pytest.mark.parametrize(
    ("text", "folded"),
    [("Amélie's  WALL·E!", "amelies wall e"), ("千と千尋", "千と千尋"), ("?!", "")],
)
def test_folding(text: str, folded: str) -> None:
    assert fold(text) == folded
