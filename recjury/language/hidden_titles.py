"""Whether words that look plain hide a title: by the places, the number or the order of letters.

These hold for whole families of codes: a title's letters stand in the same places of words,
sentences or turns; each letter has a sign of its own; or its letters are moved, filled up or
partly replaced. That other words do so by chance is rare from a few letters on.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, groupby
from typing import NamedTuple

from recjury.language.changed_words import (
    hyphened,
    is_changed,
    pattern,
    sound,
    strange_passages,
)
from recjury.language.plain_words import Talk, words_in
from recjury.language.tokens import is_function_word

_TEXTS_KEPT = 256
_CLAUSES = re.compile(r"[.!?…\n,;:]+")
_SENTENCES = re.compile(r"[.!?…\n]+")
_FEW, _LONGER, _SHORT, _SOME, _MANY = 3, 4, 5, 6, 8  # letters


class Places(NamedTuple):
    """What stands in the same places of a text's parts, as strings of letters."""

    sequences: frozenset[str]

    def have(self, letters: str) -> bool:
        """Whether one of them has a title: with few letters, nothing else."""
        n = len(letters)
        longest = n + 1 if n == _FEW else 2 * n
        return n >= _FEW and any(
            n >= _SOME or len(each) <= longest for each in self.sequences if letters in each
        )


@lru_cache(_TEXTS_KEPT)
def places(text: str) -> Places:
    """The first, second and last letters of words, sentences, clauses and every second word.

    Also those of names, and all capitals.
    """
    spoken = words_in(text.replace("'", "").replace("-", ""))
    units = [spoken, *(spoken[first::step] for step in (2, 3) for first in range(step))]
    units += [list(run) for plain, run in groupby(spoken, is_function_word) if not plain]
    parts = [[words_in(part) for part in ends.split(text)] for ends in (_CLAUSES, _SENTENCES)]
    units += [["".join(part) for part in each] for each in parts]
    units += [[part[-1] for part in each if part] for each in parts]
    capitals = "".join(sign for sign in text if sign.isupper())
    units.append([word.lower() for word in text.split() if word[:1].isupper()][1:])
    found = {
        "".join(word[at] for word in unit if len(word) > at) for unit in units for at in (0, 1)
    }
    found |= {"".join(word[-1] for word in unit if word) for unit in units}
    return Places(frozenset({*found, capitals.lower(), capitals[1:].lower()}))


def hides(title: str, text: str, said: Talk) -> bool:
    """Whether a text hides a title (its words in lower case, with spaces)."""
    words = title.split()
    letters = "".join(words)
    if len(letters) <= 1 or _says(letters, said.words):
        return False
    initials = "".join(word[0] for word in words)
    pictures = said.pictures if len(said.pictures) == len(letters) >= _FEW else ""
    spelled = hyphened(said) if len(letters) > _FEW else ()
    return (
        places(text).have(letters)
        or _in_any_order(words, said.words)
        or _is_spelled(letters, said)
        or any(_same_pattern(letters, each) for each in (said.numbers, said.letters, said.signs))
        or pattern(pictures) == pattern(letters)
        or initials in said.initials
        or (len(words) > 1 and initials in map(str.lower, said.unknown))
        or any(is_changed(words, each) for each in strange_passages(said))
        or any(sound(letters) == sound(each) for each in spelled if each not in letters)
    )


def _says(letters: str, spoken: Sequence[str]) -> bool:
    """Whether whole words, side by side, are a title: whether it is meant, others decide."""
    joined = "".join(spoken)
    at = joined.find(letters)
    starts = set(accumulate(map(len, spoken), initial=0)) if at >= 0 else set[int]()
    while at >= 0 and not {at, at + len(letters)} <= starts:
        at = joined.find(letters, at + 1)
    return at >= 0


def _in_any_order(words: Sequence[str], spoken: Sequence[str]) -> bool:
    """Whether words side by side are these in another order, or have just their letters."""
    bare = [word.replace("'", "") for word in spoken]
    joined, n = sorted("".join(words)), sum(map(len, words))
    starts = {at: place for place, at in enumerate(accumulate(map(len, bare), initial=0))}
    for at, end in starts.items():
        first = starts.get(at - n)
        found = bare[first:end] if first is not None else []
        if sorted(found) == sorted(words) or (n >= _MANY and sorted("".join(found)) == joined):
            return True
    return False


def _is_spelled(letters: str, said: Talk) -> bool:
    """Whether letters stand alone, or words side by side have one each, as their names do."""
    n = len(letters)
    if n <= _FEW and "".join(said.letters) == letters.replace("a", "").replace("i", "") != "":
        return True
    lone = {at for at, word in enumerate(said.words) if at in said.new or word in said.letters}
    for first in {at - back for at in lone for back in range(n) if at >= back}:
        told = said.words[first : first + n]
        if n < _FEW or len(told) < n or max(map(len, told)) > _SHORT:
            continue
        pairs = list(zip(letters, told, strict=True))
        held = sum(sign in word for sign, word in pairs)
        ends = sum(sign in (word[0], word[-1]) for sign, word in pairs)
        about = len(lone.intersection(range(first, first + n)))
        least = n - n // _SHORT
        if ends >= least or (held >= least and 2 * about >= min(n, _LONGER)):
            return True
    return False


def _same_pattern(letters: str, signs: Sequence[str]) -> bool:
    """Whether some signs repeat as these letters do: one sign for each letter."""
    n = len(letters)
    if not _FEW < n <= len(signs):
        return False
    if len(signs) > n and (n < _SOME or len(set(letters)) == n):
        return False
    found = (signs[at : at + n] for at in range(len(signs) - n + 1))
    return any(pattern(letters) == pattern(each) for each in found)


def told_over_turns(titles: Collection[str], turns: Sequence[str]) -> bool:
    """Whether turns, up to the last one, tell a title a letter or a part of a word a turn."""
    spoken = [words_in(turn.replace("'", "").replace("’", "")) for turn in turns]
    lone = [_lone_letter(each) for each in spoken]
    told = {letter for letter in lone if letter}
    first = "".join(each[0][0] for each in spoken if each)
    ends = [[*_last_words(turn)] for turn in turns[-2:]]
    last = " ".join(each[-1] for each in spoken if each)
    for title in titles:
        letters = title.replace(" ", "")
        if lone[-1] and len(told) > 1 and told <= set(letters):
            return True
        if len(first) >= min(_LONGER, len(letters)) > 1 and letters.startswith(first):
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
