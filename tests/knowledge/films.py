"""A few films whose titles are hard to find in text."""

from recjury.knowledge import Catalogue, split_year
from recjury.records import Item


def film(
    number: int, name: str, popularity: float | None = 1.0, actors: tuple[str, ...] = ()
) -> Item:
    """An item with this name."""
    title, year = split_year(name)
    return Item(
        id=str(number),
        name=name,
        title=title,
        year=year,
        popularity=popularity,
        actors=actors,
    )


FILMS = (
    film(1, "It (2017)"),
    film(2, "Up (2009)"),
    film(3, "Her (2013)"),
    film(4, "Once (2007)"),
    film(5, "Life (2017)"),
    film(6, "About Time (2013)"),
    film(7, "Eve (1962)"),
    film(8, "Titanic (1997)", popularity=5),
    film(9, "Titanic (1953)", popularity=0),
    film(10, "Spider-Man (2002)"),
    film(11, "Mrs. Doubtfire (1993)"),
    film(12, "Amélie (2001)"),
    film(13, "Schindler's List (1993)"),
    film(14, "Harold and Maude (1971)"),
    film(15, "Mother! (2017)", popularity=1),
    film(16, "Mother (2009)", popularity=9),
    film(17, "Bad Boys (1995)", actors=("Will Smith", "Ben Love")),
    film(18, "Bad Boys II (2003)"),
    film(19, "Ben (1972)"),
    film(20, "It Follows (2014)"),
    film(21, "Yes (2004)"),
    film(22, "50 First Dates (2004)"),
    film(23, "300 (2006)"),
    film(24, "Memento", popularity=None),
    film(25, "Heat (1995)"),
)

CATALOGUE = Catalogue("films", FILMS)


def linked(text: str) -> list[str]:
    """The names of the films that are found in `text`, in order."""
    return [CATALOGUE.item(mention.id).name for mention in CATALOGUE.link(text)]
