"""Words and what may stand in their place: near synonyms, and words of another sense."""

from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

_KEPT = 50_000  # words that are looked up once
_ENDINGS = ("ing", "ed", "es", "s")


class Synonyms(NamedTuple):
    """Words of nearly the same sense, and words of a sense that does not fit."""

    near: tuple[str, ...]
    unfitting: tuple[str, ...]


@lru_cache(_KEPT)
def synonyms_of(word: str) -> Synonyms | None:
    """What may stand for a word, in lower case and with its ending; None for an unknown word."""
    folded = word.lower()
    known = _thesaurus().get(folded)
    if known is not None:
        return known
    for ending in _ENDINGS:
        if folded.endswith(ending):
            for base in _bases(folded, ending):
                known = _thesaurus().get(base)
                if known is not None:
                    return Synonyms(*(_inflected(words, ending) for words in known))
    return None


@lru_cache(_KEPT)
def stem(word: str) -> str:
    """A word without -s, -es, -ed and -ing, in lower case, if it is a known word without them."""
    folded = word.lower()
    for ending in _ENDINGS:
        if folded.endswith(ending):
            for base in _bases(folded, ending):
                if base in _thesaurus():
                    return base
    return folded


def _bases(word: str, ending: str) -> tuple[str, ...]:
    """What the word may be without its ending: liked -> lik, like; stopped -> stopp, stop."""
    base = word.removesuffix(ending)
    doubled = len(base) > 2 and base[-1] == base[-2]
    return (base, base[:-1]) if doubled else (base, f"{base}e")


def _inflected(words: tuple[str, ...], ending: str) -> tuple[str, ...]:
    return tuple(_with(word, ending) for word in words)


def _with(word: str, ending: str) -> str:
    """The word with the ending; only the last of several words gets it, as with nouns."""
    if ending in ("s", "es"):
        return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"
    return f"{word.removesuffix('e')}{ending}"


@cache
def _thesaurus() -> dict[str, Synonyms]:
    text = (files("recjury.agreement.replies") / "thesaurus.txt").read_text("utf-8")
    found: dict[str, Synonyms] = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            word, near, unfitting = (cell.strip() for cell in line.split("|"))
            found[word] = Synonyms(_listed(near), _listed(unfitting))
    return found


def _listed(cell: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in cell.split(","))
