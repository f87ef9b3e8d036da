"""Dialogue corpora: DailyDialog, ConvAI2, DailyDialog++'s adversarial replies, worsened replies.

A folder has a file of JSON lines for each (docs/data.md), gzipped or not.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from recjury.corpora.json_rows import JsonRow
from recjury.input_files import read_rows
from recjury.records import Speaker, Turn

_OTHER = {Speaker.USER: Speaker.SYSTEM, Speaker.SYSTEM: Speaker.USER}


class AdversarialReplies(NamedTuple):
    """A context of DailyDialog++ (Sai et al. 2020) with five replies of each kind.

    `positives` fit; `adversarial` share words with the context and do not fit; `random` are
    positives of other contexts.
    """

    id: str
    context: tuple[Turn, ...]
    positives: tuple[str, ...]
    adversarial: tuple[str, ...]
    random: tuple[str, ...]


class RobustnessPair(NamedTuple):
    """A reply and a worse version of it, made by one kind of `attack` (Khalid and Lee 2022).

    `worse_history` differs from `history` in five pairs.
    """

    id: str
    attack: str
    history: tuple[Turn, ...]
    original: str
    worse: str
    worse_history: tuple[Turn, ...]


class _Dialogue(JsonRow):
    id: str
    turns: list[str]


class _Context(JsonRow):
    id: str
    context: list[str]
    positives: list[str]
    adversarial: list[str]
    random: list[str]


class _Attacked(JsonRow):
    id: str
    attack: str
    history: list[str]
    original: str
    perturbed: str
    perturbed_history: list[str] | None = None


def read_dialogues(folder: Path, name: str) -> Iterator[tuple[str, tuple[Turn, ...]]]:
    """Id and turns of each dialogue of a corpus ("dailydialog.train", "convai2.valid").

    The first speaker is the user. Raises DataError, with file and line, if it is malformed.
    """
    for _, row in read_rows(packed_or_plain(folder, name), _Dialogue):
        last = Speaker.USER if len(row.turns) % 2 else Speaker.SYSTEM
        yield row.id, alternating(row.turns, last)


def read_adversarial_replies(folder: Path, split: str) -> Iterator[AdversarialReplies]:
    """The contexts of a split ("dev", "test", "positives-only") of DailyDialog++.

    The replies are the system's. Raises DataError, with file and line, if it is malformed.
    """
    return read_adversarial_file(packed_or_plain(folder, f"dailydialogpp.{split}"))


def read_adversarial_file(path: Path) -> Iterator[AdversarialReplies]:
    """The contexts of a file in the form of DailyDialog++; raises as `read_adversarial_replies`."""
    for _, row in read_rows(path, _Context):
        yield AdversarialReplies(
            row.id,
            alternating(row.context, Speaker.USER),
            tuple(row.positives),
            tuple(row.adversarial),
            tuple(row.random),
        )


def read_robustness_pairs(folder: Path) -> Iterator[RobustnessPair]:
    """All pairs, in file order; 209 have the same text twice, 426 have no history.

    Raises DataError, with file and line, if the file is malformed.
    """
    for _, row in read_rows(packed_or_plain(folder, "robustness-pairs"), _Attacked):
        history = alternating(row.history, Speaker.USER)
        worse = row.perturbed_history
        yield RobustnessPair(
            row.id,
            row.attack,
            history,
            row.original,
            row.perturbed,
            history if worse is None else alternating(worse, Speaker.USER),
        )


def alternating(texts: Sequence[str], last: Speaker) -> tuple[Turn, ...]:
    """The texts as turns of two speakers who take turns; the last one is `last`'s."""
    first = last if len(texts) % 2 else _OTHER[last]
    return tuple(
        Turn(speaker=_OTHER[first] if place % 2 else first, text=text)
        for place, text in enumerate(texts)
    )


def packed_or_plain(folder: Path, name: str) -> Path:
    """The path of `name`.jsonl.gz in `folder`; without .gz if there is no such file."""
    packed = folder / f"{name}.jsonl.gz"
    return packed if packed.exists() else folder / f"{name}.jsonl"
