"""What evaluators of turns and dialogues share: levels, and words between which a model chooses."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

from recjury.judges.evaluator import Evaluator
from recjury.judges.subjects import Subject, subjects
from recjury.llm import Ask, gather
from recjury.llm.prompts import Pack, pack
from recjury.llm.reading import check_choices
from recjury.records import ConversationLog, Finding, Level, Metric, ModelName, PackName

LevelChoice = Literal["turn", "dialogue", "both"]
"""The key `level`."""


class LevelEvaluator(Evaluator):
    """Rates system turns, dialogues, or both with one model. A subclass has `findings`."""

    scale: ClassVar[tuple[int, int]] = (0, 1)

    model: ModelName = "main"
    prompts: PackName = ""
    level: LevelChoice = "both"

    @property
    def pack(self) -> Pack:
        """The prompts."""
        return pack(self.prompts)

    @property
    def titles(self) -> Mapping[Level, str]:
        """What the metrics are called in tables."""
        raise NotImplementedError

    @property
    def metrics(self) -> Sequence[Metric]:
        """`turn` and `dialogue`."""
        low, high = self.scale
        return [
            Metric(name=str(level), title=self.titles[level], low=low, high=high, level=level)
            for level in levels(self.level)
        ]

    async def rate(self, log: ConversationLog, ask: Ask) -> Sequence[Finding]:
        """What is found of each turn, and of the log. Raises Stop."""
        found = await gather(
            self.findings(subject, ask)
            for level in levels(self.level)
            for subject in subjects(log, level)
        )
        return [finding for findings in found for finding in findings]

    async def findings(self, subject: Subject, ask: Ask) -> list[Finding]:
        """The rating of a turn or a log, and its evidence."""
        raise NotImplementedError


def levels(choice: LevelChoice) -> tuple[Level, ...]:
    """What is rated: system turns, dialogues, or both."""
    return tuple(Level) if choice == "both" else (Level(choice),)


def words_of(pack: Pack, key: str) -> tuple[str, ...]:
    """The words under a key of a manifest. Raises UserError if they cannot be told apart."""
    words = pack.manifest.get(key)
    if not isinstance(words, list) or len(words) < 2 or {type(w) for w in words} != {str}:
        raise pack.error((key,), "a list of at least 2 words in quotes is wanted")
    try:
        check_choices(words)
    except ValueError as problem:
        raise pack.error((key,), str(problem)) from None
    return tuple(words)
