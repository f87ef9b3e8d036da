"""Whether words that look plain hide a title: by the places, the number or the order of letters.

These hold for whole families of codes: a title's letters stand in the same places of words,
sentences or turns; each letter has a sign of its own; or its letters are moved, filled up or
partly replaced. That other words do so by chance is rare from a few letters on.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from recjury.knowledge.folding import all_letters
from recjury.language.plain_words import Talk, strangeness, words_in
from recjury.language.tokens import is_function_word

_TEXTS_KEPT = 256
_CLAUSES = re.compile(r"[.!?…\n,;:]+")
_SENTENCES = re.compile(r"[.!?…\n]+")
_FEW, _SOME, _MANY = 3, 6, 8  # letters
_EXTRA = 3
_LONGER = 4
_FILLED = 2.3  # times as long, at most
_SOUNDS = (("ph", "f"), ("x", "ks"), ("c", "k"), ("q", "k"), ("z", "s"))
_VOWELS = frozenset("aeiouyw")


class Places(NamedTuple):
    """What stands in the same places of a text's parts, as strings of letters."""

    sequences: frozenset[str]

    def have(self, letters: str) -> bool:
        """Whether one of them has a title: with few letters, hardly anything else."""
        n = len(letters)
        return any(
            n >= _SOME or 2 * n >= len(each)
            for each in self.sequences
            if n > _FEW and letters in each
        )


@lru_cache(_TEXTS_KEPT)
def places(text: str) -> Places:
    """The first, second and last letters of words, sentences, clauses and every second word."""
    spoken = words_in(text.replace("'", "").replace("-", ""))
    units = [spoken, *(spoken[first::step] for step in (2, 3) for first in range(step))]
    units += [list(run) for plain, run in groupby(spoken, is_function_word) if not plain]
    units += [
        ["".join(words_in(part)) for part in ends.split(text)] for ends in (_CLAUSES, _SENTENCES)
    ]
    found = {
        "".join(word[at] for word in unit if len(word) > at) for unit in units for at in (0, 1)
    }
    found |= {"".join(word[-1] for word in unit if word) for unit in units}
    return Places(frozenset(found))


def hides(title: str, text: str, said: Talk) -> bool:
    """Whether a text hides a title (its words in lower case, with spaces)."""
    letters = title.replace(" ", "")
    if _has_digits_for_letters(letters, words_in(text)):
        return True
    if len(letters) < _FEW or letters in "".join(said.words):
        return False
    if places(text).have(letters) or _in_any_order(letters, said.words):
        return True
    if any(_same_pattern(letters, each) for each in (said.numbers, said.letters, said.signs)):
        return True
    strange = {"".join(said.unknown).lower(), "".join(said.passage), *map(str.lower, said.unknown)}
    meant = {letters, *(word for word in title.split() if len(word) > _LONGER)}
    return any(_is_changed(word, each) for word in meant for each in strange if len(each) >= _FEW)


def _has_digits_for_letters(letters: str, spoken: Sequence[str]) -> bool:
    """Whether words spell this with digits that look like letters: "M4tr1x"."""
    mixed = [word for word in spoken if not word.isalpha() and not word.isdigit()]
    wanted = all_letters(letters)
    whole = len(letters) > _FEW and bool(mixed) and wanted in all_letters("".join(spoken))
    return whole or any(all_letters(word) == wanted for word in mixed)


def _in_any_order(letters: str, spoken: Sequence[str]) -> bool:
    """Whether whole words, side by side, have these letters and no others."""
    if len(letters) < _MANY:
        return False
    wanted = sorted(letters)
    for first in range(len(spoken)):
        joined = ""
        for word in spoken[first:]:
            joined += word
            if len(joined) >= len(letters):
                break
        if len(joined) == len(letters) and sorted(joined) == wanted:
            return True
    return False


def _same_pattern(letters: str, signs: Sequence[str]) -> bool:
    """Whether some signs repeat as these letters do: one sign for each letter."""
    n = len(letters)
    if len(signs) < n or n <= _FEW:
        return False
    wanted = _pattern(letters)
    if len(set(letters)) == n or n < _SOME:
        return len(signs) == n and _pattern(signs) == wanted
    return any(_pattern(signs[at : at + n]) == wanted for at in range(len(signs) - n + 1))


