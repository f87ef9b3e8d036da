"""The small judge as a scorer of replies."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from recjury.judges.learned.checkpoint import REPLIES, read_description
from recjury.records import Response

if TYPE_CHECKING:
    from recjury.judges.learned.judge import ReplyJudge


class LearnedScorer:
    """Scores each reply to its history."""

    name = "learned"

    def __init__(self, folder: Path):
        """The judge in `folder` is loaded with the first reply.

        Raises ConfigError or DataError for a folder that holds no such judge.
        """
        read_description(folder, REPLIES)
        self._folder = folder

    async def scores(self, responses: Sequence[Response]) -> list[float | None]:
        """A score for each response, in order."""
        read = self._judge.read([(each.history, each.text) for each in responses])
        return [each.score for each in read]

    @cached_property
    def _judge(self) -> "ReplyJudge":
        from recjury.judges.learned.judge import ReplyJudge

        return ReplyJudge(self._folder)
