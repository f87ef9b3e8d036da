"""The catalogue: the items of a corpus, by id and by name."""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

from recjury.errors import DataError
from recjury.knowledge.recogniser import Mention, Name, TitleMention, TitleRecogniser
from recjury.knowledge.tokenizer import split_year
from recjury.records import Item, ItemRef, digest

MENTIONED = 1.0


class Catalogue:
    """What can be recommended, and what else is known.

    Iteration, `len` and `link` are about the items that can be recommended. `beyond` are items
    that a corpus knows but whose systems are not meant to recommend (in OpenDialKG series and
    second entries of films); they are found by `item`, `named`, `ref` and `in`, so that a list
    that holds them can still be judged.
    """

    def __init__(
        self,
        name: str,
        items: Iterable[Item],
        *,
        beyond: Iterable[Item] = (),
        known_from: float = MENTIONED,
    ):
        """`known_from` is the popularity from which an item counts as known: `little_known`."""
        self.name = name
        self.known_from = known_from
        self._items = {item.id: item for item in items}
        self._all = {item.id: item for item in beyond} | self._items

    def __len__(self) -> int:
        """How many items can be recommended."""
        return len(self._items)

    def __iter__(self) -> Iterator[Item]:
        """The items that can be recommended, in the order of the data."""
        return iter(self._items.values())

    def __contains__(self, id: object) -> bool:  # noqa: A002
        """Whether an item of this id is known, recommendable or not."""
        return id in self._all

    @cached_property
    def digest(self) -> str:
        """The identity of the catalogue's content."""
        items = [item.model_dump(mode="json") for item in self._all.values()]
        return digest([self.name, self.known_from, list(self._items), items])

    def item(self, id: str) -> Item:  # noqa: A002
        """The item of this id. Raises DataError if there is none."""
        try:
            return self._all[id]
        except KeyError:
            raise DataError(f"no item {id!r} in the catalogue {self.name}") from None

    def recommendable(self, id: str) -> bool:  # noqa: A002
        """Whether the item is one that the corpus's systems may recommend."""
        return id in self._items

    def named(self, name: str) -> Item | None:
        """The item of this name; None when there is none, or more than one.

        Tried in turn: the exact name, the name without regard to case, the title without the
        year ("Heat" for "Heat (1995)"), and the title with a year that only the item's
        attributes have ("Fight Club (1999)" for "Fight Club").
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
        """A reference to the item of this name; its id is None when the name is not resolved."""
        item = self.named(name)
        return item.ref if item else ItemRef(id=None, name=name)

    def link(self, text: str) -> tuple[Mention, ...]:
        """The recommendable items that `text` names, in text order; the ids are item ids.

        Of several items of one title, the one whose year is given is meant, else the one that
        is mentioned most.
        """
        return self._recogniser.link(text)

    def mentions(
        self, text: str, *, keep: Callable[[TitleMention], bool] | None = None
    ) -> tuple[TitleMention, ...]:
        """As `link`, with how each was found, and with what looks like a title elsewhere.

        What `keep` refuses is left out.
        """
        return self._recogniser.mentions(text, keep=keep)

    def little_known(self, id: str) -> bool | None:  # noqa: A002
        """Whether people hardly know the item; None where there is no popularity to go by.

        An item is little known when its popularity is below `known_from`: in the two ievalm
        corpora, when none of the counted conversations between people mentions it; in the
        shipped sample, when its estimate is below 37 of 100. Raises DataError for an unknown id.
        """
        popularity = self.item(id).popularity
        return None if popularity is None else popularity < self.known_from

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
            for person in (*item.actors, *item.directors, *item.writers)
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
            plain={genre for item in self for genre in item.genres},
            texts=(item.plot for item in self),
        )


def _compared(name: str) -> str:
    """A name without regard to case, to its spaces, and to whether "é" is one character or two."""
    return unicodedata.normalize("NFC", " ".join(name.split()).casefold())


def _grouped(named: Iterable[tuple[str, Item]]) -> dict[str, tuple[Item, ...]]:
    groups: dict[str, tuple[Item, ...]] = {}
    for name, item in named:
        folded = _compared(name)
        groups[folded] = (*groups.get(folded, ()), item)
    return groups
