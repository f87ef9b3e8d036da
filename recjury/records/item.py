"""Items, and references to them in recommendation lists."""

from recjury.records.base import Record


class Item(Record):
    """One entry of a catalogue, with its known attributes.

    `id` is the catalogue's own (for the ievalm data the entity id, as text). `name` is the
    catalogue's spelling, with the year if that is part of it ("Heat (1995)"); `title` is the name
    without the year. `popularity` is how often people mention the item in the corpus's
    conversations (for the shipped sample: an estimate from 1 to 100); None if it is unknown.
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

    @property
    def ref(self) -> "ItemRef":
        """A reference to this item."""
        return ItemRef(id=self.id, name=self.name)


class ItemRef(Record):
    """An item in a list or among the targets: `id` is None if the catalogue does not have it."""

    id: str | None
    name: str

    def same_item(self, other: "ItemRef") -> bool:
        """Whether both are the same catalogue item; False if either has no id."""
        return self.id is not None and self.id == other.id
