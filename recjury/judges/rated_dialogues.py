"""Dialogues that people have rated, in the form of USS: for tests, and as examples in prompts.

A file has a line for each utterance, with four columns divided by tabs: speaker, text, action, and
ratings from 1 to 5 with commas; an empty line ends a dialogue, whose own ratings stand in the line
with the text OVERALL (Sun et al. 2021; Jia et al. 2024, section 4).
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Literal, NamedTuple

from recjury.corpora.drawing import lot
from recjury.errors import UserError
from recjury.files import read_text
from recjury.records import Level, Speaker, Turn, text_hash

if TYPE_CHECKING:
    import bm25s

Choice = Literal["random", "bm25"]
"""How examples are chosen: drawn, or the most similar ones."""

_LONG, _SHARED = 20, 3  # characters of an utterance, and how many of these copies share
_WORD = re.compile(r"\w+")
_SPEAKERS: dict[str, Speaker] = {"USER": "user", "SYSTEM": "system"}
_TEST_SHARE = 0.1


class RatedDialogue(NamedTuple):
    """A dialogue with its mean rating; of a turn, what was said up to the user's line that has it.

    `dialogue` is its place in the file.
    """

    dialogue: int
    turns: tuple[Turn, ...]
    rating: float


class Line(NamedTuple):
    """A line of a session; the speaker is None where the ratings are of the whole dialogue."""

    speaker: Speaker | None
    text: str
    ratings: tuple[int, ...]

    @property
    def rating(self) -> float | None:
        """The mean of the ratings, if there are any."""
        return fmean(self.ratings) if self.ratings else None


def rated_dialogues(path: Path, level: Level) -> tuple[RatedDialogue, ...]:
    """All rated dialogues of a file, or all their rated turns. Raises UserError."""
    found: list[RatedDialogue] = []
    for number, lines in enumerate(sessions(path)):
        turns = tuple(Turn(speaker=each.speaker, text=each.text) for each in lines if each.speaker)
        if level is Level.DIALOGUE:
            whole = (each.rating for each in lines if each.speaker is None)
            found += (
                RatedDialogue(number, turns, rating) for rating in whole if rating is not None
            )
            continue
        for place, line in enumerate(lines):
            if line.speaker == "user" and line.rating is not None and place:
                found.append(RatedDialogue(number, turns[: place + 1], line.rating))
    if not found:
        raise UserError(f"{path}: has no rated {level}s")
    return tuple(found)


def parted(
    rated: Sequence[RatedDialogue], seed: int
) -> tuple[tuple[RatedDialogue, ...], tuple[RatedDialogue, ...]]:
    """What examples are from, and what is for tests: a tenth of the dialogues, drawn by a seed."""
    dialogues = sorted({each.dialogue for each in rated}, key=lambda each: lot(seed, each))
    test = set(dialogues[: round(_TEST_SHARE * len(dialogues))])
    return (
        tuple(each for each in rated if each.dialogue not in test),
        tuple(each for each in rated if each.dialogue in test),
    )


def sessions(path: Path) -> Iterator[list[Line]]:
    """The lines of each dialogue. Raises UserError."""
    lines: list[Line] = []
    for number, text in enumerate((*read_text(path).split("\n"), ""), 1):
        if text.strip():
            lines.append(_line(text, f"{path}:{number}"))
        elif lines:
            yield lines
            lines = []


def _line(text: str, where: str) -> Line:
    columns = text.rstrip("\r").split("\t")
    if len(columns) != 4 or columns[0] not in _SPEAKERS:
        raise UserError(f"{where}: expected USER or SYSTEM, text, action and ratings, with tabs")
    speaker, said, _, ratings = columns
    try:
        given = tuple(map(int, ratings.split(","))) if ratings.strip() else ()
    except ValueError:
        raise UserError(f"{where}: expected ratings such as 4,3,4, got {ratings!r}") from None
    if not all(1 <= each <= 5 for each in given):
        raise UserError(f"{where}: expected ratings from 1 to 5, got {ratings!r}")
    return Line(None if said == "OVERALL" else _SPEAKERS[speaker], said, given)


class Examples:
    """Chooses examples for what is rated: never of the same dialogue or a copy of it."""

    def __init__(self, rated: Sequence[RatedDialogue], choice: Choice, seed: int):
        """`rated` is what is chosen from."""
        self._rated, self._seed = rated, seed
        # of one dialogue, the longest comes last
        self._long = {each.dialogue: _long(each.turns) for each in rated}
        self._index = _index(rated) if choice == "bm25" else None

    def of(
        self, turns: Sequence[Turn], whole: Sequence[Turn], number: int, draw: int
    ) -> list[RatedDialogue]:
        """`number` examples for `turns` of the dialogue `whole`; the most similar one is last.

        `draw` tells random draws apart.
        """
        own, chosen = _long(whole), list[RatedDialogue]()
        for place in self._places(_text(turns), draw):
            each = self._rated[place]
            shared = len(own & self._long[each.dialogue])
            if shared < max(1, min(_SHARED, len(own), len(self._long[each.dialogue]))):
                chosen.append(each)
            if len(chosen) == number:
                break
        return chosen[::-1]

    def _places(self, text: str, draw: int) -> Sequence[int]:
        places, words = range(len(self._rated)), _words(text)
        if self._index is None:
            rated = text_hash(text)
            return sorted(places, key=lambda place: lot(self._seed, draw, rated, place))
        if not words:
            return places
        found: list[int] = (-self._index.get_scores(words)).argsort(kind="stable").tolist()
        return found


def _index(rated: Sequence[RatedDialogue]) -> "bm25s.BM25":
    import bm25s

    index = bm25s.BM25()
    index.index([_words(_text(each.turns)) for each in rated], show_progress=False)
    return index


def _text(turns: Sequence[Turn]) -> str:
    return "\n".join(turn.text for turn in turns)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _long(turns: Sequence[Turn]) -> frozenset[str]:
    """The utterances by which copies of a dialogue are known."""
    texts = (" ".join(_words(turn.text)) for turn in turns)
    return frozenset(text for text in texts if len(text) >= _LONG)
