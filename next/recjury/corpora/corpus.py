"""A corpus: a domain, a catalogue, and the scenarios from which conversations start."""

from typing import NamedTuple

from recjury.corpora.catalogue import Catalogue
from recjury.records import Record, Scenario, digest


class Domain(Record):
    """What the items are, in words: a "film", many "films", to "watch", if one has "seen" them.

    `attributes` are what people say of an item that they want: "genre", "director".
    """

    item: str
    items: str
    verb: str
    done: str
    attributes: tuple[str, ...] = ()

    @property
    def an_item(self) -> str:
        """The item with its article: "a film"."""
        return f"{'an' if self.item[:1] in 'aeiou' else 'a'} {self.item}"


class Corpus(NamedTuple):
    """Scenarios over a catalogue."""

    name: str
    domain: Domain
    catalogue: Catalogue
    scenarios: tuple[Scenario, ...]

    @property
    def digest(self) -> str:
        """The identity of what systems and evaluators see of the corpus besides its scenarios."""
        return digest(self.catalogue.digest, self.domain)
