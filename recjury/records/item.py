"""Items, and references to them in recommendation lists."""

from pydantic import SerializerFunctionWrapHandler, model_serializer

from recjury.records.base import Record, SafeText

ITEM_FIELDS = ("genres", "directors", "actors", "writers", "languages")
"""The attributes that have a field of their own; others are in `Item.attributes`."""


class Item(Record):
    """One entry of a catalogue, with its known attributes.

    `id` is the catalogue's own (for the ievalm data the entity id, as text). `name` is the
    catalogue's spelling, with the year if that is part of it ("Heat (1995)"); `title` is the name
    without the year. `popularity` is how often people mention the item in the corpus's
    conversations (for the shipped samples: an estimate from 1 to 100); None if it is unknown.
    `attributes` has the attributes without a field of their own: pairs of the domain's field
    ("cuisines") and the values. `DomainAttribute.of` reads both.
    """

    id: str
    name: str
    title: str
    year: int | None = None
    genres: tuple[str, ...] = ()
    directors: tuple[str, ...] = ()
    actors: tuple[str, ...] = ()
    writers: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    plot: str = ""
    popularity: float | None = None
    attributes: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @model_serializer(mode="wrap")
    def _without_the_default(self, content: SerializerFunctionWrapHandler) -> dict[str, object]:
        """Leave `attributes` out if it is empty: identities of catalogues are older than it."""
        found: dict[str, object] = content(self)
        if not self.attributes:
            found.pop("attributes", None)
        return found

    @property
    def ref(self) -> "ItemRef":
        """A reference to this item."""
        return ItemRef(id=self.id, name=self.name)


class ItemRef(Record):
    """An item in a list or among the targets: `id` is None if the catalogue does not have it."""

    id: SafeText | None
    name: SafeText

    def same_item(self, other: "ItemRef") -> bool:
        """Whether both are the same catalogue item; False if either has no id."""
        return self.id is not None and self.id == other.id
