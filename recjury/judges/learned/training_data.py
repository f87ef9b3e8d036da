"""What the small judge learns from: rated dialogues, and replies that people gave.

It imports torch: import it late.
"""

import random
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from recjury.corpora import open_corpus
from recjury.corpora.ab_redial import read_ab_redial
from recjury.corpora.dialogues import alternating
from recjury.corpora.leakage import RatedHistories
from recjury.corpora.splitting import families, split
from recjury.corpora.uss import SUBSETS, read_uss
from recjury.errors import DataError
from recjury.input_files import read_rows
from recjury.judges.learned.reply_training import ReplyExample
from recjury.judges.learned.satisfaction_training import RatedExample
from recjury.records import Speaker

AB_REDIAL = "ab-redial"

_OWN = ("sample", "sample-books")
_SPLITS = {"redial": "valid", "sample": "train", "sample-books": "train"}  # the rest is for tests
_MULTIWOZ = "MWOZ"
_USS = "uss"
_TEST = 0.1  # of the dialogues
_BEFORE = 6  # turns


def location_of(data: Path, name: str) -> Path:
    """The folder `name` in `data`; `data` itself if there is none."""
    return data / name if (data / name).is_dir() else data


def satisfaction_examples(data: Path, subset: str) -> "list[RatedExample]":
    """The rated dialogues that are trained and tested on. Raises DataError."""
    if subset not in (*SUBSETS, AB_REDIAL):
        known = ", ".join((*SUBSETS, AB_REDIAL))
        raise DataError(f"there is no subset {subset!r}: expected one of {known}")
    folder = data / AB_REDIAL
    found = _of_ab_redial(folder) if subset == AB_REDIAL or folder.is_dir() else []
    if subset != AB_REDIAL:
        found += [each for name in SUBSETS for each in _of_uss(location_of(data, _USS), name)]
    return found


def split_by_family(
    examples: "Sequence[RatedExample]", subset: str, seed: int
) -> "tuple[list[RatedExample], list[RatedExample]]":
    """What is trained on, and the tested tenth of `subset`; no dialogue is near one of the other
    side."""
    family = families({each.id: [turn.text for turn in each.turns] for each in examples})
    own = {each.id: family[each.id] for each in examples if each.corpus == subset and each.overall}
    tested = set(split(own, share=1 - _TEST, seed=seed).validation)
    near = {family[name] for name in tested}
    train = [each for each in examples if family[each.id] not in near]
    return train, [each for each in examples if each.id in tested]


def _of_uss(folder: Path, subset: str) -> "list[RatedExample]":
    return [
        RatedExample(each.id, subset, each.turns, each.ratings, each.overall)
        for each in read_uss(folder, subset)
    ]


def _of_ab_redial(folder: Path) -> "list[RatedExample]":
    """Whole dialogues with their overall ratings, and excerpts whose system turn was rated: its
    rating stands at the user's reply, as in USS."""
    held = read_ab_redial(folder)
    found = [
        RatedExample(
            f"{AB_REDIAL}-{each.id}",
            AB_REDIAL,
            each.turns,
            ((),) * len(each.turns),
            each.ratings.get("dialogue_overall", ()),
        )
        for each in held.dialogues
    ]
    for rated in held.turns:
        if rated.reply is not None and rated.certain:
            turns = (*rated.context, rated.turn, rated.reply)
            given = (*((),) * (len(turns) - 1), rated.ratings.get("turn_overall", ()))
            found.append(RatedExample(f"{AB_REDIAL}-{rated.id}", AB_REDIAL, turns, given, ()))
    return found


def reply_examples(
    data: Path, rated: RatedHistories, seed: int
) -> "tuple[list[ReplyExample], int]":
    """Replies whose terms allow to ship what learned from them, to no rated history.

    They are the recommender's in ReDial (CC BY 4.0, the valid split of iEvaLM), as many of the
    system's in MultiWOZ (Apache-2.0, the texts of USS without its ratings), and those of the train
    split of the package's samples, each twice: other systems' broken replies are in their style.
    The second value counts those that were left out.
    """
    own = [each for name in _OWN for each in _of_corpus(name, None)] * 2
    redial = _of_corpus("redial", data)
    booking = _of_multiwoz(location_of(data, _USS))
    drawn = random.Random(seed).sample(booking, min(len(booking), len(redial)))
    every = [*redial, *drawn, *own]
    found = [each for each in every if not rated.are_in([turn.text for turn in each.history])]
    return found, len(every) - len(found)


class SystemReplyRow(BaseModel):
    """A reply of a system, and whether it is broken."""

    model_config = ConfigDict(strict=True)

    system: str
    text: str
    broken: bool


def read_system_replies(path: Path) -> list[SystemReplyRow]:
    """The replies of a file of JSON lines with "system", "text" and "broken".

    Other keys are ignored. Raises DataError, with file and line, if it is missing or malformed.
    """
    return [row for _, row in read_rows(path, SystemReplyRow)]


def _of_corpus(name: str, data: Path | None) -> "list[ReplyExample]":
    """The recommender's replies in the split of a corpus that is trained on."""
    found = []
    for each in open_corpus(name, data).examples(_SPLITS[name]):
        said = [text for text in each.context if text.strip()][-_BEFORE:]
        if said and each.response.strip():
            found.append(ReplyExample(alternating(said, Speaker.USER), each.response))
    return found


def _of_multiwoz(folder: Path) -> "list[ReplyExample]":
    """The system's replies, each with the turns before it."""
    return [
        ReplyExample(session.turns[max(0, place - _BEFORE) : place], turn.text)
        for session in read_uss(folder, _MULTIWOZ)
        for place, turn in enumerate(session.turns)
        if place and turn.speaker is Speaker.SYSTEM and turn.text.strip()
    ]
