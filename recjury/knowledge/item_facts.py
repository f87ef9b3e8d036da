"""What a catalogue knows of an item, on one line."""

from recjury.knowledge.catalogue import Catalogue
from recjury.records import Item, ItemRef

_MOST_PEOPLE = 3


class CatalogueFacts:
    """The facts of a catalogue's items: year, genres and people.

    How often people mention an item is left out: it says little about how well known the item is.
    """

    def __init__(self, catalogue: Catalogue):
        """Take the facts from `catalogue`."""
        self._catalogue = catalogue

    @property
    def digest(self) -> str:
        """The identity of all that the facts are taken from."""
        return self._catalogue.digest

    def __call__(self, item: ItemRef) -> str:
        """The facts of an item; empty if the catalogue does not have it, or knows nothing of it."""
        if item.id is None or item.id not in self._catalogue:
            return ""
        return item_facts(self._catalogue.item(item.id))


def item_facts(item: Item) -> str:
    """The year, genres and people of an item ("1995; crime, drama; directed by Michael Mann").

    At most three people of a kind are named. Writers are named if the item has neither director
    nor actors, as books.
    """
    people = [("directed by", item.directors), ("with", item.actors)]
    if not (item.directors or item.actors):
        people = [("by", item.writers)]
    parts = [str(item.year or ""), ", ".join(item.genres)]
    parts += [
        f"{how} {', '.join(dict.fromkeys(names[:_MOST_PEOPLE]))}" for how, names in people if names
    ]
    return "; ".join(filter(None, parts))
