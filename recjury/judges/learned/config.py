"""The keys of the small judge in a campaign file."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import field_validator

from recjury.judges.config import EvaluatorConfig, EvaluatorContext
from recjury.records import Level, Metric

if TYPE_CHECKING:
    from recjury.judges.learned.evaluator import LearnedEvaluator

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


class LearnedConfig(EvaluatorConfig):
    """The small judge: satisfaction and quality of replies, by a small encoder and no LLM.

    `satisfaction` and `replies` are folders of judges that `recjury train` made; by default those
    in the package. `level` is what is rated.
    """

    kind: Literal["learned"] = "learned"
    level: Literal["turn", "dialogue", "both"] = "both"
    satisfaction: str | None = None
    replies: str | None = None

    @field_validator("satisfaction", "replies")
    @classmethod
    def _some_folder(cls, folder: str | None) -> str | None:
        if folder is not None and not folder.strip():
            raise ValueError("name a folder, or leave the key out")
        return folder

    def metrics(self, models: bool) -> tuple[Metric, ...]:  # noqa: ARG002 (it asks no model)
        """Those of the chosen levels."""
        return tuple(
            metric for metric in _METRICS if self.level == "both" or metric.level == self.level
        )

    def build(self, context: EvaluatorContext) -> "LearnedEvaluator":  # noqa: ARG002 (needs none)
        """Build the evaluator.

        Raises ConfigError if the extra `neural` or a judge is missing, and DataError if a judge
        cannot be read.
        """
        from recjury.judges.learned.shipped import judge_folder
        from recjury.plugins.extras import require_minilm

        require_minilm(self.label)
        folders = {
            kind: judge_folder(kind, Path(named) if named else None)
            for kind, named in (("satisfaction", self.satisfaction), ("replies", self.replies))
        }
        from recjury.judges.learned.evaluator import LearnedEvaluator

        return LearnedEvaluator(
            folders["satisfaction"],
            folders["replies"],
            self.metrics(models=False),
            name=self.label,
        )
