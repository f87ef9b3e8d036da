"""The small judge as an evaluator of conversations."""

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from statistics import fmean
from textwrap import shorten
from typing import TYPE_CHECKING, Any, Literal

from pydantic import field_validator

from recjury.judges.evaluator import Evaluator
from recjury.judges.learned.checkpoint import (
    REPLIES,
    SATISFACTION,
    numbers_digest,
    read_description,
)
from recjury.judges.learned.shipped import judge_folder
from recjury.judges.levels import LevelChoice, chosen_levels
from recjury.plugins.extras import require_minilm
from recjury.records import (
    JSON,
    ConversationLog,
    ConversationRecord,
    Level,
    Metric,
    Rating,
    RatingSubject,
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
VERSION = 3

_METRICS = (
    Metric(
        id="reply_quality",
        title="Reply quality",
        group="Turns",
        level=Level.TURN,
        high=1,
        digits=3,
    ),
    Metric(
        id="turn_satisfaction",
        title="Satisfaction after the turn",
        group="Turns",
        level=Level.TURN,
        low=1,
        high=5,
        of_some=True,
    ),
    Metric(
        id="dialogue_reply_quality",
        title="Reply quality, whole dialogue",
        group="Dialogue",
        high=1,
        digits=3,
    ),
    Metric(id="satisfaction", title="Satisfaction", group="Dialogue", low=1, high=5),
)
_SCALES = {metric.id: (metric.low, metric.high) for metric in _METRICS}
_NO_ANSWER = "the system gave no answer in this turn"
_NO_TURN = "the system said nothing in this conversation"
_NO_REACTION = "the user said nothing after this turn"


class LearnedEvaluator(Evaluator):
    """The small judge: satisfaction and quality of replies, by a small encoder and no LLM.

    It must not be used to say whether a single conversation is good or to rank systems that write
    whole sentences: it tells garbled, copied and unfitting replies from people's, and knows neither
    facts nor whether a wish was met.

    `satisfaction` and `replies` are folders of judges that `recjury train` made; by default those
    in the package. `level` is what is rated. The history is read, but not rated.
    """

    kind: Literal["learned"] = "learned"
    level: LevelChoice = "both"
    satisfaction: str | None = None
    replies: str | None = None

    @field_validator("satisfaction", "replies")
    @classmethod
    def _some_folder(cls, folder: str | None) -> str | None:
        if folder is not None and not folder.strip():
            raise ValueError("name a folder, or leave the key out")
        return folder

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Those of the chosen levels."""
        return tuple(metric for metric in _METRICS if metric.level in chosen_levels(self.level))

    @property
    def without_effect(self) -> Mapping[str, Any]:
        """Which levels are rated, and the folders' names."""
        return {"level": True, "satisfaction": True, "replies": True}

    @property
    def stages(self) -> tuple[Stage, ...]:
        """There is one."""
        return (Stage(name=READ),)

    @property
    def sources(self) -> Mapping[str, JSON]:
        """The version of the reading, the encoder's, and the judges' numbers."""
        satisfaction, replies = self._folders
        return {
            "version": VERSION,
            "encoder": read_description(satisfaction, SATISFACTION).encoder,
            "judges": [numbers_digest(satisfaction), numbers_digest(replies)],
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
        rubric = f"learned/{VERSION}"
        subject = RatingSubject(
            evaluator=self.kind, factor=factor, low=low, high=high, rubric=rubric, turn=turn
        )
        if score is None:
            return subject.unscored(Status.NOT_APPLICABLE, said)
        return subject.scored(score, said)

    def _prepare(self) -> None:
        """Raise ConfigError if the extra `neural` or a judge is missing, and DataError if a judge
        cannot be read."""
        require_minilm(self.label)
        satisfaction, replies = self._folders
        read_description(satisfaction, SATISFACTION)
        read_description(replies, REPLIES)

    @cached_property
    def _folders(self) -> tuple[Path, Path]:
        """The judge of satisfaction, and that of replies."""
        satisfaction = judge_folder("satisfaction", _path(self.satisfaction))
        return satisfaction, judge_folder("replies", _path(self.replies))

    @cached_property
    def _thread(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(1, thread_name_prefix="learned")

    @cached_property
    def _satisfaction(self) -> "SatisfactionJudge":
        from recjury.judges.learned.judge import SatisfactionJudge

        return SatisfactionJudge(self._folders[0])

    @cached_property
    def _replies(self) -> "ReplyJudge":
        from recjury.judges.learned.judge import ReplyJudge

        return ReplyJudge(self._folders[1])


def _path(folder: str | None) -> Path | None:
    return None if folder is None else Path(folder)


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
