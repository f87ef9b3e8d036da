"""What a corpus says of its items: what they are called, and which attributes they have."""

from typing import Literal, Self

from pydantic import Field, model_validator

from recjury.records.base import Record
from recjury.records.item import ITEM_FIELDS, Item

AttributeKind = Literal["category", "maker", "cast", "era"]
"""What the values of an attribute are: words for a kind of item (genre, cuisine, language); names
of who made it (director, author, band, brand); names of who takes part in it (actor); a year."""


class DomainAttribute(Record):
    """One attribute of a domain's items, and the words for it.

    `name` is what settings and code call it ("writer"), `field` the key of its values in a
    catalogue's file and of `Item` ("writers"). People say `word` and `words` ("author",
    "authors"), and ask for it by `asked`, too ("wrote"). `by` stands between an item and a value
    ("directed by"), `did` between a value and "it" ("directed").
    """

    name: str = Field(min_length=1)
    field: str = Field(min_length=1)
    word: str = Field(min_length=1)
    words: str = Field(min_length=1)
    kind: AttributeKind
    by: str = ""
    did: str = ""
    asked: tuple[str, ...] = ()

    def of(self, item: Item) -> tuple[str, ...]:
        """The item's values, without repeats; a year is one value of four digits."""
        if self.field == "year":
            return () if item.year is None else (str(item.year),)
        if self.field in ITEM_FIELDS:
            return tuple(dict.fromkeys(getattr(item, self.field)))
        return tuple(dict.fromkeys(dict(item.attributes).get(self.field, ())))


class Expert(Record):
    """Who judges the items of a domain in the debate, as the role's prompt says it."""

    who: str = Field(min_length=1)
    expertise: tuple[str, ...] = Field(min_length=1)


class Domain(Record):
    """A kind of items: its words, its attributes, and the dimensions of its diversity.

    `item` and `items` are the words for one and for several ("film", "films"); `synonyms` mean the
    same ("movie", "movies"). People `verb` an item ("watch"), and have `done` it ("seen").
    `dimensions` are names of attributes (CoRE, appendix A.1.9). Without an `expert`, the Domain
    Expert of a debate is the one of its prompt pack, who knows films and books.
    """

    name: str = Field(min_length=1)
    item: str = Field(min_length=1)
    items: str = Field(min_length=1)
    synonyms: tuple[str, ...] = ()
    verb: str = Field(min_length=1)
    done: str = Field(min_length=1)
    attributes: tuple[DomainAttribute, ...] = Field(min_length=1)
    dimensions: tuple[str, ...] = Field(min_length=1)
    expert: Expert | None = None

    @model_validator(mode="after")
    def _dimensions_are_attributes(self) -> Self:
        names = [each.name for each in self.attributes]
        for values, what in ((names, "name"), ([a.field for a in self.attributes], "field")):
            twice = next((value for value in values if values.count(value) > 1), None)
            if twice is not None:
                raise ValueError(f"two attributes have the {what} {twice!r}")
        unknown = next((name for name in self.dimensions if name not in names), None)
        if unknown is not None:
            raise ValueError(f"the dimension {unknown!r} is no attribute: {', '.join(names)}")
        return self

    @property
    def all_words(self) -> tuple[str, ...]:
        """All words for an item, in the singular and the plural."""
        return (self.item, self.items, *self.synonyms)

    def attribute(self, name: str) -> DomainAttribute | None:
        """The attribute with this name; None if items of this domain do not have it."""
        return next((each for each in self.attributes if each.name == name), None)

    def of_kind(self, *kinds: AttributeKind) -> tuple[DomainAttribute, ...]:
        """The attributes of these kinds, in their order."""
        return tuple(each for each in self.attributes if each.kind in kinds)

    def describes(self, item: Item) -> bool:
        """Whether the item has a value of any attribute."""
        return any(each.of(item) for each in self.attributes)