def _pattern(signs: Sequence[str]) -> list[int]:
    return [signs.index(sign) for sign in signs]


def _is_changed(word: str, strange: str) -> bool:
    """Whether something unknown has a word's letters moved, filled up, replaced or left out."""
    if len(word) < _FEW or word == strange:
        return False
    more = len(strange) - len(word)
    moved = 0 <= more <= min(_EXTRA, (len(word) + 1) // 2) and not Counter(word) - Counter(strange)
    begins = word[0] in strange[:_FEW] and word not in strange
    filled = begins and _FEW < len(word) < len(strange) <= _FILLED * len(word) + 1
    bones = _bones(word)
    enough = len(bones) >= _FEW or (not more and len(bones) > 1)
    bare = enough and bones == _bones(strange)
    repeats = len(set(word)) < len(word) and len(word) > _LONGER
    alike = (repeats and strangeness(strange) > 1) or (
        not strange.isascii() and bones[:1] == _bones(strange)[:1]
    )
    return (
        moved
        or (filled and _is_within(word, strange))
        or bare
        or (not more and alike and _pattern(word) == _pattern(strange))
    )


def _is_within(word: str, strange: str) -> bool:
    """Whether the letters of a word stand in this order in something else."""
    rest = iter(strange)
    return all(sign in rest for sign in word)


def _bones(word: str) -> str:
    """The consonants of a word as they sound, doubled ones once; of any alphabet."""
    spelled = "".join(_consonants(word))
    for letters, sound in _SOUNDS:
        spelled = spelled.replace(letters, sound)
    bare = [sign for sign in spelled if sign not in _VOWELS]
    return "".join(sign for at, sign in enumerate(bare) if not at or bare[at - 1] != sign)


def _consonants(word: str) -> Iterator[str]:
    for sign in word:
        if sign.isascii():
            yield sign if sign.isalpha() else ""
        else:  # "GREEK SMALL LETTER MU", "CYRILLIC SMALL LETTER EM"
            name = unicodedata.name(sign, "").partition("LETTER ")[2].split(" ")[0].lower()
            yield name[1:] if len(name) == 2 and name[0] == "e" else name[:1]


def told_over_turns(titles: Collection[str], turns: Sequence[str]) -> bool:
    """Whether turns, up to the last one, tell a title a letter or a part of a word a turn."""
    spoken = [words_in(turn.replace("'", "").replace("’", "")) for turn in turns]
    lone = [_lone_letter(each) for each in spoken]
    told = {letter for letter in lone if letter}
    first = "".join(each[0][0] for each in spoken if each)
    ends = [[*_last_words(turn)] for turn in turns[-2:]]
    last = " ".join(each[-1] for each in spoken if each)
    for title in titles:
        for letters in (title.replace(" ", ""), "the" + title.replace(" ", "")):
            if lone[-1] and len(told) > 1 and told <= set(letters):
                return True
            if len(first) >= min(_LONGER, len(letters)) > 2 and letters.startswith(first):
                return True
        if len(ends) > 1 and any(_joins(a, b, title) for a in ends[0] for b in ends[1]):
            return True
        if " " in title and last.endswith(title):
            return True
    return False


def _joins(one: str, other: str, title: str) -> bool:
    """Whether two parts make a word of a title, or half of the title."""
    joined, letters = one + other, title.replace(" ", "")
    half = joined in letters and 2 * len(joined) >= len(letters)
    return len(joined) >= _LONGER and (half or joined in title.split())


def _last_words(text: str) -> Iterator[str]:
    for clause in _CLAUSES.split(text):
        yield from words_in(clause)[-1:]


def _lone_letter(spoken: Sequence[str]) -> str:
    """The single letter that a turn is about; "a" and "I" are words unless they end it."""
    last = len(spoken) - 1
    single = (
        word
        for place, word in enumerate(spoken)
        if len(word) == 1 and word.isalpha() and (word not in "ai" or place == last)
    )
    return next(single, "")
