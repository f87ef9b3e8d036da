"""The attributes of a catalogue's items, and which items have each of them."""

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import TypeVar

from recjury.knowledge.folding import fold
from recjury.records import Attribute, Domain, Item

K = TypeVar("K")

_CATALOGUE_WORDS = re.compile(r"\s*(?:\b(?:film|movie|fiction)s?\b|\([^)]*\)|#\d+)", re.IGNORECASE)


def attributes_of(item: Item, domain: Domain) -> tuple[Attribute, ...]:
    """All that is known of an item of this domain, without repeats; a year also has its decade."""
    found: list[Attribute] = []
    for each in domain.attributes:
        found += [Attribute(each.name, value) for value in each.of(item)]
        if each.kind == "era":
            found += [Attribute("decade", f"{value[:-1]}0s") for value in each.of(item)]
    return tuple(dict.fromkeys(found))


class AttributeIndex:
    """Finds the items of a catalogue by an attribute.

    Values are compared without case, accents, and the words by which catalogues mark a kind of
    item ("comedy film" is "comedy").
    """

    def __init__(self, items: Iterable[tuple[Item, Domain]]):
        """`items` are those that systems may recommend, with the domain of each."""
        self._items = tuple(items)

    def items_with(self, attribute: Attribute) -> Collection[str]:
        """The ids of the items that have this value in this attribute."""
        return self._by_attribute.get(_key(attribute), frozenset())

    def items_meant_by(self, attribute: Attribute) -> Collection[str]:
        """The ids of the items that a speaker of this value may mean: a name in any role."""
        if not self.is_name(attribute):
            return self.items_with(attribute)
        return self._by_name.get(plain_value(attribute.value), frozenset())

    def is_name(self, attribute: Attribute) -> bool:
        """Whether the value is a name, of a person, a band or a brand."""
        return attribute.kind in self._naming

    def is_category(self, attribute: Attribute) -> bool:
        """Whether the value is a word for a kind of item, such as a genre, and no language."""
        return attribute.kind in self._categories

    def frequent_categories(self) -> tuple[Attribute, ...]:
        """The values that are categories, in the folded form, those of most items first."""
        return self._frequent

    def meaning(self, attribute: Attribute) -> tuple[str, str]:
        """The same for attributes that a listener cannot tell apart: a name in any role."""
        kind = "name" if self.is_name(attribute) else attribute.kind
        return kind, plain_value(attribute.value)

    def is_of_alone(self, attribute: Attribute, ids: Collection[str]) -> bool:
        """Whether no item but those in `ids` has the value."""
        return set(ids).issuperset(self.items_meant_by(attribute))

    def has_all(self, id: str, attributes: Iterable[Attribute]) -> bool:  # noqa: A002
        """Whether the item has all of these attributes."""
        return all(id in self.items_with(attribute) for attribute in attributes)

    @cached_property
    def _by_attribute(self) -> Mapping[Attribute, frozenset[str]]:
        return _grouped(
            (_key(each), item.id)
            for item, domain in self._items
            for each in attributes_of(item, domain)
        )

    @cached_property
    def _frequent(self) -> tuple[Attribute, ...]:
        found = [each for each in self._by_attribute if self.is_category(each)]
        return tuple(sorted(found, key=lambda each: (-len(self._by_attribute[each]), each)))

    @cached_property
    def _categories(self) -> frozenset[str]:
        domains = {domain.name: domain for _, domain in self._items}.values()
        found = (each.name for domain in domains for each in domain.of_kind("category"))
        return frozenset(found) - {"language"}

    @cached_property
    def _naming(self) -> frozenset[str]:
        domains = {domain.name: domain for _, domain in self._items}.values()
        return frozenset(
            each.name for domain in domains for each in domain.of_kind("maker", "cast")
        )

    @cached_property
    def _by_name(self) -> Mapping[str, frozenset[str]]:
        return _grouped(
            (each.value, id_)
            for each, ids in self._by_attribute.items()
            if self.is_name(each)
            for id_ in ids
        )

    def is_one_person(self, surname: str) -> bool:
        """Whether exactly one name of the catalogue ends in this word, in lower case."""
        return len(self._surnames.get(surname, ())) == 1

    @cached_property
    def _surnames(self) -> Mapping[str, frozenset[str]]:
        names = ((name, name.split()) for name in self._by_name)
        return _grouped((words[-1], name) for name, words in names if len(words) > 1)


def plain_value(value: str) -> str:
    """A value in the form in which values are compared."""
    words = _CATALOGUE_WORDS.sub("", value).strip() or value
    return " ".join(fold(words).split())


def _key(attribute: Attribute) -> Attribute:
    return Attribute(attribute.kind, plain_value(attribute.value))


def _grouped(pairs: Iterable[tuple[K, str]]) -> dict[K, frozenset[str]]:
    groups: dict[K, set[str]] = {}
    for key, id_ in pairs:
        groups.setdefault(key, set()).add(id_)
    return {key: frozenset(ids) for key, ids in groups.items()}
