"""What is rated: a dialogue up to some turn, or as a whole; of USS with its label."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from recjury.corpora.splitting import families, split
from recjury.corpora.uss import UssSession
from recjury.records import ConversationLog, Level, Speaker, Turn

TEST_SHARE = 0.1
"""The share of the dialogues of USS that are for testing (Jia et al. 2024, section 4)."""

EXAMPLE_TURNS = 6
"""The most turns of an example that is about a turn: its last ones."""


class Subject(NamedTuple):
    """What is rated. Of a turn, `turns` are those up to the user's reaction to it, if there is one.

    `dialogue` names the dialogue, and `whole` are all its turns, which are not shown: subjects of
    one dialogue, or of its copies, are no examples for each other.
    """

    dialogue: str
    level: Level
    turns: tuple[Turn, ...]
    whole: tuple[Turn, ...]

    @property
    def text(self) -> str:
        """The text by which subjects are compared; of a turn, that of the last exchange."""
        turns = self.turns if self.level is Level.DIALOGUE else self.turns[-3:]
        return "\n".join(turn.text for turn in turns)


class LabelledSubject(NamedTuple):
    """A subject, and the mean of what people rated it, from 1 to 5."""

    subject: Subject
    label: float


class UssSplit(NamedTuple):
    """Sessions to learn from or to show as examples, and others to test with."""

    train: tuple[UssSession, ...]
    test: tuple[UssSession, ...]


def subject_of_log(log: ConversationLog, turn: int | None) -> Subject:
    """The system turn at index `turn` of the interaction, with what the user says to it; without a
    `turn`, the dialogue."""
    history, said = log.scenario.history, log.interaction
    whole = (*history, *said)
    if turn is None:
        return Subject(log.scenario.id, Level.DIALOGUE, whole, whole)
    end = turn + 1
    if said[end : end + 1] and said[end].speaker is Speaker.USER:
        end += 1
    return Subject(log.scenario.id, Level.TURN, (*history, *said[:end]), whole)


def labelled_subjects(sessions: Sequence[UssSession], level: Level) -> tuple[LabelledSubject, ...]:
    """The dialogues of USS, or their rated turns: the user's utterances, which show what the user
    thinks of the system's last turn."""
    if level is Level.DIALOGUE:
        return tuple(
            LabelledSubject(Subject(each.id, level, each.turns, each.turns), fmean(each.overall))
            for each in sessions
        )
    return tuple(
        LabelledSubject(
            Subject(each.id, level, each.turns[: place + 1], each.turns), fmean(ratings)
        )
        for each in sessions
        for place, ratings in enumerate(each.ratings)
        if ratings
    )


def uss_folder(data: Path) -> Path:
    """The folder of USS: `data` itself, or uss/ in it."""
    inside = data / "uss"
    return inside if inside.is_dir() else data


def split_uss(sessions: Sequence[UssSession], seed: int = 0) -> UssSplit:
    """A tenth of the dialogues for testing, drawn with `seed`; near copies are on one side."""
    said = {each.id: [turn.text for turn in each.turns] for each in sessions}
    chosen = split(families(said), share=1 - TEST_SHARE, seed=seed)
    train, test = set(chosen.train), set(chosen.validation)
    return UssSplit(
        tuple(each for each in sessions if each.id in train),
        tuple(each for each in sessions if each.id in test),
    )
