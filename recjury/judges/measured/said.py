"""One text with the items that it names: its words, sentences, questions and template."""

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import NamedTuple

from recjury.knowledge import Catalogue, MatchKind, TitleMention
from recjury.knowledge.ordinary_words import is_ordinary_word, is_phrase
from recjury.knowledge.tokenizer import Token, tokenize
from recjury.language.genres import GENRE_WORDS, genres_in

TITLE = "<title>"
_ENDS = re.compile(r"[.!?\n]+")
_NAME, _NUMBER, _KIND = "<name>", "<number>", "<kind>"
_SLOTS = frozenset({_NAME, _NUMBER, _KIND})
# Between two capitalised words, these belong to one name or one list of names.
_JOINING = frozenset({"a", "an", "and", "in", "of", "or", "the"})
_FEW_WORDS = 3
_MOST_BETWEEN = 5


class Sentence(NamedTuple):
    """A part of a text, `start` to `end`, with its words and the items that it names."""

    start: int
    end: int
    words: tuple[Token, ...]
    named: tuple[TitleMention, ...]
    is_question: bool

    @property
    def masked(self) -> tuple[str, ...]:
        """The words in lower case, with TITLE for each item named."""
        named = iter((*self.named, None))
        mention = next(named)
        words: list[str] = []
        for token in self.words:
            while mention is not None and mention.end <= token.start:
                mention = next(named)
            if mention is None or token.start < mention.start:
                words.append(token.key)
            elif words[-1:] != [TITLE] or token.start == mention.start:
                words.append(TITLE)
        return tuple(words)


class Said:
    """A text and the items of the catalogue that it names, in order."""

    def __init__(self, text: str, named: tuple[TitleMention, ...] = ()):
        self.text = text
        self.named = named

    @cached_property
    def keys(self) -> frozenset[str]:
        """The items that it names."""
        return frozenset(mention.key for mention in self.named)

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """Its words, those of titles included."""
        return tuple(tokenize(self.text))

    @cached_property
    def same(self) -> str:
        """The words in lower case: equal for two texts that say the same. Empty for one word."""
        return " ".join(token.key for token in self.tokens) if len(self.tokens) > 1 else ""

    @cached_property
    def folded(self) -> str:
        """The words in lower case between spaces, with TITLE for each item named, to look values
        up in."""
        return f" {' '.join(word for part in self.sentences for word in part.masked)} "

    @cached_property
    def genres(self) -> frozenset[str]:
        """The canonical genres that it says outside of titles."""
        return genres_in(self.folded)

    def says(self, value: str) -> bool:
        """Whether the text has all words of the value in a row, outside of titles."""
        words = words_of(value)
        return bool(words) and f" {words} " in self.folded

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """Its sentences; punctuation inside a title or behind an initial ends none."""
        return tuple(self._sentences())

    def _sentences(self) -> Iterator[Sentence]:
        tokens, named = iter((*self.tokens, None)), iter((*self.named, None))
        token, mention, start = next(tokens), next(named), 0
        words: list[Token] = []
        inside: list[TitleMention] = []
        for end, mark in self._ends():
            while mention is not None and mention.start < end:
                inside.append(mention)
                mention = next(named)
            if inside and inside[-1].end > end:
                continue
            while token is not None and token.start < end:
                words.append(token)
                token = next(tokens)
            if mark == "." and words and len(words[-1].text) == 1 and words[-1].text.isupper():
                continue
            if words:
                yield Sentence(start, end, tuple(words), tuple(inside), "?" in mark)
            words, inside, start = [], [], end

    def _ends(self) -> Iterator[tuple[int, str]]:
        for match in _ENDS.finditer(self.text):
            yield match.end(), match.group()
        yield len(self.text) + 1, ""

    @cached_property
    def template(self) -> tuple[str, ...]:
        """What is left of the text when names, numbers and genres are masked.

        No catalogue is needed: a name is what has a capital inside a sentence, or an unusual word
        at its beginning. Empty for a text with fewer than three other words.
        """
        slots: list[str] = []
        for sentence in self.sentences:
            for at, token in enumerate(sentence.words):
                slot = _slot(sentence.words, at, token)
                if slot in _SLOTS:
                    _join(slots, slot)
                else:
                    slots.append(slot)
            slots.append(".")
        others = sum(slot not in _SLOTS and slot != "." for slot in slots)
        return tuple(slots) if others >= _FEW_WORDS else ()


def _slot(words: tuple[Token, ...], at: int, token: Token) -> str:
    if token.text.isdigit():
        return _NUMBER
    if token.text[:1].isupper() and token.key != "i" and not token.text.startswith(("I'", "I’")):
        follows = words[at + 1].text[:1].isupper() if at + 1 < len(words) else False
        if at or follows or not is_ordinary_word(token.key):
            return _NAME
    return _KIND if token.key in GENRE_WORDS else token.key


def _join(slots: list[str], slot: str) -> None:
    """Add a slot, as one with the slot before it in a name, a dated title or a list."""
    joining = slots[-1:] and slots[-1] in _JOINING
    place = -2 if joining and len(slots) > 1 else -1
    before = slots[place] if len(slots) >= -place else ""
    if before == slot:
        del slots[len(slots) + place + 1 :]
    elif not (slot == _NUMBER and slots[-1:] == [_NAME]):
        slots.append(slot)


@lru_cache(65_536)
def words_of(value: str) -> str:
    """The words of a name or value as texts are compared: lower case, single spaces."""
    return " ".join(token.key for token in tokenize(value))


def annotate(text: str, catalogue: Catalogue) -> Said:
    """Find the items of the catalogue that `text` names, and its unlisted titles."""
    return Said(text, catalogue.mentions(text, keep=lambda found: not _mere_word(text, found)))


def _mere_word(text: str, found: TitleMention) -> bool:
    """Whether linked words are not meant as a title here.

    They are a genre ("a Crime movie"), or ordinary words ("the truth", "It follows a man") whose
    only capital is that of a sentence's beginning, in a text that uses capitals; and they are
    neither quoted nor followed by their year.
    """
    words = found.text
    quoted = text[max(0, found.start - 1) : found.start] in {'"', "“", "*"}
    if quoted or found.kind is MatchKind.WITH_YEAR or "(" in words:
        return False
    if words.isalpha():
        return words.lower() in GENRE_WORDS or (text[:1].isupper() and words.islower())
    before = text[max(0, found.start - _MOST_BETWEEN) : found.start].rstrip(" \"'”)")[-1:]
    begins = not before or before in ".!?\n"
    plain = words[1:].islower() and (begins or words[0].islower())
    return text[:1].isupper() and plain and is_phrase(words.lower().split())
