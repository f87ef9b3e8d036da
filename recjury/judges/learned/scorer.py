"""The small judge as a scorer of replies, in both forms."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from recjury.judges.learned.checkpoint import REPLIES, read_description
from recjury.records import Response

if TYPE_CHECKING:
    from recjury.judges.learned.judge import ReplyJudge


class LearnedScorer:
    """Scores each reply alone; of two replies it reads both together."""

    def __init__(self, folder: Path, *, name: str = "learned"):
        """The judge in `folder` is loaded with the first reply.

        Raises ConfigError or DataError for a folder that holds no such judge.
        """
        read_description(folder, REPLIES)
        self._folder = folder
        self.name = name

    async def scores(self, responses: Sequence[Response]) -> list[float | None]:
        """A score for each response, in order."""
        read = self._judge.read([(each.history, each.text) for each in responses])
        return [each.score for each in read]

    @cached_property
    def _judge(self) -> "ReplyJudge":
        from recjury.judges.learned.judge import ReplyJudge

        return ReplyJudge(self._folder)


class LearnedPairScorer(LearnedScorer):
    """As `LearnedScorer`, and it reads two replies to one history together."""

    async def preferences(self, pairs: Sequence[tuple[Response, Response]]) -> list[float | None]:
        """The probability that the first of each pair is better; the first one's history is
        read."""
        found: list[float | None] = [
            *self._judge.preferences([(one.history, one.text, other.text) for one, other in pairs])
        ]
        return found
