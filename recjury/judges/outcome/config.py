"""Configuration of the outcome evaluator. It has no option but a name."""

from typing import TYPE_CHECKING, ClassVar, Literal

from recjury.judges.config import EvaluatorConfig, EvaluatorContext
from recjury.judges.outcome.metrics import METRICS
from recjury.records import Metric

if TYPE_CHECKING:
    from recjury.judges.outcome.evaluator import OutcomeEvaluator


class OutcomeConfig(EvaluatorConfig):
    """Recall, rounds, leaks, time, cost; and Persuasiveness, which the simulated user rates."""

    kind: Literal["outcome"] = "outcome"

    asks_user: ClassVar[bool] = True

    def metrics(self, models: bool) -> tuple[Metric, ...]:  # noqa: ARG002 (always the same)
        """Always the same."""
        return METRICS

    def build(self, context: EvaluatorContext) -> "OutcomeEvaluator":
        """Build the evaluator; the user in `context` rates Persuasiveness."""
        from recjury.judges.outcome.evaluator import OutcomeEvaluator

        user = context.user
        models = {} if user is None else context.reply_settings([user.name])
        return OutcomeEvaluator(user, name=self.label, models=models)
