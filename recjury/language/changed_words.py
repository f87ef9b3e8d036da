"""Whether strange words are a title's, changed: moved, filled up, replaced, or as they sound.

A person who misspells a word is close to a word of the language; who respells a title is close to
the title. One strange word alone may be as long as a title by chance, so that its letters must be
unlike those of words.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, islice
from typing import NamedTuple

from recjury.knowledge.folding import all_letters
from recjury.language.plain_words import Talk, strangeness

_KEPT = 16_384
_TEXTS_KEPT = 256
_AROUND, _PASSAGES = 6, 40  # words about a strange one, and strange ones that are looked at
_FILLED = 3.5  # times as long as the title, at most
_FEW, _LONGER, _SOME, _MANY = 3, 4, 6, 8  # letters
_STRANGE, _STRANGE_NAME, _VERY_STRANGE = 1.5, 2.1, 3.0
_SOUNDS = (
    *(("ph", "f"), ("ck", "k"), ("ce", "se"), ("ci", "si"), ("cy", "sy")),
    *(("x", "ks"), ("c", "k"), ("q", "k"), ("z", "s")),
)
_VOWEL, _VOWELS = "a", frozenset("aeiouyhw")


class Passage(NamedTuple):
    """Words side by side of which one is strange; `new` has the strange ones as written."""

    words: tuple[str, ...]
    new: tuple[str, ...]
    letters: str

    @property
    def is_new(self) -> bool:
        """Whether all words are strange."""
        return len(self.new) == len(self.words)


@lru_cache(_TEXTS_KEPT)
def strange_passages(said: Talk) -> tuple[Passage, ...]:
    """The passages of a text with unknown words."""
    return tuple(_passages(said.words, dict(zip(said.new, said.unknown, strict=True))))


@lru_cache(_TEXTS_KEPT)
def hyphened(said: Talk) -> frozenset[str]:
    """The letters of the passages with a hyphen, in which a title may be spelled as it sounds."""
    joined = {at: said.words[at] for at in said.joined}
    return frozenset(each.letters for each in _passages(said.words, joined))


def _passages(words: Sequence[str], strange: Mapping[int, str]) -> Iterator[Passage]:
    for place in islice(strange, _PASSAGES):
        for first in range(max(0, place - _AROUND), place + 1):
            for end in range(place + 1, min(len(words), place + _AROUND) + 1):
                part = tuple(words[first:end])
                new = tuple(strange[at] for at in range(first, end) if at in strange)
                yield Passage(part, new, "".join(part).replace("'", ""))


def is_changed(words: Sequence[str], passage: Passage) -> bool:
    """Whether a passage is these words, changed."""
    word, strange = "".join(words), passage.letters
    if word == strange or len(strange) > _FILLED * len(word):
        return False
    if all_letters(word) == all_letters(strange) or _is_replaced(words, passage):
        return True
    if len(passage.words) == len(words) > 1:
        pairs = zip(words, passage.words, strict=True)
        if all(one == other or _is_moved(one, other) for one, other in pairs):
            return True
    if not passage.is_new:
        return len(word) >= _SOME and sound(word) == sound(strange)
    names = [each for each in words if len(each) > _LONGER]
    return any(_is_moved(each, strange) for each in (word, *names)) or _sounds_alike(word, strange)


def _is_replaced(words: Sequence[str], passage: Passage) -> bool:
    """Whether a passage has a sign for each letter of these words."""
    letters, strange = "".join(words), passage.letters
    if len(letters) != len(strange) or len(letters) < _FEW:
        return False
    same = pattern(letters) == pattern(strange)
    pairs = zip(letters, strange, strict=True)
    alike = not strange.isascii() and sum(sound(a) == sound(b) != _VOWEL for a, b in pairs) > 1
    if len(passage.words) == len(words) > 1:
        told = passage.is_new or len(letters) > _MANY
        return told and (same or alike) and [*map(len, words)] == [*map(len, passage.words)]
    if not passage.is_new or not strange.isascii():
        return same and alike
    odd, is_name = sum(map(strangeness, passage.new)), passage.new[0][0].isupper()
    if same:
        return odd > (_STRANGE_NAME if is_name else _STRANGE)
    return odd > _VERY_STRANGE and not is_name


@lru_cache(_KEPT)
def pattern(signs: Sequence[str]) -> tuple[int, ...]:
    """Where each sign stands first: the same for words in which the same letters are equal."""
    return tuple(map(signs.index, signs))


def _is_moved(word: str, strange: str) -> bool:
    """Whether a word's letters stand in another order, or the same few are put between or about."""
    if len(word) == len(strange):
        return sorted(word) == sorted(strange)
    for turned in (word[at:] + word[:at] for at in range(len(word))):
        if strange.startswith(turned) or strange.endswith(turned):
            return len(strange) <= len(word) + _FEW
    more = _rest(word, strange)
    if len(word) <= _FEW or len(more) < 2:
        return len(more) > 1 and sorted(more) == sorted(word)
    if len(word) > _LONGER and word[0] == strange[0] and 2 * len(more) <= len(word):
        return True
    kinds = len(set(more))
    return 2 * kinds <= len(more) or kinds == 1 or len(set(more) - set(word)) <= 1 < kinds


def _rest(word: str, strange: str) -> str:
    """What is left of something without the letters of a word in their order; "" without them."""
    found, left = "", word
    for sign in strange:
        if left[:1] == sign:
            left = left[1:]
        else:
            found += sign
    return "" if left else found


def _sounds_alike(word: str, strange: str) -> bool:
    """Whether something is read aloud as a word is, or has its consonants."""
    one, other = sound(word), sound(strange)
    if one == other and len(_bones(one)) > 1:
        return len(one) > _LONGER or len(word) == len(strange)
    if _bones(word) == _bones(strange) or _bones(one) == _bones(other):
        return len(_bones(one)) >= _FEW or _bones(word) == strange
    return False


def _bones(word: str) -> str:
    """The consonants of a word, doubled ones once."""
    return _undoubled(sign for sign in word if sign not in _VOWELS)


def _undoubled(signs: Iterable[str]) -> str:
    return "".join(sign for sign, _ in groupby(signs))


@lru_cache(_KEPT)
def sound(word: str) -> str:
    """How a word of any alphabet sounds: vowels alike, consonants of a kind, none doubled."""
    spelled = "".join(map(_roman, word))
    for letters, heard in _SOUNDS:
        spelled = spelled.replace(letters, heard)
    return _undoubled(_VOWEL if sign in _VOWELS else sign for sign in spelled)


@lru_cache(_KEPT)
def _roman(sign: str) -> str:
    """A letter of any alphabet in Roman ones, by its name: "GREEK SMALL LETTER MU"."""
    if sign.isascii() or not sign.isalpha():
        return sign if sign.isalpha() else ""
    name = unicodedata.name(sign, "").partition(" WITH ")[0].lower().split()
    last = name[-1] if name else ""
    if len(last) == 2 and last[0] == "e":
        return last[1]
    return last if name and ("syllable" in name or "kana" in name[0]) else last[:1]
