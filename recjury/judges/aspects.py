"""FACE's seven aspects of turns and dialogues (section 3.1), for all that rates by them."""

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import Field, model_validator

from recjury.files import nearest
from recjury.judges.criterion import CriteriaEvaluator, Criterion, criteria_of
from recjury.judges.subjects import Subject
from recjury.llm.prompts import Pack, pack
from recjury.records import Message, Metric, ModelName, PackName


class Aspects(CriteriaEvaluator):
    """Rates the `aspects` with one model, by default all seven.

    The aspects of the pack `prompts` are those that can be rated.
    """

    model: ModelName = "main"
    prompts: PackName = "judges/face"
    aspects: tuple[str, ...] = ()
    temperature: float = Field(default=0.6, ge=0, le=2)

    @model_validator(mode="after")
    def _aspects_are_known(self) -> "Aspects":
        known = [each.metric.name for each in criteria_of(self.pack)]
        for aspect in self.aspects:
            if aspect not in known:
                near = nearest(aspect, known)
                raise ValueError(f"there is no aspect {aspect!r}{near}: {', '.join(known)}")
        return self

    @property
    def pack(self) -> Pack:
        """The prompts."""
        return pack(self.prompts)

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The aspects that are rated."""
        known = criteria_of(self.pack)
        return tuple(c for c in known if not self.aspects or c.metric.name in self.aspects)

    @property
    def metrics(self) -> Sequence[Metric]:
        """One for each aspect, of turns or of dialogues."""
        return [criterion.metric for criterion in self.criteria]

    def raters(self) -> Iterable[tuple[Criterion, str]]:
        """Each aspect with the model."""
        return ((criterion, self.model) for criterion in self.criteria)

    def lacks(self, criterion: Criterion, subject: Subject) -> str:  # noqa: ARG002
        """Why nobody can rate it, or nothing: the prompts show no lists."""
        return subject.lacks

    def rendered(
        self, template: str, criterion: Criterion, subject: Subject, **values: Any
    ) -> list[Message]:
        """The prompt for a criterion of a turn or a log."""
        low, high = criterion.scale
        asked = self.pack.render(
            template,
            manifest=self.pack.manifest,
            guide=criterion,
            level=str(criterion.level),
            low=low,
            high=high,
            **subject.blocks,
            **values,
        )
        return [Message("system", self.pack.render("system")), Message("user", asked)]
