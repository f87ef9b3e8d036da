"""One log, annotated once for all measured judges: its texts, their titles, its items."""

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import NamedTuple

from recjury.judges.measured.genres import GENRE_WORDS
from recjury.judges.measured.text import MaskedText
from recjury.knowledge import Catalogue, MatchKind, TitleMention
from recjury.knowledge.ordinary_words import is_phrase
from recjury.records import ConversationLog, Item, ItemRef, Speaker


class AnnotatedText(NamedTuple):
    """A text and the films it names, in order."""

    utterance: MaskedText
    named: tuple[TitleMention, ...]

    @property
    def keys(self) -> frozenset[str]:
        """The films it names."""
        return frozenset(film.key for film in self.named)


class AnnotatedTurn(NamedTuple):
    """One turn of the interaction. `number` is its 1-based position; `asked` is the turn it
    answers.

    `earlier` are the films that either speaker has named before it, ordered by last mention.
    """

    number: int
    by_system: bool
    failed: bool
    said: AnnotatedText
    asked: AnnotatedText | None
    earlier: tuple[str, ...]

    @property
    def utterance(self) -> MaskedText:
        """The text of the turn."""
        return self.said.utterance

    @property
    def new_films(self) -> tuple[TitleMention, ...]:
        """The films that this turn is the first to name."""
        seen = set(self.earlier)
        return tuple(film for film in self.said.named if film.key not in seen)


_BEGINNING = re.compile(r"(?:^|[.!?\n][\s\"'”)]{0,4})$")

Linker = Callable[[str], AnnotatedText]


def annotate(text: str, catalogue: Catalogue) -> AnnotatedText:
    """Find the films of the catalogue that `text` names, and its unlisted titles."""
    named = catalogue.mentions(text, keep=lambda film: not _mere_word(text, film))
    linked = [(film.start, film.end) for film in named if film.id is not None]
    return AnnotatedText(MaskedText(text, linked), named)


def _mere_word(text: str, film: TitleMention) -> bool:
    """Whether linked words are not meant as a title here.

    They are a genre ("a Crime movie"), or ordinary words ("the truth", "It follows a man") whose
    only capital is that of a sentence's beginning, in a text that uses capitals; and they are
    neither quoted nor followed by their year.
    """
    words = film.text
    quoted = text[film.start - 1 : film.start] in {'"', "“", "*"}
    if quoted or film.kind is MatchKind.WITH_YEAR or "(" in words or not text[:1].isupper():
        return words.isalpha() and not quoted and words.lower() in GENRE_WORDS
    if words.isalpha():
        return words.lower() in GENRE_WORDS or words.islower()
    begins = _BEGINNING.search(text[: film.start]) is not None
    plain = words[1:].islower() and (begins or words[0].islower())
    return plain and is_phrase(words.lower().split())


class AnnotatedLog:
    """A log with the data that the judges share, computed when first used."""

    def __init__(self, log: ConversationLog, catalogue: Catalogue, link: Linker):
        """`link` annotates one text; the panel's function caches repeated texts."""
        self.log = log
        self.catalogue = catalogue
        self._link = link

    @cached_property
    def history(self) -> tuple[AnnotatedText, ...]:
        """The annotated texts before the interaction."""
        return tuple(self._link(turn.text) for turn in self.log.scenario.history)

    @cached_property
    def turns(self) -> tuple[AnnotatedTurn, ...]:
        """The annotated turns of the interaction."""
        history = self.log.scenario.history
        last = history[-1] if history else None
        asked = self.history[-1] if last is not None and last.speaker is Speaker.USER else None
        named: dict[str, None] = {}
        for text in self.history:
            _name(named, text)
        turns: list[AnnotatedTurn] = []
        for number, turn in enumerate(self.log.interaction, start=1):
            said = self._link(turn.text)
            by_system = turn.speaker is Speaker.SYSTEM
            failed = turn.failure is not None
            turns.append(AnnotatedTurn(number, by_system, failed, said, asked, tuple(named)))
            _name(named, said)
            asked = None if by_system else said
        return tuple(turns)

    @cached_property
    def system(self) -> tuple[AnnotatedTurn, ...]:
        """The system's turns, including failed ones."""
        return tuple(turn for turn in self.turns if turn.by_system)

    @cached_property
    def spoken(self) -> tuple[AnnotatedTurn, ...]:
        """The system's turns that did not fail: those with a text to judge."""
        return tuple(turn for turn in self.system if not turn.failed)

    @cached_property
    def session(self) -> tuple[ItemRef, ...]:
        """The session-level list."""
        return self.log.session_list()

    @cached_property
    def session_items(self) -> tuple[Item, ...]:
        """The items of the session list that are in the catalogue."""
        return self.items_of(self.session)

    @cached_property
    def targets(self) -> tuple[Item, ...]:
        """The targets that are in the catalogue."""
        return self.items_of(self.log.scenario.targets)

    def items_of(self, refs: Iterable[ItemRef]) -> tuple[Item, ...]:
        """The catalogue's items for `refs`; unknown ones are left out."""
        known = (ref.id for ref in refs if ref.id is not None and ref.id in self.catalogue)
        return tuple(self.catalogue.item(id_) for id_ in known)


def _name(named: dict[str, None], text: AnnotatedText) -> None:
    for film in text.named:
        named.pop(film.key, None)
        named[film.key] = None
