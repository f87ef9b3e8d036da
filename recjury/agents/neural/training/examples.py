"""What a corpus teaches: which items were recommended, and what was said."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from recjury.agents.neural.said import ITEM, Said
from recjury.agents.neural.system import NeuralSystem
from recjury.corpora import Catalogue, Corpus
from recjury.corpora.titles import without_names
from recjury.records import ItemRef, Turn


class Recommendation(NamedTuple):
    """After a conversation, an item was recommended: the number of its entity."""

    said: Said
    entity: int


class Reply(NamedTuple):
    """After a conversation, this was said, with ITEM in place of names of items."""

    said: Said
    text: str


def recommendations(corpus: Corpus, system: NeuralSystem) -> list[Recommendation]:
    """Each item that a system's turn names first, and each target, after what was said before."""
    number, listen = system.graph.number_of_item, system.listener.said
    found = {
        Recommendation(listen(turns), number[ref.id]): None
        for turns, items in _recommended(corpus)
        for ref in items
        if ref.id in number
    }
    return list(found)


def replies(corpus: Corpus, system: NeuralSystem) -> list[Reply]:
    """Each turn of a system after a user's, once."""
    listen = system.listener.said
    found = {
        Reply(listen(turns[:number]), _with_items(turn, corpus.catalogue)): None
        for turns, _ in _talks(corpus)
        for number, turn in enumerate(turns)
        if number and turn.speaker == "system" and turn.text.strip()
    }
    return list(found)


def texts(corpus: Corpus) -> Iterator[str]:
    """All that is said, and what is said with ITEM in place of names."""
    for turns, _ in _talks(corpus):
        for turn in turns:
            yield turn.text
            yield _with_items(turn, corpus.catalogue)


def _talks(corpus: Corpus) -> Iterator[tuple[Sequence[Turn], tuple[ItemRef, ...]]]:
    """The recorded dialogues in full; else the histories, each with what follows it."""
    if corpus.dialogues:
        yield from ((turns, ()) for turns in corpus.dialogues)
    else:
        yield from ((each.history, each.targets) for each in corpus.scenarios)


def _recommended(corpus: Corpus) -> Iterator[tuple[Sequence[Turn], tuple[ItemRef, ...]]]:
    for turns, targets in _talks(corpus):
        seen: set[str] = set()
        for number, turn in enumerate(turns):
            if number and turn.speaker == "system":
                yield turns[:number], tuple(ref for ref in turn.items if ref.id not in seen)
            seen.update(ref.id for ref in turn.items)
        yield turns, targets


def _with_items(turn: Turn, catalogue: Catalogue) -> str:
    refs = (*turn.items, *catalogue.link(turn.text))
    return without_names(turn.text, {ref.name for ref in refs}, ITEM)
