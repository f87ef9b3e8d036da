"""One text with the items that it names: its words, sentences, questions and template."""

from collections import deque
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from recjury.knowledge import Catalogue, TitleMention
from recjury.knowledge.ordinary_words import is_ordinary_word, is_phrase, word_list
from recjury.knowledge.text_cache import cached_by_text
from recjury.knowledge.tokenizer import Token, token_key, tokenize
from recjury.language.genres import GENRE_WORDS

TITLE = "<title>"
_ENDS = frozenset(".!?\n")
_NAME, _NUMBER, _KIND = "<name>", "<number>", "<kind>"
_SLOTS = frozenset({_NAME, _NUMBER, _KIND})
# Between two capitalised words, these belong to one name or one list of names.
_JOINING = frozenset({"a", "an", "and", "in", "of", "or", "the", "to"})
_MOST_JOINING = 2
_FEW_WORDS = 3
_LONG_WORD = 4


class Sentence(NamedTuple):
    """A sentence: its text, its words in lower case, with TITLE for each item, and these items."""

    text: str
    words: tuple[str, ...]
    named: tuple[TitleMention, ...]


class LinkedText:
    """A text and the items of the catalogue that it names, in order."""

    def __init__(self, text: str, named: tuple[TitleMention, ...] = ()):
        self.text = text
        self.named = named
        self.keys = frozenset(mention.key for mention in named)

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """Its words, those of titles included."""
        return tuple(tokenize(self.text))

    @cached_property
    def same(self) -> str:
        """The words in lower case: equal for two texts that say the same. Empty for few words."""
        few = len(self.tokens) < _FEW_WORDS
        return "" if few else " ".join(token.key for token in self.tokens)

    @cached_property
    def folded(self) -> str:
        """The words in lower case between spaces, with TITLE for each item named."""
        return f" {' '.join(word for part in self.sentences for word in part.words)} "

    @cached_property
    def long_words(self) -> frozenset[str]:
        """The words that say what it is about: not short, and not common ones."""
        long = {word for word in self.folded.split() if len(word) >= _LONG_WORD}
        return frozenset(long - word_list("common"))

    def says(self, value: str) -> bool:
        """Whether the text has all words of the value in a row, outside of titles."""
        words = words_of(value)
        return bool(words) and f" {words} " in self.folded

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """Its sentences; punctuation inside a title or behind an initial ends none."""
        found: list[Sentence] = []
        words: list[str] = []
        named: list[TitleMention] = []
        start = 0
        places = [*self._places(), (len(self.text), len(self.text), None)]
        for (begin, end, mention), (following, _, _) in pairwise(places):
            word = self.text[begin:end]
            words.append(token_key(word) if mention is None else TITLE)
            named += [] if mention is None else [mention]
            ends = _ENDS.intersection(self.text[end:following])
            initial = len(word) == 1 and word.isupper() and word != "I" and ends == {"."}
            if (ends and not initial) or following == len(self.text):
                text = self.text[start:following].strip()
                found.append(Sentence(text, tuple(words), tuple(named)))
                words, named, start = [], [], following
        return tuple(found)

    def _places(self) -> Iterator[tuple[int, int, TitleMention | None]]:
        """Where words and, instead of theirs, items begin and end, in order."""
        named = deque(self.named)
        inside = 0
        for token in self.tokens:
            while named and named[0].start <= token.start:
                mention = named.popleft()
                inside = mention.end
                yield mention.start, mention.end, mention
            if token.start >= inside:
                yield token.start, token.end, None

    @cached_property
    def has_names(self) -> bool:
        """Whether it names anything or has a number."""
        return not {_NAME, _NUMBER}.isdisjoint(self._slots)

    @cached_property
    def template(self) -> tuple[str, ...]:
        """What is left of the text when names, numbers and genres are masked.

        No catalogue is needed: a name is what has a capital inside a sentence, or an unusual word
        at its beginning. Empty for a text with fewer than three other words.
        """
        few = sum(slot not in _SLOTS for slot in self._slots) < _FEW_WORDS
        return () if few else self._slots

    @cached_property
    def _slots(self) -> tuple[str, ...]:
        slots: list[str] = []
        end = 0
        for at, token in enumerate(self.tokens):
            begins = at == 0 or not _ENDS.isdisjoint(self.text[end : token.start])
            behind = self.tokens[at + 1].text if at + 1 < len(self.tokens) else ""
            slot = _slot(token, alone=begins and not behind[:1].isupper())
            _join(slots, slot)
            end = token.end
        return tuple(slots)


def _slot(token: Token, *, alone: bool) -> str:
    """What stands for a word; `alone` if it begins a sentence and no capital follows."""
    capital = token.text[0].isupper() and token.text[:2] not in ("I", "I'", "I’")
    if capital and not (alone and is_ordinary_word(token.key)):
        return _NAME
    return _NUMBER if token.text.isdigit() else _KIND if token.key in GENRE_WORDS else token.key


def _join(slots: list[str], slot: str) -> None:
    """Add a slot, as one with the slot before it in a name, a dated title or a list."""
    end = len(slots)
    while end > max(0, len(slots) - _MOST_JOINING) and slots[end - 1] in _JOINING:
        end -= 1
    if slot in _SLOTS and slots[end - 1 : end] == [slot]:
        del slots[end:]
    elif [*slots[-1:], slot] != [_NAME, _NUMBER]:
        slots.append(slot)


@cached_by_text(65_536)
def words_of(value: str) -> str:
    """The words of a name or value as texts are compared: lower case, single spaces."""
    return " ".join(token.key for token in tokenize(value))


def link(text: str, catalogue: Catalogue) -> LinkedText:
    """Find the items that a text names. Ordinary words in lower case, in a text with capitals, name
    none: "the box"."""
    cased = not text.islower()
    named = catalogue.mentions(
        text,
        keep=lambda found: not (cased and found.text.islower() and is_phrase(found.text.split())),
    )
    return LinkedText(text, named)
