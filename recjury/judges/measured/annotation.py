"""One log, read once for all measured judges: its texts, the titles in them, its items."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import NamedTuple

from recjury.judges.measured.genres import GENRE_WORDS
from recjury.judges.measured.text import MaskedText, word_set
from recjury.knowledge import Catalogue, Mention
from recjury.records import ConversationLog, Item, ItemRef, Speaker

_YEAR = re.compile(r"\((?:18|19|20)\d\d\)")
_QUOTED = re.compile(r"[\"“]([A-Z0-9][^\"“”\n]{1,60})[\"”]")
_TITLE_WORDS = 10
_INSIDE_TITLES = word_set("a an and at for from in of on or the to vs with & -")


class NamedFilm(NamedTuple):
    """A film that a text names: `id` is None where no catalogue has it; `start` is its place."""

    start: int
    end: int
    name: str
    id: str | None

    @property
    def key(self) -> str:
        """What tells two films apart."""
        return self.id if self.id is not None else "?" + self.name.casefold()


class AnnotatedText(NamedTuple):
    """A text and the films it names, in order."""

    utterance: MaskedText
    named: tuple[NamedFilm, ...]

    @property
    def keys(self) -> frozenset[str]:
        """The films it names."""
        return frozenset(film.key for film in self.named)


class AnnotatedTurn(NamedTuple):
    """One turn of the interaction; `number` is its 1-based place, `asked` what it answers.

    `earlier` are the films that anyone has named before it, in order of their last naming.
    """

    number: int
    by_system: bool
    failed: bool
    said: AnnotatedText
    asked: AnnotatedText | None
    earlier: tuple[str, ...]

    @property
    def utterance(self) -> MaskedText:
        """What was said."""
        return self.said.utterance

    @property
    def new_films(self) -> tuple[NamedFilm, ...]:
        """The films that this turn is the first to name."""
        seen = set(self.earlier)
        return tuple(film for film in self.said.named if film.key not in seen)


Linker = Callable[[str], AnnotatedText]


def annotate(text: str, catalogue: Catalogue) -> AnnotatedText:
    """Link `text`, and find what looks like a title that the catalogue does not have.

    Such a look has only a name before a year in brackets, or a quoted name in capitals.
    """
    linked = [
        NamedFilm(*mention) for mention in catalogue.link(text) if not _mere_word(text, mention)
    ]
    spans = [(film.start, film.end) for film in linked]
    strangers = [film for film in _title_like(text) if _stands_free(film, spans)]
    return AnnotatedText(MaskedText(text, spans), tuple(sorted([*linked, *strangers], key=_place)))


def _mere_word(text: str, mention: Mention) -> bool:
    """Whether a linked single word is none but itself: a genre ("a Crime movie"), or in lower
    case in a text that has capitals, and neither quoted nor with its year."""
    word = mention.text
    if not word.isalpha() or text[mention.start - 1 : mention.start] in {'"', "“", "*"}:
        return False
    return word.lower() in GENRE_WORDS or (word.islower() and text[:1].isupper())


def _place(film: NamedFilm) -> tuple[int, int]:
    return film.start, film.end


def _stands_free(film: NamedFilm, spans: list[tuple[int, int]]) -> bool:
    """Whether none of `spans`, which are in order and apart, has a character of `film`."""
    last = bisect_left(spans, (film.end, 0)) - 1
    return last < 0 or spans[last][1] <= film.start


def _title_like(text: str) -> Iterable[NamedFilm]:
    for match in _YEAR.finditer(text):
        start = _title_start(text, match.start())
        if start is not None:
            yield NamedFilm(start, match.end(), text[start : match.end()], None)
    for match in _QUOTED.finditer(text):
        if _YEAR.search(match[1]) is None and any(c.islower() for c in match[1]):
            yield NamedFilm(match.start(1), match.end(1), match[1].strip(" .,!?"), None)


def _title_start(text: str, end: int) -> int | None:
    """Where the capitalised words before position `end` begin; None if there are none."""
    window = text[max(0, end - 120) : end]
    offset = end - len(window)
    start: int | None = None
    for match in list(re.finditer(r"\S+", window))[: -_TITLE_WORDS - 1 : -1]:
        word = match.group()
        if word[0].isupper() or word[0].isdigit():
            start = offset + match.start()
        elif word not in _INSIDE_TITLES:
            break
        if word[-1] in ".!?" and match.end() < len(window.rstrip()):
            break
    return start


class AnnotatedLog:
    """A log with everything the judges share, computed when first asked for."""

    def __init__(self, log: ConversationLog, catalogue: Catalogue, link: Linker):
        """`link` reads one text; the panel's remembers texts that recur."""
        self.log = log
        self.catalogue = catalogue
        self._link = link

    @cached_property
    def history(self) -> tuple[AnnotatedText, ...]:
        """The texts before the interaction."""
        return tuple(self._link(turn.text) for turn in self.log.scenario.history)

    @cached_property
    def turns(self) -> tuple[AnnotatedTurn, ...]:
        """The interaction."""
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
        """The system's turns, failed ones included."""
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
        """The items of the session list that the catalogue has."""
        return self.items_of(self.session)

    @cached_property
    def targets(self) -> tuple[Item, ...]:
        """The targets that the catalogue has."""
        return self.items_of(self.log.scenario.targets)

    def items_of(self, refs: Iterable[ItemRef]) -> tuple[Item, ...]:
        """The catalogue's items behind `refs`; what it does not have is left out."""
        known = (ref.id for ref in refs if ref.id is not None and ref.id in self.catalogue)
        return tuple(self.catalogue.item(id_) for id_ in known)


def _name(named: dict[str, None], text: AnnotatedText) -> None:
    for film in text.named:
        named.pop(film.key, None)
        named[film.key] = None
