"""Persuasiveness, by the simulated user after the conversation (CoRE 6.4; Wang et al. 2023a)."""

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from recjury.judges.evaluator import Evaluator, not_applicable, rating_of
from recjury.llm import Ask
from recjury.llm.prompts import items_block, pack, turns_block
from recjury.records import (
    ConversationLog,
    Finding,
    Message,
    Metric,
    ModelName,
    PackName,
    shipped_in,
)

_SCALE = (0, 2)


class Persuasiveness(Evaluator):
    """Asks the model that played the user how what was recommended compares with the target.

    0 is worse, 1 comparable, 2 better than the target or the target itself.
    """

    RENDERING: ClassVar[int] = 1

    kind: Literal["persuasiveness"] = "persuasiveness"
    model: ModelName = "main"
    prompts: Annotated[PackName, AfterValidator(shipped_in("judges", "persuasiveness"))] = (
        "judges/persuasiveness"
    )
    temperature: float = Field(default=0.0, ge=0, le=2)

    @property
    def metrics(self) -> Sequence[Metric]:
        """One, from 0 to 2."""
        return [Metric(name="persuasiveness", title="Persuasiveness", high=2)]

    async def rate(self, log: ConversationLog, ask: Ask) -> Sequence[Finding]:
        """The rating, or the reason why there is none. Raises Stop."""
        if missing := _lacks(log):
            return [rating_of(self.kind, self.model, not_applicable(missing))]
        said = await ask.rating(
            self._prompt(log),
            _SCALE,
            model=self.model,
            purpose="persuasiveness",
            temperature=self.temperature,
        )
        return [rating_of(self.kind, self.model, said)]

    def _prompt(self, log: ConversationLog) -> list[Message]:
        words, facts = pack(self.prompts), self.catalogue(log.scenario).facts
        parts = words.render(
            "persuasiveness",
            anchors=words.manifest["anchors"],
            targets=items_block("target_items", log.scenario.targets, facts),
            history=turns_block("history", log.scenario.history),
            interaction=turns_block("interaction", log.interaction),
            items=items_block("recommended", log.session_list),
        )
        return [Message("user", parts)]


def _lacks(log: ConversationLog) -> str:
    if not log.scenario.targets:
        return "the scenario has no target"
    if all(turn.failure for turn in log.interaction if turn.speaker == "system"):
        return "the system gave no usable answer"
    return ""
