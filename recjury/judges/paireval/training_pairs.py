"""Pairs to learn from: a fitting response and one that does not fit (Park et al., 2024, 3.3).

A positive is an utterance of a dialogue after its history. A random negative is an utterance of
another dialogue in its place; an adversarial one was written to look fitting (Sai et al., 2020).
"""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field

from recjury.corpora.dialogues import (
    AdversarialReplies,
    read_adversarial_file,
    read_adversarial_replies,
    read_dialogues,
)
from recjury.corpora.leakage import RatedHistories
from recjury.errors import DataError
from recjury.judges.paireval.examples import response_at
from recjury.judges.paireval.prompts import Contender
from recjury.records import Record, Turn

TRAINING = "dailydialog.train"
_TRIES = 50
_ADVERSARIAL_SPLITS = ("dev", "test")


class PairPlan(Record):
    """Which pairs are made.

    `hard` is the share of adversarial negatives; without them, as many random ones take their
    place. In a share of `same_history` both responses have one history; in the others the negative
    has another one, as at evaluation (the paper does not say which). With `balanced`, the better
    response is the longer one in half of the pairs: DailyDialog++'s adversarial replies are longer
    than what they are compared with, and a model can learn that instead. `method` direct makes two
    examples of each pair, for DirectEval: a good and a bad response.
    """

    pairs: int = Field(default=80_000, ge=1)
    hard: float = Field(default=0.5, ge=0, le=1)
    same_history: float = Field(default=0.5, ge=0, le=1)
    balanced: bool = False
    method: Literal["pairwise", "direct"] = "pairwise"
    seed: int = 0


class TrainingPair(NamedTuple):
    """A better and a worse response; `is_first` says where the better one is shown."""

    better: Contender
    worse: Contender
    is_hard: bool
    is_first: bool


class TrainingDialogues(NamedTuple):
    """What pairs are made of, and how many dialogues and contexts were left out, because they hold
    a history of a rated set."""

    dialogues: tuple[tuple[Turn, ...], ...]
    adversarial: tuple[AdversarialReplies, ...]
    leaking: int


def read_training_dialogues(
    folder: Path,
    histories: RatedHistories,
    *,
    corpus: str = TRAINING,
    adversarial: Path | None = None,
) -> TrainingDialogues:
    """The dialogues of a corpus in `folder`, and adversarial replies: of DailyDialog++ there, or of
    a file of its form. Raises DataError for a file that is missing or malformed."""
    given = [turns for _, turns in read_dialogues(folder, corpus) if len(turns) > 1]
    if adversarial is None:
        replies = [
            each
            for split in _ADVERSARIAL_SPLITS
            for each in read_adversarial_replies(folder, split)
        ]
    else:
        replies = list(read_adversarial_file(adversarial))
    replies = [each for each in replies if each.adversarial and each.context]
    dialogues = [each for each in given if not histories.are_in(_texts(each))]
    kept = [each for each in replies if not histories.are_in(_texts(each.context))]
    leaking = len(given) - len(dialogues) + len(replies) - len(kept)
    return TrainingDialogues(tuple(dialogues), tuple(kept), leaking)


def training_pairs(data: TrainingDialogues, plan: PairPlan) -> Iterator[TrainingPair]:
    """The pairs, in random order; the same for the same data and plan.

    Raises DataError if there are no negatives: fewer than two dialogues, or no adversarial reply
    where some are wanted.
    """
    if len(data.dialogues) < 2:
        raise DataError(
            "the corpus has no negatives: random ones are utterances of other dialogues, and it "
            f"has {len(data.dialogues)} of two turns or more"
        )
    if plan.hard and not data.adversarial:
        raise DataError(
            "there are no adversarial replies: name a file of them, make one with `recjury "
            "analyse paireval.adversaries`, or train without them (hard 0)"
        )
    drawing = random.Random(plan.seed)
    hard = [number < round(plan.hard * plan.pairs) for number in range(plan.pairs)]
    drawing.shuffle(hard)
    for is_hard in hard:
        shares_history = drawing.random() < plan.same_history
        make = _hard_pair if is_hard else _random_pair
        better, worse = make(data, drawing, shares_history)
        if plan.balanced:
            longer = drawing.random() < 0.5
            for _ in range(_TRIES):
                if _is_longer(better, worse) is longer:
                    break
                better, worse = make(data, drawing, shares_history)
        yield TrainingPair(better, worse, is_hard, drawing.random() < 0.5)


def _random_pair(
    data: TrainingDialogues, drawing: random.Random, shares_history: bool
) -> tuple[Contender, Contender]:
    place, other, third = _three(drawing, len(data.dialogues))
    better = _positive(data.dialogues[place], drawing)
    history = better if shares_history else _positive(data.dialogues[third], drawing)
    wrong = drawing.choice(data.dialogues[other]).text
    return better, Contender(history.turns, wrong)


def _hard_pair(
    data: TrainingDialogues, drawing: random.Random, shares_history: bool
) -> tuple[Contender, Contender]:
    found = drawing.choice(data.adversarial)
    worse = Contender(found.context, drawing.choice(found.adversarial))
    if shares_history and found.positives:
        return Contender(found.context, drawing.choice(found.positives)), worse
    return _positive(drawing.choice(data.dialogues), drawing), worse


def _positive(turns: Sequence[Turn], drawing: random.Random) -> Contender:
    return response_at(turns, drawing.randrange(1, len(turns)))


def _is_longer(better: Contender, worse: Contender) -> bool:
    return len(better.text or "") > len(worse.text or "")


def _three(drawing: random.Random, size: int) -> tuple[int, int, int]:
    """Three places, of which the second differs from the other two."""
    second = drawing.randrange(size)
    others = [(second + drawing.randrange(1, size)) % size for _ in range(2)]
    return others[0], second, others[1]


def _texts(turns: Sequence[Turn]) -> list[str]:
    return [turn.text for turn in turns]
