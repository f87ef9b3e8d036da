"""A catalogue: items with attributes, found by id, by name, in texts, and by what they share."""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property

from pydantic import Field

from recjury.corpora.graph import Fact, KnowledgeGraph
from recjury.corpora.titles import LINKING, Title, TitleIndex
from recjury.corpora.words import fold
from recjury.records import ItemRef, Record, digest


class Item(Record):
    """One item. `attributes` are values by relation ("genre", "director").

    `domain` is what it is where a catalogue has several kinds. `mark` stands behind the name of an
    item that others have, too.
    """

    id: str = Field(min_length=1)
    name: str = Field(min_length=1)
    year: int | None = None
    attributes: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    description: str = ""
    popularity: float = 0.0
    domain: str = ""
    mark: str = ""

    @property
    def full_name(self) -> str:
        """The name with the year: "Heat (1995)"."""
        return f"{self.name} ({self.year})" if self.year else self.name

    @property
    def ref(self) -> ItemRef:
        """The reference; its name has the year, and the mark."""
        mark = f" [{self.mark}]" if self.mark else ""
        return ItemRef(id=self.id, name=f"{self.full_name}{mark}")

    @cached_property
    def values(self) -> frozenset[str]:
        """Its attribute values, folded."""
        return frozenset(fold(value) for values in self.attributes.values() for value in values)

    @property
    def text(self) -> str:
        """All that is known of it, for a search."""
        values = (value for values in self.attributes.values() for value in values)
        return " ".join((self.ref.name, *values, self.description))


def fact_of(wish: str) -> tuple[str | None, str]:
    """The relation, None if there is none, and the value of a wish: "crime", or "genre: crime"."""
    relation, _, value = wish.rpartition(": ")
    return relation or None, value


class Catalogue:
    """The items of a corpus."""

    def __init__(self, items: Iterable[Item] = ()):
        """Ids are unique. Of items with the same name, the most popular one is meant.

        Items whose names and years are equal are marked with their ids.
        """
        listed = list(items)
        names = Counter(item.full_name for item in listed)
        marked = (
            item.model_copy(update={"mark": item.id}) if names[item.full_name] > 1 else item
            for item in listed
        )
        self.items = {item.id: item for item in marked}

    def __iter__(self) -> Iterator[Item]:
        """The items, in the order of the file."""
        return iter(self.items.values())

    def __len__(self) -> int:
        """How many items there are."""
        return len(self.items)

    @cached_property
    def digest(self) -> str:
        """The identity of all items, and of how texts are matched with their names."""
        return digest(LINKING, list(self.items.values()))

    @cached_property
    def values(self) -> frozenset[str]:
        """The attribute values of all items, folded."""
        return frozenset[str]().union(*(item.values for item in self))

    @cached_property
    def graph(self) -> KnowledgeGraph:
        """The items and their attribute values."""
        facts = (
            Fact(item.id, relation, value)
            for item in self
            for relation, values in item.attributes.items()
            for value in values
        )
        return KnowledgeGraph(facts, self.items)

    def resolve(self, entry: ItemRef | str) -> ItemRef:
        """The item with that id or name; one that is not here has `?` and its folded name as id.

        A reference whose id is not here is looked for by its name; an empty catalogue keeps it.
        """
        if isinstance(entry, ItemRef):
            if not self.items:
                return entry
            entry = entry.id if entry.id in self.items else entry.name or entry.id
        if entry in self.items:
            return self.items[entry].ref
        if title := self._titles.called(entry):
            return self._item_of[title].ref
        return ItemRef(id=f"?{fold(entry) or entry}", name=entry)

    def unknown(self, entries: Iterable[ItemRef | str]) -> list[ItemRef]:
        """The entries, once each, that are no item of the catalogue."""
        unknown: dict[str, ItemRef] = {}
        for ref in map(self.resolve, entries):
            if ref.id not in self.items:
                unknown.setdefault(ref.id, ref)
        return list(unknown.values())

    def link(self, text: str) -> tuple[ItemRef, ...]:
        """The items that a text names, in the text's order, once each.

        A name with its year that is not here counts, too: with its folded name as id.
        """
        found = self._titles.all_in_text(text)
        refs = (self._item_of[t].ref if isinstance(t, Title) else self.resolve(t) for t in found)
        return tuple({ref.id: ref for ref in refs}.values())

    def without_others(self, text: str, item: ItemRef) -> str:
        """The plain text without the names of other items that are called otherwise."""
        return self._titles.without(text, keep=Title(item.name))

    def facts(self, item: ItemRef) -> str:
        """What is known of an item, on one line: `1995; genre: crime, thriller; director: ...`."""
        known = self.items.get(item.id)
        if known is None:
            return ""
        values = [f"{name}: {', '.join(each)}" for name, each in known.attributes.items() if each]
        return "; ".join([*([str(known.year)] if known.year else []), *values])

    def own_values(self, item: ItemRef) -> frozenset[str]:
        """The attribute values that no other item has: they give it away as its title would."""
        facts = self.graph.values_of(item.id)
        return frozenset(v for _, v in facts if len(self.graph.items_with(None, v)) == 1)

    def meeting(self, wishes: Iterable[str]) -> list[Item]:
        """The items that meet all wishes (values, or `genre: crime`), the popular ones first."""
        facts = map(fact_of, wishes)
        ids = set(self.items).intersection(*(self.graph.items_with(*fact) for fact in facts))
        return sorted((item for item in self if item.id in ids), key=lambda item: -item.popularity)

    @cached_property
    def _item_of(self) -> dict[Title, Item]:
        """The items by their titles, the preferred ones first."""
        ranked = sorted(self, key=lambda item: (-item.popularity, item.year is not None))
        named = {Title(item.ref.name): item for item in ranked}
        return named | {Title(item.full_name): item for item in ranked if item.mark}

    @cached_property
    def _titles(self) -> TitleIndex:
        return TitleIndex(self._item_of, self.values)
