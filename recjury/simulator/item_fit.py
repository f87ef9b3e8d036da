"""Which items have what the rule user wants, as far as the catalogue knows."""

from recjury.knowledge import Catalogue
from recjury.records import Item
from recjury.simulator.agenda import Want, decade, kinds, letters, spoken_categories
from recjury.simulator.grammar import phrases

_MUCH_SHARED = 2


class ItemFit:
    """Compares the items of a catalogue with wants and with each other."""

    def __init__(self, catalogue: Catalogue):
        """Items that a want names are looked up in `catalogue`."""
        self._catalogue = catalogue

    def fits(self, item: Item, want: Want) -> bool:
        """Whether the item has what is wanted; False for what nobody can check."""
        match want.role:
            case "category":
                return want.value in self.categories(item)
            case "cast" | "maker":
                return has_word(" ".join(self.people(item)), want.value)
            case "era":
                return item.year is not None and decade(item.year) == want.value
            case "like":
                liked = self._catalogue.named(want.value)
                return liked is not None and self.is_like(item, liked)
            case "ask":
                return self._has_asked(item, want.value)
            case _:
                return False

    def is_near(self, item: Item, category: str) -> bool:
        """Whether the item has the category, or one that hardly differs ("music", "musical")."""
        return not _near(category).isdisjoint(self.categories(item))

    def _has_asked(self, item: Item, ask: str) -> bool:
        """Whether a wish in the person's own words names somebody or the category of the item."""
        if any(has_word(ask, name) for name in self.people(item)):
            return True
        heard = {genre for word, genre in phrases().heard.items() if has_word(ask, word)}
        return any(has_word(ask, each) or each in heard for each in self.categories(item))

    def is_like(self, item: Item, liked: Item) -> bool:
        """Whether two items have a person, or two or half of their categories, in common."""
        ours, theirs = set(self.categories(item)), set(self.categories(liked))
        shared = len(ours & theirs)
        if shared and (shared * 2 >= len(ours | theirs) or shared >= _MUCH_SHARED):
            return True
        return not set(self.people(item)).isdisjoint(self.people(liked))

    def go_together(self, first: Want, second: Want) -> bool:
        """Whether two wants of the history fit one item: an item that was liked has the other."""
        for like, other in ((first, second), (second, first)):
            if like.role == "like":
                liked = self._catalogue.named(like.value)
                return liked is not None and self.fits(liked, other)
        return True

    def categories(self, item: Item) -> tuple[str, ...]:
        """The item's categories as people say them."""
        return spoken_categories(item, self._catalogue.domain_of(item))

    def people(self, item: Item) -> list[str]:
        """Who made the item and who takes part in it."""
        domain = self._catalogue.domain_of(item)
        return [name for each in domain.of_kind("cast", "maker") for name in each.of(item)]


def _near(category: str) -> set[str]:
    """The category, and those that hardly differ from it."""
    return {category}.union(*(each for each in phrases().near if category in each))


def has_word(text: str, words: str) -> bool:
    """Whether a text has these words in this order, without case and signs."""
    return f" {letters(words)} " in f" {letters(text)} "


def says(text: str, want: Want) -> bool:
    """Whether a text says a want."""
    forms = {want.value}
    if want.role == "category":
        forms |= {*kinds(want.value, "", ""), *phrases().feels.get(want.value, [])}
    if want.role == "era":
        forms |= set(phrases().times.get(want.value, []))
    return any(has_word(text, form) for form in forms)
