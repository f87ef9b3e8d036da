"""Persuasiveness, by the simulated user after the conversation (CoRE 6.4; Wang et al. 2023a)."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator

from recjury.judges.criterion import CriteriaEvaluator, Criterion
from recjury.judges.subjects import Subject
from recjury.llm.prompts import items_block, pack, turns_block
from recjury.records import Message, Metric, ModelName, PackName, shipped_in


class Persuasiveness(CriteriaEvaluator):
    """Asks the model that played the user how what was recommended compares with the target.

    0 is worse, 1 comparable, 2 better than the target or the target itself.
    """

    kind: Literal["persuasiveness"] = "persuasiveness"
    model: ModelName = "main"
    prompts: Annotated[PackName, AfterValidator(shipped_in("judges", "persuasiveness"))] = (
        "judges/persuasiveness"
    )

    @property
    def metrics(self) -> Sequence[Metric]:
        """One, from 0 to 2."""
        return [criterion.metric for criterion, _ in self.raters()]

    def raters(self) -> Iterable[tuple[Criterion, str]]:
        """One criterion, whose anchors are the pack's, and the user's model."""
        anchors = pack(self.prompts).manifest["anchors"]
        yield (
            Criterion(
                name="Persuasiveness",
                definition="",
                anchors=anchors,
                scale=(0, 2),
                inputs=("target",),
            ),
            self.model,
        )

    def prompt(self, criterion: Criterion, subject: Subject) -> list[Message]:
        """The targets, the conversation and the list, as the user saw them."""
        scenario, facts = subject.log.scenario, self.catalogue(subject.log.scenario).facts
        parts = pack(self.prompts).render(
            "persuasiveness",
            anchors=criterion.anchors,
            targets=items_block("target_items", scenario.targets, facts),
            history=turns_block("history", scenario.history),
            interaction=turns_block("interaction", subject.log.interaction),
            items=items_block("recommended", subject.items),
        )
        return [Message("user", parts)]

    @property
    def purpose(self) -> str:
        """Its own: these are the user's calls."""
        return self.kind
