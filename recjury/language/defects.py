"""Defects of a reply that can be counted: residue of templates, loops, cut ends, other languages.

Each is found by what the text consists of, whatever it says.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from recjury.language.tokens import shortened, words_of
from recjury.language.vocabulary import words

# What templates, tokenizers and pages leave in a text.
_RESIDUE = re.compile(
    r"<[/|]?[a-zA-Z_|][^<>]{0,20}>|\{\{?[\w. ]{0,30}\}?\}|\[\w{1,20}_\w{1,20}\]|(?<!\w)@\d{3,}\b|"
    r"\[(?i:(?:insert |your )?(?:title|movie|film|genre|name|actor|year|director|item|unk|sep|pad|"
    r"mask|cls|user|book|song|restaurant|link|date|time|place)(?: here| name)?)\]|\w  +[?!.](?!\S)|"
    r"&(?:amp|quot|lt|gt|nbsp|#\d{1,5});|%s\b|\$\{[a-z]\w{0,20}|(?<!\w)\$(?:title|movie|name|item)\b|"
    r"\bundefined\b|\bNaN\b|\bobject Object\b|__\w{1,20}__|##\w|\\[nt](?![a-z])|\ufffd"
)
_ENDINGS = ".!?…)\"':*”’"
# A word twice, with nothing but a space between ("the the", "Last Last", "haven haven't").
_DOUBLED = re.compile(r"\b([^\W\d_]+) (?=\1(?:'\w+)?\b)", re.IGNORECASE)
_FEW_WORDS = 3
_LOOP, _WORD_LOOP = 3, 5


class Defect(NamedTuple):
    """A kind of defect, and the part of the text that shows it."""

    kind: str
    quote: str


def residue(text: str) -> str:
    """What a template, a tokenizer or a page has left in the text; empty for none."""
    found = _RESIDUE.search(shortened(text))
    return found.group() if found else ""


def loop(text: str) -> str:
    """Words that stand again and again, side by side; empty for none.

    Two to six words three times; a word or a name five times ("Tora! Tora! Tora!" is none).
    """
    spoken = re.findall(r"[^\W_]+(?:'[^\W_]+)?", shortened(text))
    lower = [word.lower() for word in spoken]
    for length in range(1, 7):
        same = 0
        for at in range(length, len(lower)):
            same = same + 1 if lower[at] == lower[at - length] else 0
            if same < (_LOOP - 1) * length:
                continue
            run = spoken[at + 1 - length : at + 1]
            name = all(word[0].isupper() for word in run)
            times = _WORD_LOOP if name or len(set(run)) == 1 else _LOOP
            if same >= (times - 1) * length:
                return " ".join(run)
    return ""


def other_language_words(text: str) -> list[str]:
    """The words of other languages, in lower case as written; names and titles have a capital."""
    known = words("other_language_words")
    return [word for word in re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", text) if word in known]


def other_letters(text: str) -> int:
    """The number of letters outside of the Latin alphabet."""
    if text.isascii():
        return 0
    return sum(ord(letter) > 0x24F and letter.isalpha() for letter in text)


def is_cut(text: str, spoken: Sequence[str]) -> bool:
    """Whether the text ends on a word that cannot end it, without a final sign."""
    bare = text.rstrip()
    return bool(spoken) and bare[-1:] not in _ENDINGS and spoken[-1] in words("open_ends")


def defects_of(text: str) -> list[Defect]:
    """The defects that are certain, the worst first."""
    spoken = words_of(text)
    found = [
        Defect("empty", text.strip()) if not any(map(_says_something, text)) else None,
        Defect("residue", residue(text)) if residue(text) else None,
        Defect("loop", loop(text)) if loop(text) else None,
        Defect("truncated", " ".join(spoken[-4:])) if is_cut(text, spoken) else None,
    ]
    return [defect for defect in found if defect is not None]


def _says_something(sign: str) -> bool:
    """Whether it is a letter, a digit, an emoji or another symbol."""
    return sign.isalnum() or unicodedata.category(sign) == "So"


def counts_of(text: str) -> list[float]:
    """The counts behind the defects, for the model of broken replies."""
    spoken = words_of(text)
    plain = shortened(text)
    ends = plain.rstrip()[-1:] in _ENDINGS
    return [
        float(bool(residue(text))),
        float(bool(loop(text))),
        *(min(3.0, _most_repeated(spoken, length) - 1.0) for length in (3, 4)),
        min(4.0, float(len(_DOUBLED.findall(plain)))),
        min(4.0, float(len(other_language_words(plain)))),
        min(4.0, float(other_letters(plain))),
        float(not ends and len(spoken) > _FEW_WORDS),
        float(is_cut(plain, spoken)),
        float(len(spoken) < _FEW_WORDS),
        min(200.0, float(len(spoken))) ** 0.5,
        len(set(spoken)) / max(1, len(spoken)),
    ]


def _most_repeated(spoken: Sequence[str], length: int) -> int:
    runs = Counter(tuple(spoken[at : at + length]) for at in range(len(spoken) - length + 1))
    return max(runs.values(), default=1)
