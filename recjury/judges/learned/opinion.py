"""The small judge's opinion beside the measured judges, for three factors of CoRE."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from recjury.judges.learned.checkpoint import REPLIES, numbers_digest, read_description
from recjury.judges.measured.panel import MeasuredPanel
from recjury.records import JSON, ConversationLog, Factor, Rating, StageResult, Status

if TYPE_CHECKING:
    from recjury.judges.learned.judge import ReplyJudge

FACTORS = (Factor.COHERENCE, Factor.NATURALNESS, Factor.GRAMMATICAL_CORRECTNESS)
RARE = -1.645
"""Standard deviations: 5 of 100 replies of people are lower."""

_VERSION = 1
_WHAT = {
    Factor.COHERENCE: "fit their history",
    Factor.NATURALNESS: "are whole and free of slips",
    Factor.GRAMMATICAL_CORRECTNESS: "are whole and free of slips",
}
_ANCHORS = ((0.0, 4), (0.375, 3), (0.625, 2), (0.999, 1))


class MeasuredAndLearnedPanel:
    """Measured judges; for three factors the lower of their score and the small judge's.

    The small judge's score is 4 if none of the system's turns is worse than 95 in 100 replies of
    people, 0 if all are, and between by their share: up to 3/8, up to 5/8, more.
    """

    def __init__(self, measured: MeasuredPanel, replies: Path):
        """`replies` is the folder of a trained judge of replies. Raises ConfigError."""
        self._measured = measured
        self._folder = replies
        self._encoder = read_description(replies, REPLIES).encoder
        self._digest = numbers_digest(replies)

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Those of the measured judges, and the small judge's numbers."""
        learned: JSON = {"version": _VERSION, "encoder": self._encoder, "judge": self._digest}
        return {**self._measured.settings, "learned": learned}

    @property
    def data(self) -> Mapping[str, JSON]:
        """Those of the measured judges."""
        return self._measured.data

    def questions(self, log: ConversationLog) -> tuple[Rating, ...]:  # noqa: ARG002
        """None: no model is asked."""
        return ()

    async def rate(self, log: ConversationLog) -> StageResult:
        """Twelve ratings in the order of `Factor`, computed in a thread, and the measured judges'
        evidence."""
        measured = await self._measured.rate(log)
        ratings = await asyncio.to_thread(self._lowered, log, measured.ratings)
        return measured._replace(ratings=ratings)

    def debate_ratings(self, ratings: Sequence[Rating]) -> tuple[Rating, ...]:
        """All of them."""
        return self._measured.debate_ratings(ratings)

    def measure(self, log: ConversationLog) -> tuple[Rating, ...]:
        """The ratings, for synchronous callers."""
        return self._lowered(log, self._measured.measure(log))

    def _lowered(self, log: ConversationLog, ratings: tuple[Rating, ...]) -> tuple[Rating, ...]:
        places = [
            place for place in log.system_turn_indices if log.interaction[place].failure is None
        ]
        if not places:
            return ratings
        before = log.scenario.history
        found = self._judge.read(
            [((*before, *log.interaction[:at]), log.interaction[at].text) for at in places]
        )
        fit = sum(each.fit < RARE for each in found) / len(found)
        slips = sum(each.intact < RARE for each in found) / len(found)
        shares = dict.fromkeys(FACTORS, slips) | {Factor.COHERENCE: fit}
        return tuple(
            _lower(rating, shares[factor], len(places))
            if rating.status is Status.SCORED and (factor := Factor(rating.factor)) in shares
            else rating
            for rating in ratings
        )

    @cached_property
    def _judge(self) -> "ReplyJudge":
        from recjury.judges.learned.judge import ReplyJudge

        return ReplyJudge(self._folder)


def _lower(rating: Rating, share: float, turns: int) -> Rating:
    score = next((value for most, value in _ANCHORS if share <= most), 0)
    factor = Factor(rating.factor)
    low = round(share * turns)
    said = (
        f"small judge {score}: {low} of {turns} turns {_WHAT[factor]} less than 95 in 100 replies "
        f"of people; measured {rating.score:g}: {rating.rationale}"
    )
    kept = min(rating.score if rating.score is not None else score, score)
    return rating.model_copy(
        update={"score": kept, "rationale": said, "evaluator": "measured+learned"}
    )
