"""Reasons for an item; each one is true according to the catalogue."""

from collections.abc import Iterator

from recjury.agents.retrieval.library import IndexedKind, Library
from recjury.agents.retrieval.understanding import Understanding
from recjury.records import Item

_DOES: dict[IndexedKind, str] = {"director": "directed", "actor": "is in", "writer": "wrote"}
_ROLES: tuple[IndexedKind, ...] = ("director", "actor", "writer")
_QUOTED = 220


def reasons(library: Library, wish: Understanding, row: int) -> list[str]:
    """Why the item fits, best reason first, as clauses without its title and without a full stop.

    There is at least one reason, because the last one describes the item.
    """
    return list(dict.fromkeys(_reasons(library, wish, row)))


def _reasons(library: Library, wish: Understanding, row: int) -> Iterator[str]:
    """Requested people, genres, years; attributes shared with liked items; a description."""
    item = library.items[row]
    for name in sorted(wish.wanted, key=lambda each: (-wish.wanted[each], each)):
        for kind in _ROLES:
            if row in library.attributes[name].rows.get(kind, ()):
                yield f"{library.attributes[name].name} {_DOES[kind]} it"
    genres = [each for each in item.genres if _wanted(wish, library, each)]
    if genres:
        yield f"it counts as {_joined(genres[:2])}, which you asked for"
    if item.year is not None and any(first <= item.year <= last for first, last in wish.years):
        yield f"it came out in {item.year}"
    for liked in sorted(wish.liked, key=lambda each: (-wish.liked[each], each)):
        yield from _shared(library, row, liked)
    yield description(item)


def _wanted(wish: Understanding, library: Library, genre: str) -> bool:
    return any(library.attributes[name].name == genre for name in wish.wanted)


def _shared(library: Library, row: int, liked: int) -> Iterator[str]:
    """The attributes that the item shares with an item that the user named."""
    if liked == row:
        return
    title = library.items[liked].name
    names = library.shared(row, liked)
    for kind in _ROLES:
        for name in names:
            rows = library.attributes[name].rows.get(kind, ())
            if row in rows and liked in rows:
                yield f"{library.attributes[name].name} {_DOES[kind]} it, as well as {title}"
    shared = [each for each in library.items[row].genres if each in library.items[liked].genres]
    if shared:
        yield f"like {title} it counts as {_joined(shared[:2])}"


def description(item: Item) -> str:
    """A clause that describes an item from the catalogue."""
    if item.plot:
        return f"the story is this: {_first_sentence(item.plot)}"
    parts = []
    if item.directors:
        parts.append(f"{item.directors[0]} directed it")
    if item.year is not None:
        parts.append(f"it came out in {item.year}")
    if not parts and item.genres:
        parts.append(f"it counts as {_joined(item.genres[:2])}")
    return " and ".join(parts) or "people often bring it up"


def introduction(item: Item) -> str:
    """An introduction of an item from the catalogue, in full sentences."""
    sentences = [f"{item.name} came out in {item.year}." if item.year is not None else ""]
    if not sentences[0]:
        sentences = [f"Gladly: {item.name}."]
    if item.directors:
        sentences.append(f"{_joined(item.directors[:2])} directed it.")
    if item.actors:
        verb = "star" if len(item.actors) > 1 else "stars"
        sentences.append(f"{_joined(item.actors[:3])} {verb} in it.")
    if item.genres:
        sentences.append(f"It counts as {_joined(item.genres[:3])}.")
    if item.plot:
        sentences.append(f"{_first_sentence(item.plot)}.")
    return " ".join(sentences)


def _first_sentence(plot: str) -> str:
    text = " ".join(plot.split())
    end = text.find(". ")
    sentence = text[:end] if end > 0 else text.rstrip(".")
    if len(sentence) <= _QUOTED:
        return sentence
    return sentence[:_QUOTED].rsplit(" ", 1)[0] + " …"


def _joined(names: tuple[str, ...] | list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
