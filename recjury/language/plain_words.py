"""Whether an utterance is plain sentences: its strange words, and passages that are no language."""

import re
import unicodedata
from collections.abc import Collection, Sequence
from itertools import groupby, pairwise

from recjury.knowledge.ordinary_words import is_ordinary_word, word_list
from recjury.language.letters import words_in

_SPELLED = re.compile(r"(?:(?<!\w)\w(?!\w)[^\w.'*&!?]{1,3}){4,}\w(?!\w)")
_NUMBERS = re.compile(r"(?:(?<![\w.])\d{1,8}[^\w.']{1,3}){6,}\d{1,8}(?!\w)")
_SIGNS = re.compile(r"(?:(?<!\S)[!-/:-@\[-`{-~·•−–—]{1,7}\s+){3,}[!-/:-@\[-`{-~·•−–—]{1,7}(?!\S)")
_MANY_MARKS = 3
_MANY_CHANGES = 6
_MANY_WORDS = 8
_LEAST_ORDINARY = 0.2
_TURNS = 4
_AROUND = 2  # words
_ARTICLE = "the"
_PUNCTUATION = ".,:;!?\"'()[]*_“”‘’"
_INSIDE = frozenset(";,[]{}<>|\\+=^~@#$%*_")
_YEAR = 4  # digits


def strange_words(text: str, *known: Collection[str]) -> tuple[str, ...]:
    """The words that are neither ordinary nor `known`, alone and with the words around them.

    () without any. A number alone is no strange word, nor is a sign.
    """
    words = text.split(" ")
    numbers = sum(word.strip(".,!?;:()").isdigit() for word in words)
    signs = sum(not any(map(str.isalnum, word)) for word in words)
    at = [
        place
        for place, word in enumerate(words)
        if _is_strange(word, known, numbers=numbers > 1, signs=signs > 1)
    ]
    if not at:
        return ()
    around = words[max(0, at[0] - _AROUND) : at[-1] + _AROUND + 1]
    return tuple(dict.fromkeys((" ".join(words[place] for place in at), " ".join(around))))


def _is_strange(word: str, known: Sequence[Collection[str]], *, numbers: bool, signs: bool) -> bool:
    parts = words_in(word)
    if not word.isascii() and any(unicodedata.category(sign) in ("Mn", "So") for sign in word):
        return True
    if not parts:
        return signs
    if not _INSIDE.isdisjoint(word.lstrip("\"'([*_#").rstrip(".,!?;:\"')]*_")):
        return True
    if len(parts) == 1 and parts[0].isdigit():
        return numbers or len(parts[0]) > _YEAR or "2100" < parts[0].zfill(_YEAR) < "9999"
    return not all(_is_plain(part) or _is_known(part, known) for part in parts)


def _is_known(word: str, known: Sequence[Collection[str]]) -> bool:
    return not word.isdigit() and any(word in words for words in known)


def _is_plain(word: str) -> bool:
    if word.isdigit():
        return False
    alone = word.removesuffix("s")
    return is_ordinary_word(word) or is_ordinary_word(alone) or word in word_list("common")


def garbled(text: str, *, english: bool) -> str:
    """The first passage that is no language: letters one by one, numbers, signs; "" without one.

    With `english`, a text of which hardly a word is English is no sentence of the conversation.
    """
    found = _SPELLED.search(text) or _NUMBERS.search(text) or _SIGNS.search(text)
    if found:
        return found.group()
    if not text.isascii() and _has_marks(text):
        return text
    odd = next((word for word in text.split() if _changes(word) >= _MANY_CHANGES), "")
    if odd or not english:
        return odd
    said = [word for word in text.split() if word.isalpha() and word.islower()]
    ordinary = sum(_is_plain(word) for word in said)
    is_other = len(said) >= _MANY_WORDS and ordinary < _LEAST_ORDINARY * len(said)
    return text if is_other else ""


def _has_marks(text: str) -> bool:
    """Whether accents pile up on a letter, or several invisible characters follow each other."""
    runs = groupby(map(unicodedata.category, text))
    most = {"Cf": 2, "Mn": _MANY_MARKS, "Me": _MANY_MARKS}
    return any(kind in most and sum(1 for _ in run) >= most[kind] for kind, run in runs)


def _changes(word: str) -> int:
    """How often capitals, small letters and digits alternate in a word."""
    kinds = [sign.isdigit() * 2 + sign.isupper() for sign in word if sign.isalnum()]
    return sum(one != other for one, other in pairwise(kinds))


def spelled_over_turns(earlier: Sequence[str], text: str, titles: Collection[str]) -> bool:
    """Whether one of `titles` is told a letter or a word a turn, up to and with `text`.

    The letters are single ones in two or more turns, or the first letters of the turns; or the last
    words of the turns are a title.
    """
    turns = [
        [word.strip(_PUNCTUATION) for word in turn.lower().split()] for turn in (*earlier, text)
    ]
    lone = [_lone_letter(words) for words in turns]
    told = [letter for letter in lone if letter]
    first = "".join(words[0][:1] for words in turns if words)
    whole = [f"{article}{title}" for title in titles for article in ("", "a", _ARTICLE)]
    letters = [title.replace(" ", "") for title in whole]
    if lone[-1] and len(told) > 1:
        return any(set(told) <= set(title) for title in letters)
    last = " ".join(words[-1] for words in turns if words)
    if any(" " in title and last.endswith(title) for title in titles):
        return True
    return any(
        len(first) >= min(_TURNS, len(title)) > 2 and title.startswith(first) for title in letters
    )


def _lone_letter(words: Sequence[str]) -> str:
    """The single letter that a turn is about; "a" and "I" are words unless they end it."""
    last = len(words) - 1
    single = (
        word
        for place, word in enumerate(words)
        if len(word) == 1 and word.isalpha() and (word not in "ai" or place == last)
    )
    return next(single, "")
