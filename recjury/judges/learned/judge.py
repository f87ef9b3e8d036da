"""A trained judge that is ready to read: loaded once, used in one thread.

It imports torch: import it late.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from recjury.errors import DataError
from recjury.judges.learned.checkpoint import (
    DESCRIPTION,
    REPLIES,
    SATISFACTION,
    JudgeDescription,
    load_numbers,
    read_description,
)
from recjury.judges.learned.replies import ReplyNet, ReplyReader, ReplyReading
from recjury.judges.learned.satisfaction import SatisfactionNet
from recjury.judges.learned.satisfaction_training import SatisfactionPlan, rate_dialogues
from recjury.judges.learned.sequences import SequenceMaker
from recjury.records import Turn


class Satisfaction(NamedTuple):
    """Ratings from 1 to 5: of the dialogue, and of each turn (None for one that was cut)."""

    overall: float
    turns: tuple[float | None, ...]
    left_out: int


class SatisfactionJudge:
    """Rates how satisfied the user of a dialogue is."""

    def __init__(self, folder: Path):
        """Raises ConfigError or DataError for a folder that holds no such judge."""
        self.description: JudgeDescription = read_description(folder, SATISFACTION)
        try:
            plan = SatisfactionPlan.model_validate(dict(self.description.settings))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise DataError(
                f"settings: {where}: {first['msg']}", path=folder / DESCRIPTION
            ) from None
        self._longest = plan.longest
        self._net = SatisfactionNet(self.description.rank)
        load_numbers(folder, self._net)
        self._maker = SequenceMaker()

    def rate(self, dialogue: Sequence[Turn]) -> Satisfaction:
        """The ratings of a dialogue with at least one turn."""
        found = rate_dialogues(self._net, [dialogue], self._maker, longest=self._longest)
        turns = found.turns[0].tolist()
        left_out = sum(value != value for value in turns)  # nan
        kept = tuple(None if value != value else value for value in turns)
        return Satisfaction(float(found.overall[0]), kept, left_out)


class ReplyJudge:
    """Scores replies to a history."""

    def __init__(self, folder: Path):
        """Raises ConfigError or DataError for a folder that holds no such judge."""
        self.description: JudgeDescription = read_description(folder, REPLIES)
        net = ReplyNet(self.description.rank)
        load_numbers(folder, net)
        self._reader = ReplyReader(net, SequenceMaker())

    def read(self, replies: Sequence[tuple[Sequence[Turn], str]]) -> list[ReplyReading]:
        """What is found in each reply, with its score; people's have a mean of about 0."""
        return self._reader.read(replies)
