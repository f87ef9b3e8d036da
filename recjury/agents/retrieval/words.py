"""The words that the search compares: folded, stemmed, without stop words."""

import re
from collections.abc import Iterator
from functools import lru_cache

from recjury.knowledge import fold

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_CONTRACTION = re.compile(r"['’](s|re|ve|ll|d|m|t)$")

_SMALL_TALK_TEXT = (
    "a about actually after again all also always am an and another any anything are as ask "
    "at be because been before being best better big both but by can come could did director "
    "do does done each else enjoy enjoyed ever every fan favorite favourite few film films "
    "find first for from genre get give go good got great had has have he hello help her here "
    "hey hi him his hope how i if in interested into is it its just kind know last least let "
    "like liked little look looking lot love loved made make many maybe me mean mind more "
    "most mostly movie movies much must my name need new next nice night no not now of off oh "
    "ok okay old on one only or other our out over people perhaps please prefer pretty "
    "probably quite rather really recommend recommendation right said saw say see seen she "
    "should show so some something sort star starred starring sound still such suggest "
    "suggestion sure take tell than thank thanks that the their them then there these they "
    "thing think this those though time to today tonight too try two type under until up us "
    "use usually very wait want wanted was watch watched watching way we well were what when "
    "where which while who why will with wonder would write wrote yeah year yes yet you your "
    "actor "
)
_SMALL_TALK = frozenset(_SMALL_TALK_TEXT.split())
_ENDINGS = (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""))


class Term(str):
    """A stemmed word with its position in the text."""

    __slots__ = ("start",)

    start: int


def content_words(text: str) -> Iterator[Term]:
    """The words of `text` that are not stop words, stemmed, in order."""
    for match in _WORD.finditer(text):
        if stemmed := _content(match.group()):
            word = Term(stemmed)
            word.start = match.start()
            yield word


@lru_cache(maxsize=50_000)
def _content(word: str) -> str:
    """The stem of a word; empty for a stop word and for a single letter."""
    plain = _CONTRACTION.sub("", fold(word))
    stemmed = stem(plain)
    return "" if len(plain) < 2 or {plain, stemmed} & _SMALL_TALK else stemmed


def plain_words(text: str) -> Iterator[str]:
    """All words of `text` as written, in order."""
    return (match.group() for match in _WORD.finditer(text))


def stem(word: str) -> str:
    """`word` without a plural or verb ending, so that "robberies" finds "robbery"."""
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4 and not word.endswith("ss"):
            return word.removesuffix(ending) + instead
    return word
