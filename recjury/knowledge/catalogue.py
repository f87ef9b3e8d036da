"""The catalogue: the items of a corpus, by id and by name."""

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

from recjury.errors import DataError
from recjury.knowledge.attributes import AttributeIndex
from recjury.knowledge.domains import FILM, known_domain
from recjury.knowledge.recogniser import Mention, Name, TitleMention, TitleRecogniser
from recjury.knowledge.tokenizer import split_year
from recjury.records import Domain, Item, ItemRef, Scenario, digest

MENTIONED = 1.0


class Catalogue:
    """The items that can be recommended, and other known items.

    Iteration, `len` and `link` cover the items that can be recommended. `beyond` has items that a
    corpus knows but that systems should not recommend (in OpenDialKG, series and second entries
    of films). `item`, `named`, `ref` and `in` find them too, so that a list that contains them can
    still be judged.
    """

    def __init__(
        self,
        name: str,
        items: Iterable[Item],
        *,
        beyond: Iterable[Item] = (),
        known_from: float = MENTIONED,
        domain: Domain | None = None,
        others: Mapping[str, Domain] | None = None,
    ):
        """`known_from` is the lowest popularity of a known item: see `little_known`.

        `domain` is what the items are, films without it. `others` are the domains of the items,
        by id, that are something else.
        """
        self.name = name
        self.known_from = known_from
        self.domain = domain or known_domain(FILM)
        self._others = dict(others or {})
        self._items = {item.id: item for item in items}
        self._all = {item.id: item for item in beyond} | self._items

    def __len__(self) -> int:
        """The number of items that can be recommended."""
        return len(self._items)

    def __iter__(self) -> Iterator[Item]:
        """The items that can be recommended, in the order of the data."""
        return iter(self._items.values())

    def __contains__(self, id: object) -> bool:  # noqa: A002
        """Whether an item with this id is known, whether recommendable or not."""
        return id in self._all

    @cached_property
    def digest(self) -> str:
        """The identity of the catalogue's content.

        The domain counts unless the items are films: most identities are older than it. The
        `others` do not count: they follow from the items' attributes.
        """
        items = [item.model_dump(mode="json") for item in self._all.values()]
        domain = [] if self.domain == known_domain(FILM) else [self.domain]
        return digest([self.name, self.known_from, list(self._items), items, *domain])

    @cached_property
    def domains(self) -> tuple[Domain, ...]:
        """The domains of the items; the catalogue's main one is the first."""
        return tuple({each.name: each for each in (self.domain, *self._others.values())}.values())

    def domain_of(self, item: Item | ItemRef) -> Domain:
        """What the item is; for an unknown item, what most of the catalogue's items are."""
        return self._others.get(item.id or "", self.domain)

    def wanted_domain(self, scenario: Scenario) -> Domain:
        """What most of the scenario's targets are, the first one in a tie.

        Without a target that the catalogue has, it is the catalogue's main domain.
        """
        targets = [target for target in scenario.targets if target.id in self]
        counts = Counter(self.domain_of(target).name for target in targets)
        return self.domain_named(counts.most_common(1)[0][0]) if counts else self.domain

    def domain_named(self, name: str) -> Domain:
        """The catalogue's domain with this name; its main domain if it has none such."""
        return next((each for each in self.domains if each.name == name), self.domain)

    def item(self, id: str) -> Item:  # noqa: A002
        """The item with this id. Raises DataError if there is no such item."""
        try:
            return self._all[id]
        except KeyError:
            raise DataError(f"no item {id!r} in the catalogue {self.name}") from None

    def recommendable(self, id: str) -> bool:  # noqa: A002
        """Whether systems may recommend the item."""
        return id in self._items

    def named(self, name: str) -> Item | None:
        """The item with this name; None if there is no such item, or more than one.

        The lookup tries, in this order: the exact name; the name regardless of case; the title
        without the year ("Heat" for "Heat (1995)"); and the title with a year that only the
        item's attributes have ("Fight Club (1999)" for "Fight Club").
        """
        exact = self._by_name.get(name)
        if exact is not None:
            return exact
        folded = _compared(name)
        for spellings in (self._folded, self._titles):
            found = spellings.get(folded, ())
            if found:
                return found[0] if len(found) == 1 else None
        return self._by_title_and_year(folded)

    def ref(self, name: str) -> ItemRef:
        """A reference to the item with this name; its id is None if the name is not resolved."""
        item = self.named(name)
        return item.ref if item else ItemRef(id=None, name=name)

    def link(self, text: str) -> tuple[Mention, ...]:
        """The recommendable items that `text` names, in text order; the ids are item ids.

        If several items have the same title, the year in the text decides; without a year, the
        most mentioned item is chosen.
        """
        return self._recogniser.link(text)

    def mentions(
        self, text: str, *, keep: Callable[[TitleMention], bool] | None = None
    ) -> tuple[TitleMention, ...]:
        """As `link`, with how each was found, and with other spans that look like a title.

        Mentions that `keep` rejects are left out.
        """
        return self._recogniser.mentions(text, keep=keep)

    def little_known(self, id: str) -> bool | None:  # noqa: A002
        """Whether few people know the item; None if its popularity is unknown.

        An item is little known if its popularity is below `known_from`. In the two ievalm corpora,
        this means that no counted conversation between people mentions it; in the shipped
        sample, that its estimate is below 37 of 100. Raises DataError for an unknown id.
        """
        popularity = self.item(id).popularity
        return None if popularity is None else popularity < self.known_from

    @cached_property
    def attributes(self) -> AttributeIndex:
        """Finds the items that can be recommended by an attribute."""
        return AttributeIndex((item, self.domain_of(item)) for item in self)

    @cached_property
    def _by_name(self) -> Mapping[str, Item]:
        return {item.name: item for item in self._all.values()}

    @cached_property
    def _folded(self) -> Mapping[str, tuple[Item, ...]]:
        return _grouped((item.name, item) for item in self._all.values())

    @cached_property
    def _titles(self) -> Mapping[str, tuple[Item, ...]]:
        return _grouped((item.title, item) for item in self._all.values())

    def _by_title_and_year(self, folded: str) -> Item | None:
        title, year = split_year(folded)
        found = [item for item in self._titles.get(title, ()) if item.year == year]
        return found[0] if year is not None and len(found) == 1 else None

    @cached_property
    def _recogniser(self) -> TitleRecogniser:
        people = {
            person: None
            for item in self
            for attribute in self.domain_of(item).of_kind("cast", "maker")
            for person in attribute.of(item)
        }
        return TitleRecogniser(
            (
                Name(
                    item.id,
                    item.name,
                    year=item.year,
                    weight=item.popularity or 0.0,
                    known=not self.little_known(item.id),
                )
                for item in self
            ),
            others=people,
            plain={
                value
                for item in self
                for attribute in self.domain_of(item).of_kind("category")
                if attribute.name != "language"
                for value in attribute.of(item)
            },
            texts=(item.plot for item in self),
        )


def _compared(name: str) -> str:
    """A name in the form in which names are compared: case-folded, single spaces, NFC."""
    return unicodedata.normalize("NFC", " ".join(name.split()).casefold())


def _grouped(named: Iterable[tuple[str, Item]]) -> dict[str, tuple[Item, ...]]:
    groups: dict[str, tuple[Item, ...]] = {}
    for name, item in named:
        folded = _compared(name)
        groups[folded] = (*groups.get(folded, ()), item)
    return groups
