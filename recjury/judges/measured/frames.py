"""Frames: what stays of a text when its items, names, numbers and kinds of items are masked.

A system that fills in templates says the same frames again and again, whatever the user says.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from recjury.judges.measured.annotated_log import AnnotatedText, AnnotatedTurn
from recjury.judges.measured.fluency import tokens_of
from recjury.judges.measured.genres import GENRE_WORDS
from recjury.judges.measured.text import MaskedText, word_set

ITEM, NUMBER, KIND = "<n>", "<d>", "<k>"
_SLOTS = frozenset({ITEM, NUMBER, KIND})
_KINDS = GENRE_WORDS | word_set(
    "film films movie movies book books novel novels song songs album albums place places "
    "restaurant restaurants product products series dramas thrillers romances mysteries musicals "
    "westerns documentaries biographies fiction"
)
_END = "."
_PHRASE = 4
_WORDS_OF_PHRASE = 3
_WORDS_OF_FRAME = 3
_WORDS_OF_FACT = 6
_REMEMBERED = 2048
_SHOWN = 7
_NAMES = {ITEM: "[name]", NUMBER: "[number]", KIND: "[kind]"}


@lru_cache(_REMEMBERED)
def frame_of(said: AnnotatedText) -> tuple[str, ...]:
    """The tokens of a text, with a sign for a run of names, numbers or kinds, and for an end."""
    spans = sorted({(film.start, film.end) for film in said.named})
    found: list[str] = []
    sentences = MaskedText(said.utterance.text, spans).sentences
    for clause in (clause for sentence in sentences for clause in sentence.clauses()):
        for token in tokens_of(clause):
            slot = KIND if token in _KINDS else token
            if slot == ",":
                continue
            if slot in _SLOTS and _joins(found, slot):
                continue
            found.append(slot)
        found.append(_END)
    return tuple(found)


def _joins(found: list[str], slot: str) -> bool:
    """Whether a slot belongs to the one before it, as in a list or a title with its year."""
    if found[-1:] == [slot] or (slot == NUMBER and found[-1:] == [ITEM]):
        return True
    if len(found) > 1 and found[-1] in {"and", "or"} and found[-2] == slot:
        found.pop()
        return True
    return False


def words_of(frame: Iterable[str]) -> list[str]:
    """The words of a frame that are no slots."""
    return [token for token in frame if token not in _SLOTS and token != _END]


def bare_facts(said: AnnotatedText, verbs: frozenset[str]) -> list[str]:
    """The clauses that state one value of one attribute and nothing else: "Ann Lee directed it".

    `verbs` are what stands between an item and a value, or a value and an item.
    """
    found: list[str] = []
    clause: list[str] = []
    for token in frame_of(said):
        if token != _END:
            clause.append(token)
            continue
        words = words_of(clause)
        text = " ".join(clause)
        short = 0 < len(words) < len(clause) and len(words) <= _WORDS_OF_FACT
        if short and any(f" {verb} " in f" {text} " for verb in verbs):
            found.append(shown(clause))
        clause = []
    return found


class Frames:
    """The frames that a system has used so far."""

    def __init__(self) -> None:
        self._phrases: set[tuple[str, ...]] = set()
        self._whole: dict[tuple[str, ...], list[int]] = {}

    def repeated(self, turn: AnnotatedTurn) -> tuple[float, str]:
        """The share of the turn's tokens in phrases that were used before, and the longest of them.

        A phrase has four tokens or more, three of them words, and may have been used earlier in the
        same turn.
        """
        frame = frame_of(turn.said)
        inside = [False] * len(frame)
        new: dict[tuple[str, ...], int] = {}
        for at in range(len(frame) - _PHRASE + 1):
            phrase = frame[at : at + _PHRASE]
            here = new.setdefault(phrase, at)
            known = phrase in self._phrases or here <= at - _PHRASE
            if known and len(words_of(phrase)) >= _WORDS_OF_PHRASE:
                inside[at : at + _PHRASE] = [True] * _PHRASE
        first = ""
        runs = "".join(
            "x" if is_in and token != _END else " "
            for token, is_in in zip(frame, inside, strict=True)
        )
        if "x" in runs:
            longest = max(runs.split(), key=len)
            start = runs.index(longest)
            first = shown(frame[start : start + min(len(longest), _SHOWN)])
        counted = [is_in for token, is_in in zip(frame, inside, strict=True) if token != _END]
        return (sum(counted) / len(counted) if counted else 0.0), first

    def same_as(self, turn: AnnotatedTurn) -> list[int]:
        """The earlier turns whose whole frame this turn has; none for a frame of few words."""
        frame = frame_of(turn.said)
        return self._whole.get(frame, []) if len(words_of(frame)) >= _WORDS_OF_FRAME else []

    def add(self, turn: AnnotatedTurn) -> None:
        """Remember a turn."""
        frame = frame_of(turn.said)
        self._whole.setdefault(frame, []).append(turn.number)
        self._phrases.update(frame[at : at + _PHRASE] for at in range(len(frame) - _PHRASE + 1))


def shown(frame: Sequence[str]) -> str:
    """A part of a frame as a reader sees it, up to the end of its sentence."""
    words = list(frame)
    if _END in words[1:]:
        words = words[: words.index(_END, 1)]
    return " ".join(_NAMES.get(token, token) for token in words if token != _END)
