"""What a catalogue knows of an item, on one line."""

from recjury.knowledge.catalogue import Catalogue
from recjury.records import Domain, DomainAttribute, Item, ItemRef

_MOST_PEOPLE = 3


class CatalogueFacts:
    """The facts of a catalogue's items: year, categories and people.

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
        known = self._catalogue.item(item.id)
        return item_facts(known, self._catalogue.domain_of(known))


def item_facts(item: Item, domain: Domain) -> str:
    """The year, categories and people of an item ("1995; crime, drama; directed by Michael Mann").

    At most three people of a kind are named. Of several kinds of makers (directors, writers) only
    the first is named, and the others if the item has neither the first nor a cast.
    """
    makers, cast = domain.of_kind("maker"), domain.of_kind("cast")
    people = [(each.by, each.of(item)) for each in (*makers[:1], *cast)]
    if not any(names for _, names in people):
        people = [("by", each.of(item)) for each in makers[1:]]
    parts = [str(item.year or "")]
    parts += [_category(each, each.of(item)) for each in domain.of_kind("category")]
    parts += [f"{by} {', '.join(names[:_MOST_PEOPLE])}".strip() for by, names in people if names]
    return "; ".join(filter(None, parts))


def _category(category: DomainAttribute, values: tuple[str, ...]) -> str:
    """The values of a category; a genre speaks for itself, and a language is left out."""
    shown = ", ".join(values)
    if not values or category.name == "language":
        return ""
    if category.name == "genre":
        return shown
    return f"{category.by} {shown}" if category.by else f"{category.word}: {shown}"
