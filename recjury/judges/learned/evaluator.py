"""The small judge as an evaluator of conversations."""

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from statistics import fmean
from textwrap import shorten
from typing import TYPE_CHECKING

from recjury.judges.learned.checkpoint import (
    REPLIES,
    SATISFACTION,
    JudgeDescription,
    numbers_digest,
    read_description,
)
from recjury.records import (
    JSON,
    ConversationLog,
    ConversationRecord,
    Level,
    Metric,
    Rating,
    Speaker,
    Stage,
    StageResult,
    Status,
    Turn,
)

if TYPE_CHECKING:
    from recjury.judges.learned.judge import ReplyJudge, SatisfactionJudge
    from recjury.judges.learned.replies import ReplyReading

READ = "read"
VERSION = 2

_SCALES: Mapping[str, tuple[int, int]] = {
    "reply_quality": (0, 1),
    "dialogue_reply_quality": (0, 1),
    "turn_satisfaction": (1, 5),
    "satisfaction": (1, 5),
}
_NO_ANSWER = "the system gave no answer in this turn"
_NO_TURN = "the system said nothing in this conversation"
_NO_REACTION = "the user said nothing after this turn"


class LearnedEvaluator:
    """Rates every turn, and the conversation: the history is read, but not rated."""

    kind = "learned"
    stages = (Stage(name=READ),)
    open_at_once: int | None = None
    data: Mapping[str, JSON] = {}

    def __init__(
        self, satisfaction: Path, replies: Path, metrics: Sequence[Metric], *, name: str = "learned"
    ):
        """`satisfaction` and `replies` are folders of trained judges; they are loaded with the
        first conversation. Raises ConfigError or DataError if one cannot be used."""
        self._folders = (satisfaction, replies)
        self._described: tuple[JudgeDescription, ...] = (
            read_description(satisfaction, SATISFACTION),
            read_description(replies, REPLIES),
        )
        self._digests: list[JSON] = [numbers_digest(folder) for folder in self._folders]
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="learned")
        self.name = name
        self.metrics = tuple(metrics)

    @property
    def settings(self) -> Mapping[str, JSON]:
        """The version of the reading, the encoder's, and the judges' numbers."""
        return {
            "version": VERSION,
            "encoder": self._described[0].encoder,
            "judges": self._digests,
        }

    async def evaluate(
        self,
        stage: str,  # noqa: ARG002 (there is one)
        record: ConversationRecord,
        done: Mapping[str, StageResult],  # noqa: ARG002
    ) -> StageResult:
        """The ratings of the turns and of the conversation, computed in a thread."""
        loop = asyncio.get_running_loop()
        ratings = await loop.run_in_executor(self._thread, self._rate, record.log)
        return StageResult(ratings)

    def _rate(self, log: ConversationLog) -> tuple[Rating, ...]:
        wanted = {metric.id for metric in self.metrics}
        return tuple(
            rating
            for rating in (*self._of_replies(log), *self._of_satisfaction(log))
            if rating.factor in wanted
        )

    def _of_replies(self, log: ConversationLog) -> list[Rating]:
        """How good each reply is, and their mean."""
        answered = [
            index for index in log.system_turn_indices if log.interaction[index].failure is None
        ]
        before = log.scenario.history
        read = self._replies.read(
            [((*before, *log.interaction[:at]), log.interaction[at].text) for at in answered]
        )
        found = dict(zip(answered, read, strict=True))
        ratings = [
            self._rating("reply_quality", found[at].quality, _described(found[at]), turn=at)
            if at in found
            else self._rating("reply_quality", None, _NO_ANSWER, turn=at)
            for at in log.system_turn_indices
        ]
        if not found:
            return [*ratings, self._rating("dialogue_reply_quality", None, _NO_TURN)]
        mean = fmean(each.quality for each in read)
        said = f"the mean of {len(read)} replies"
        return [*ratings, self._rating("dialogue_reply_quality", mean, said)]

    def _of_satisfaction(self, log: ConversationLog) -> list[Rating]:
        """How satisfied the user seems: with the dialogue, and in what is said after each turn."""
        turns = (*log.scenario.history, *log.interaction)
        history = len(log.scenario.history)
        if not log.system_turns:
            return [self._rating("satisfaction", None, _NO_TURN)]
        found = self._satisfaction.rate(turns)
        said = f"{len(turns)} turns read"
        if found.left_out:
            said = _cut(found.left_out, len(turns))
        ratings = [self._rating("satisfaction", found.overall, said)]
        for index in log.system_turn_indices:
            after = _reaction(log.interaction, index)
            value, said = None, _NO_REACTION
            if after is not None:
                # Nothing that follows the user's reaction is read.
                end = history + after + 1
                found = self._satisfaction.rate(turns[:end])
                value = found.turns[-1]
                answer = shorten(log.interaction[after].text, 80, placeholder=" ...")
                said = f"read in the user's answer: {answer}"
                if found.left_out:
                    said = f"{said}; {_cut(found.left_out, end)}"
            ratings.append(self._rating("turn_satisfaction", value, said, turn=index))
        return ratings

    def _rating(
        self, factor: str, score: float | None, said: str, *, turn: int | None = None
    ) -> Rating:
        """`said` is the rationale of a score, and the reason if there is none."""
        low, high = _SCALES[factor]
        return Rating(
            evaluator=self.kind,
            factor=factor,
            score=score,
            status=Status.NOT_APPLICABLE if score is None else Status.SCORED,
            reason=said if score is None else "",
            rationale="" if score is None else said,
            level=Level.DIALOGUE if turn is None else Level.TURN,
            turn=turn,
            low=low,
            high=high,
            rubric=f"learned/{VERSION}",
        )

    @cached_property
    def _satisfaction(self) -> "SatisfactionJudge":
        from recjury.judges.learned.judge import SatisfactionJudge

        return SatisfactionJudge(self._folders[0])

    @cached_property
    def _replies(self) -> "ReplyJudge":
        from recjury.judges.learned.judge import ReplyJudge

        return ReplyJudge(self._folders[1])


def _described(found: "ReplyReading") -> str:
    """What was found in a reply, in words."""
    copied = f"; {found.copied:.0%} of its words are copied" if found.copied else ""
    unread = f"; its last {found.unread} tokens were not read" if found.unread else ""
    return (
        f"against the mean of people's replies, in standard deviations: fits its history "
        f"{found.fit:+.2f}, whole and free of slips {found.intact:+.2f}{copied}{unread}"
    )


def _cut(left_out: int, turns: int) -> str:
    return f"the oldest {left_out} of {turns} turns were left out: the encoder reads no more"


def _reaction(interaction: Sequence[Turn], index: int) -> int | None:
    """The next turn of the user after a system turn, if it is there."""
    after = index + 1
    there = after < len(interaction) and interaction[after].speaker is Speaker.USER
    return after if there else None
