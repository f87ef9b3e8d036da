"""Comparison examples: what a response or dialogue is compared with, drawn with a seed.

Draws are nested: the first examples of a draw of three are the draws of one and of two with the
same seed, so figures for several numbers share their calls.
"""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self, TypeVar

from pydantic import BaseModel, ConfigDict, model_validator

from recjury.corpora.corpus import Corpus, TrainingExample
from recjury.corpora.dialogues import alternating
from recjury.errors import ConfigError, DataError
from recjury.input_files import read_rows
from recjury.judges.paireval.prompts import Contender
from recjury.records import Level, Speaker, Turn

T = TypeVar("T")

EXAMPLES = 3
"""The default number (Park et al., 2024, section 4.1.3)."""


def draw(pool: Sequence[T], number: int, seed: int) -> tuple[T, ...]:
    """`number` of `pool`, by the SHA-256 of the seed and each place. Raises ConfigError if there
    are fewer."""
    if number > len(pool):
        raise ConfigError(
            f"{number} comparison examples are wanted, and there are {len(pool)}: "
            "ask for fewer or name another source"
        )
    places = sorted(range(len(pool)), key=lambda place: _lot(seed, place))
    return tuple(pool[place] for place in places[:number])


def one_response_each(dialogues: Iterable[Sequence[Turn]], seed: int = 0) -> tuple[Contender, ...]:
    """One response of each dialogue, at a place after its first turn that is drawn with `seed`.

    Whoever speaks there is shown as the system, and the other one as the user. Dialogues of fewer
    than two turns give none.
    """
    found = []
    for number, turns in enumerate(dialogues):
        if len(turns) < 2:
            continue
        place = 1 + int.from_bytes(_lot(seed, number)[:8]) % (len(turns) - 1)
        found.append(response_at(turns, place))
    return tuple(found)


def response_at(turns: Sequence[Turn], place: int) -> Contender:
    """The turn at `place` as a response to those before it; its speaker is the system."""
    speaker = turns[place].speaker
    history = tuple(
        Turn(speaker=Speaker.SYSTEM if turn.speaker is speaker else Speaker.USER, text=turn.text)
        for turn in turns[:place]
    )
    return Contender(history, turns[place].text)


def corpus_pool(corpus: Corpus, split: str, level: Level) -> tuple[Contender, ...]:
    """What people said in a corpus: each recommending turn, or each dialogue up to its last one."""
    examples = corpus.examples(split)
    if level is Level.TURN:
        return tuple(map(_contender, examples))
    longest: dict[str, TrainingExample] = {}
    for each in examples:
        kept = longest.get(each.dialogue)
        if kept is None or len(each.context) >= len(kept.context):
            longest[each.dialogue] = each
    wholes = map(_contender, longest.values())
    return tuple(
        Contender((*each.turns, Turn(speaker=Speaker.SYSTEM, text=each.text or "")))
        for each in wholes
    )


class _ExampleLine(BaseModel):
    """A line of a file of examples: `turns`, or a `history` and the `response` to it."""

    model_config = ConfigDict(extra="ignore")

    turns: tuple[str, ...] = ()
    history: tuple[str, ...] = ()
    response: str | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if not self.turns and self.response is None:
            raise ValueError("expected `turns`, or `history` and `response`")
        return self


def file_pool(path: Path, level: Level, seed: int = 0) -> tuple[Contender, ...]:
    """The examples in a file of JSON lines, plain or gzipped.

    A line has the `turns` of a dialogue (texts, the oldest first), of which one response is drawn
    with `seed` for the level of turns, or a `history` and a `response`. Raises DataError.
    """
    whole: list[tuple[Turn, ...]] = []
    responses: list[Contender] = []
    for number, line in read_rows(path, _ExampleLine):
        if line.turns:
            whole.append(alternating(line.turns, Speaker.SYSTEM))
        elif level is Level.DIALOGUE:
            raise DataError("dialogues need `turns`, not a response", path=path, line=number)
        else:
            responses.append(Contender(alternating(line.history, Speaker.USER), line.response))
    if level is Level.DIALOGUE:
        return tuple(Contender(turns) for turns in whole)
    return (*responses, *one_response_each(whole, seed))


def _contender(example: TrainingExample) -> Contender:
    turns = tuple(
        Turn(speaker=(Speaker.USER, Speaker.SYSTEM)[place % 2], text=text)
        for place, text in enumerate(example.context)
        if text or place
    )
    return Contender(turns, example.response)


def _lot(seed: int, place: int) -> bytes:
    return hashlib.sha256(f"{seed}:{place}".encode()).digest()
