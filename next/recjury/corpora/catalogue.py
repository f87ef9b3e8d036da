"""A catalogue: items with attributes, found by id, by name, and in texts."""

from collections.abc import Iterable, Iterator
from functools import cached_property

from pydantic import Field

from recjury.corpora.titles import Title, TitleIndex, fold
from recjury.records import ItemRef, Record, digest


class Item(Record):
    """One item. `attributes` are values by relation ("genre", "director")."""

    id: str
    name: str
    year: int | None = None
    attributes: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    description: str = ""
    popularity: float = 0.0

    @property
    def ref(self) -> ItemRef:
        """The reference, whose name has the year."""
        return ItemRef(id=self.id, name=f"{self.name} ({self.year})" if self.year else self.name)

    @cached_property
    def values(self) -> frozenset[str]:
        """Its attribute values, folded."""
        return frozenset(fold(value) for values in self.attributes.values() for value in values)

    @property
    def text(self) -> str:
        """All that is known of it, for a search."""
        values = (value for values in self.attributes.values() for value in values)
        return " ".join((self.ref.name, *values, self.description))


class Catalogue:
    """The items of a corpus."""

    def __init__(self, items: Iterable[Item] = ()):
        """Ids are unique. Of items with the same name, the most popular one is meant."""
        self.items = {item.id: item for item in items}
        ranked = sorted(self.items.values(), key=lambda item: -item.popularity)
        self._item_of = {Title(item.ref.name): item for item in ranked}
        self._titles = TitleIndex(self._item_of)

    def __iter__(self) -> Iterator[Item]:
        """The items, in the order of the file."""
        return iter(self.items.values())

    def __len__(self) -> int:
        """How many items there are."""
        return len(self.items)

    @cached_property
    def digest(self) -> str:
        """The identity of all items."""
        return digest(list(self.items.values()))

    @cached_property
    def values(self) -> frozenset[str]:
        """The attribute values of all items, folded."""
        return frozenset[str]().union(*(item.values for item in self))

    def resolve(self, entry: ItemRef | str) -> ItemRef:
        """The item with that id or name; one that is not here has its folded name as id."""
        if isinstance(entry, ItemRef):
            return self.items[entry.id].ref if entry.id in self.items else entry
        if entry in self.items:
            return self.items[entry].ref
        if title := self._titles.called(entry):
            return self._item_of[title].ref
        return ItemRef(id=f"?{fold(entry) or entry}", name=entry)

    def link(self, text: str) -> tuple[ItemRef, ...]:
        """The items that a text names, in the text's order, once each."""
        named = dict.fromkeys(title for _, title in self._titles.in_text(text))
        return tuple(self._item_of[title].ref for title in named)

    def facts(self, item: ItemRef) -> str:
        """What is known of an item, on one line: `1995; genre: crime, thriller; director: ...`."""
        known = self.items.get(item.id)
        if known is None:
            return ""
        values = [f"{name}: {', '.join(each)}" for name, each in known.attributes.items() if each]
        return "; ".join([*([str(known.year)] if known.year else []), *values])

    def own_values(self, item: ItemRef) -> frozenset[str]:
        """The attribute values that no other item has: they give it away as its title would."""
        known = self.items.get(item.id)
        if known is None:
            return frozenset()
        return frozenset(
            value
            for name, values in known.attributes.items()
            for value in values
            if len(self._having[name, value]) == 1
        )

    @cached_property
    def _having(self) -> dict[tuple[str, str], set[str]]:
        having: dict[tuple[str, str], set[str]] = {}
        for item in self:
            for name, values in item.attributes.items():
                for value in values:
                    having.setdefault((name, value), set()).add(item.id)
        return having
