"""The questions of a task: the guideline that the judges see, and an overall score without one."""

from collections.abc import Iterable, Sequence

from recjury.agreement.annotation.task import AnnotationQuestion, ShownConversation, TaskTurn
from recjury.errors import ConfigError
from recjury.judges.factor_rubric import Rubric
from recjury.judges.guideline import JudgePrompts
from recjury.prompts import load_pack
from recjury.records import (
    FACTOR_SCALE,
    OVERALL_SCALE,
    ConversationLog,
    Factor,
    Turn,
    metric_id,
)

OVERALL = AnnotationQuestion(
    id="overall",
    title="Overall: from 0 (you would never use this system) to 100 (you would always use it)",
    low=OVERALL_SCALE[0],
    high=OVERALL_SCALE[1],
)
PACKS = ("core", "core-paper")
_BY_ID = {metric_id(factor): factor for factor in Factor}


class RaterGuide:
    """The questions, from the pack that the judges read."""

    def __init__(self, pack: str = "core", chosen: Iterable[str] = ()):
        """`chosen` are ids ("overall"), by default all. Raises ConfigError for unknown names."""
        if pack not in PACKS:
            raise ConfigError(f"--guideline {pack}: expected {' or '.join(PACKS)}")
        self._rubric = Rubric(JudgePrompts(load_pack(f"{pack}-judges")))
        every = {each.id: each for each in (*map(self._question, Factor), OVERALL)}
        names = tuple(dict.fromkeys(chosen)) or tuple(every)
        for name in names:
            if name not in every:
                raise ConfigError(f"--question {name}: expected one of {', '.join(every)}")
        self.questions = tuple(every[name] for name in names)

    @property
    def identity(self) -> str:
        """Name, version and content hash of the pack."""
        return self._rubric.identity

    def _question(self, factor: Factor) -> AnnotationQuestion:
        guide = self._rubric.guides[factor]
        low, high = FACTOR_SCALE
        return AnnotationQuestion(
            id=metric_id(factor),
            title=str(factor),
            low=low,
            high=high,
            definition=guide.definition,
            anchors=guide.anchors,
            between=guide.between,
            steps=guide.steps,
            shows=guide.inputs,
        )

    def shown(self, log: ConversationLog, only: Iterable[str] | None = None) -> ShownConversation:
        """A conversation as raters see it, with the questions that it has what it needs for.

        `only` are the ids of the questions to ask, by default all.
        """
        wanted = {each.id for each in self.questions} if only is None else set(only)
        return ShownConversation(
            turns=(*_turns(log.scenario.history, history=True), *_turns(log.interaction)),
            items=tuple(item.name for item in log.session_list()),
            targets=tuple(item.name for item in log.scenario.targets),
            questions=tuple(
                each.id for each in self.questions if each.id in wanted and self._fits(each, log)
            ),
        )

    def _fits(self, question: AnnotationQuestion, log: ConversationLog) -> bool:
        factor = _BY_ID.get(question.id)
        return factor is None or not self._rubric.lacks(factor, log)


def _turns(turns: Sequence[Turn], *, history: bool = False) -> tuple[TaskTurn, ...]:
    return tuple(TaskTurn(speaker=each.speaker, text=each.text, history=history) for each in turns)
