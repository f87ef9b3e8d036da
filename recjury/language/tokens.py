"""Texts as the models see them: sentences, words, classes of words, hashed sequences."""

import re
import unicodedata
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.language.vocabulary import words

LONGEST = 2_000
"""The characters of a text that are read: its first ones. Reading takes linear time."""

START, END, NAME, NUMBER = "<s>", "</s>", "<n>", "<d>"

_WORDS = re.compile(r"[a-z0-9']+|[^\sa-z0-9]")
_PIECES = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+|[.!?…]+|[^\w\s]|_+")
_SPLIT = re.compile(r"[a-z0-9]+|[^\sa-z0-9]")
_SENTENCE_ENDS = re.compile(r"(?<=[.!?…])\s+|\n+")
_LIST_MARK = re.compile(r"\s*(?:\d{1,3}\s*[.:)]?|[-*•])\s+(?=\S)")
_TITLE_WORDS = 9
_SUFFIXES = ("ing", "tion", "ness", "ment", "able", "ful", "ous", "ly", "ed", "er", "est", "s")


def prose(text: str) -> str:
    """A text without the lines of a list that only name something: titles are no sentences."""
    return "\n".join(line for line in text.splitlines() if not _only_names(line))


def _only_names(line: str) -> bool:
    mark = _LIST_MARK.match(line)
    return mark is not None and len(line[mark.end() :].split()) <= _TITLE_WORDS


class SentenceWords(NamedTuple):
    """The words of a sentence as written (`raw`) and in lower case, and how it ends.

    `breaks` tells of each word that it follows punctuation or begins the sentence.
    """

    raw: tuple[str, ...]
    words: tuple[str, ...]
    breaks: tuple[bool, ...]
    ending: str


def shortened(text: str) -> str:
    """The part of a text that is read, with straight apostrophes."""
    return text[:LONGEST].replace("’", "'")


def words_of(text: str) -> list[str]:
    """Words, numbers and signs in lower case, in order."""
    return _WORDS.findall(shortened(text).lower())


def last_sentence(text: str) -> str:
    """The last sentence of a text: a question that a user answers stands there."""
    return next(reversed(sentence_texts(text[-LONGEST:])), "")


def sentence_texts(text: str) -> list[str]:
    """The sentences of the part of a text that is read, as they are written."""
    return [part for part in _SENTENCE_ENDS.split(text[:LONGEST]) if part.strip()]


def sentences_of(text: str) -> list[SentenceWords]:
    """The sentences that have a word; a line break ends a sentence, too."""
    found: list[SentenceWords] = []
    for line in shortened(text).splitlines():
        raw: list[str] = []
        breaks: list[bool] = []
        broken = True
        for match in _PIECES.finditer(line):
            piece = match.group()
            if piece[0] in ".!?…":
                _finish(found, raw, breaks, piece)
                raw, breaks, broken = [], [], True
            elif piece[0].isalnum():
                raw.append(piece)
                breaks.append(broken)
                broken = False
            else:
                broken = True
        _finish(found, raw, breaks, "")
    return found


def _finish(found: list[SentenceWords], raw: list[str], breaks: list[bool], ending: str) -> None:
    if raw:
        lower = tuple(word.lower() for word in raw)
        found.append(SentenceWords(tuple(raw), lower, tuple(breaks), ending))


def masked_tokens(sentence: SentenceWords) -> list[str]:
    """The words that are counted: a run of capitalised names, or a number, is one sign."""
    found: list[str] = []
    for index, word in enumerate(sentence.words):
        if index and sentence.breaks[index]:
            found.append(",")
        if _begins_name(sentence, index) and not is_function_word(word):
            if found[-1:] != [NAME]:
                found.append(NAME)
        else:
            found.append(NUMBER if word[0].isdigit() else word)
    return found


def _begins_name(sentence: SentenceWords, index: int) -> bool:
    """Whether a word is capitalised, and not only because it begins the sentence."""
    if index:
        return sentence.raw[index][0].isupper()
    following = sentence.raw[1:2]
    return sentence.raw[0][0].isupper() and bool(following) and following[0][0].isupper()


def is_function_word(token: str) -> bool:
    """Whether a token is one of the frequent small words of English."""
    return token in words("function_words")


@lru_cache(16_384)
def class_of(token: str) -> str:
    """A function word or a sign itself; for another word, its ending."""
    if is_function_word(token) or token[0] == "<":
        return token
    return next((f"-{suffix}" for suffix in _SUFFIXES if token.endswith(suffix)), "-")


def run_checksums(tokens: Sequence[str], longest: int, mark: str = "") -> list[list[int]]:
    """The checksums of all runs of tokens, each with `mark` before it, by length from 1 to
    `longest`.

    That of a longer run goes on from that of the run without its last token.
    """
    added = [f" {token}".encode() for token in tokens]
    found = [[zlib.crc32(f"{mark}{token}".encode()) for token in tokens]]
    for length in range(1, longest):
        ends = zip(added[length:], found[-1], strict=False)
        found.append([zlib.crc32(end, run) for end, run in ends])
    return found


def letters(word: str) -> Iterator[str]:
    """All runs of 3 to 5 letters of a word and its edges, which misspelt words share."""
    edged = f"<{word}>"
    for length in (3, 4, 5):
        for at in range(len(edged) - length + 1):
            yield "c" + edged[at : at + length]


def checksums(features: Iterable[str]) -> list[int]:
    """The numbers from which features have their places in tables: their CRC-32."""
    return [zlib.crc32(feature.encode()) for feature in features]


def places(numbers: Iterable[int], size: int) -> frozenset[int]:
    """The places of checksums in a table of `size` rows."""
    return frozenset(number % size for number in numbers)


def in_order(found: Iterable[int]) -> NDArray[np.int64]:
    """Places in order: sums of their rows are then always the same."""
    return np.sort(np.fromiter(found, np.int64))


class Vocabulary:
    """Splits words into the pieces of a vocabulary, the longest first (WordPiece: Schuster and
    Nakajima 2012). Pieces inside a word begin with "##"; what is unknown is number 1."""

    def __init__(self, pieces: Sequence[str]):
        """`pieces` are numbered from 2 on; 0 fills up."""
        self._numbers = {piece: number for number, piece in enumerate(pieces, start=2)}
        self._of_word = lru_cache(16_384)(self._split)

    def numbers(self, text: str) -> list[int]:
        """The numbers of the pieces of a text, without case and accents."""
        plain = shortened(text).lower()
        if not plain.isascii():
            signs = unicodedata.normalize("NFKD", plain)
            plain = "".join(sign for sign in signs if not unicodedata.combining(sign))
        return list(chain.from_iterable(map(self._of_word, _SPLIT.findall(plain))))

    def _split(self, word: str) -> tuple[int, ...]:
        found: list[int] = []
        at = 0
        while at < len(word):
            start = "##" if at else ""
            ends = range(min(len(word), at + 18), at, -1)
            end = next((end for end in ends if start + word[at:end] in self._numbers), None)
            if end is None:
                return (*found, 1)
            found.append(self._numbers[start + word[at:end]])
            at = end
        return tuple(found)
