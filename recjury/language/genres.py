"""Canonical genre names, and which genres exclude one another.

Catalogues have several names for one genre ("Romance", "Romance Film", "romance"), and values that
are not a genre ("United Kingdom"). Such values are not changed.
"""

import functools
import re

from recjury.records import Item

_ALIASES = {
    "action": "action",
    "adventure": "adventure",
    "animated": "animation",
    "animation": "animation",
    "biographical": "biography",
    "biography": "biography",
    "comedies": "comedy",
    "comedy": "comedy",
    "crime": "crime",
    "documentaries": "documentary",
    "documentary": "documentary",
    "drama": "drama",
    "dramas": "drama",
    "family": "family",
    "fantasy": "fantasy",
    "historical": "history",
    "history": "history",
    "horror": "horror",
    "music": "music",
    "musical": "musical",
    "musicals": "musical",
    "mysteries": "mystery",
    "mystery": "mystery",
    "parody": "comedy",
    "romance": "romance",
    "romances": "romance",
    "romantic": "romance",
    "satire": "comedy",
    "sci fi": "sci-fi",
    "sci-fi": "sci-fi",
    "science": "sci-fi",
    "slasher": "horror",
    "sport": "sport",
    "sports": "sport",
    "superhero": "superhero",
    "suspense": "thriller",
    "thriller": "thriller",
    "thrillers": "thriller",
    "war": "war",
    "western": "western",
    "westerns": "western",
}
GENRE_WORDS = frozenset(_ALIASES)
_WORD = re.compile(r"sci[- ]fi|[a-z]+")

# Pairs of genres that are often confused: calling a film by the other one is not an error.
_CLOSE: dict[str, str] = {
    "action": "adventure thriller crime superhero war sci-fi western fantasy",
    "adventure": "action fantasy sci-fi family animation western war superhero history",
    "animation": "family",
    "comedy": "family animation romance music musical parody",
    "crime": "thriller mystery action film-noir drama",
    "documentary": "biography history news",
    "family": "animation comedy adventure fantasy musical",
    "fantasy": "sci-fi adventure horror animation superhero family",
    "horror": "thriller mystery supernatural",
    "musical": "music animation",
    "mystery": "thriller crime horror film-noir",
    "romance": "drama comedy",
    "sci-fi": "fantasy superhero action adventure horror",
    "thriller": "action crime mystery horror drama sci-fi war film-noir",
    "war": "history action biography drama",
    "western": "adventure action",
}
NEIGHBOURS: dict[str, frozenset[str]] = {
    genre: frozenset(close.split()) for genre, close in _CLOSE.items()
}


def genres_in(text: str) -> frozenset[str]:
    """The canonical genres of the genre words in a lower-case text."""
    return frozenset(_ALIASES[word] for word in _WORD.findall(text) if word in _ALIASES)


@functools.lru_cache(maxsize=4096)
def canonical_genres(genre: str) -> frozenset[str]:
    """The canonical genres of a catalogue's genre: "Romantic comedy" is romance and comedy.

    A name without a known word is returned in lower case.
    """
    found = frozenset(_ALIASES[w] for w in _WORD.findall(genre.lower()) if w in _ALIASES)
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
