"""Canonical genre names, and which genres exclude one another.

Catalogues have several names for one genre ("Romance", "Romance Film", "romance"), and values that
are not a genre ("United Kingdom"). Such values are not changed.
"""

import functools
import re

from recjury.language.vocabulary import close_genres, genre_names
from recjury.records import Item

_NAMES = genre_names()
GENRE_WORDS = frozenset(_NAMES)
NEIGHBOURS = close_genres()
"""Pairs of genres that are often confused: calling a film by the other one is not an error."""

_WORD = re.compile(r"sci[- ]fi|[a-z]+")


def genres_in(text: str) -> frozenset[str]:
    """The canonical genres of the genre words in a lower-case text."""
    return frozenset(_NAMES[word] for word in _WORD.findall(text) if word in _NAMES)


@functools.lru_cache(maxsize=4096)
def canonical_genres(genre: str) -> frozenset[str]:
    """The canonical genres of a catalogue's genre: "Romantic comedy" is romance and comedy.

    A name without a known word is returned in lower case.
    """
    found = frozenset(_NAMES[w] for w in _WORD.findall(genre.lower()) if w in _NAMES)
    return found or frozenset({genre.lower()})


def genres_of(item: Item) -> frozenset[str]:
    """The item's canonical genres."""
    return frozenset(name for genre in item.genres for name in canonical_genres(genre))


def unlike(wanted: str, item: Item) -> bool:
    """Whether `item` has neither this genre nor one that is close to it, or to which it is close.

    False if the item's genres are not known, or nothing is known of the genre.
    """
    close = NEIGHBOURS.get(wanted, frozenset()) | {
        genre for genre, others in NEIGHBOURS.items() if wanted in others
    }
    genres = genres_of(item)
    return bool(close and genres) and not genres & (close | {wanted})


def excluded(claimed: str, item: Item) -> bool:
    """Whether `item` cannot be called `claimed`.

    Its genres are known, and neither this genre nor a similar one is among them. Drama and genres
    without an entry in `NEIGHBOURS` are never excluded.
    """
    genres = genres_of(item)
    close = NEIGHBOURS.get(claimed)
    return close is not None and bool(genres) and claimed not in genres and not (close & genres)
