"""The keys of an evaluator that asks one model."""

from recjury.judges.config import EvaluatorConfig
from recjury.llm import MAIN_MODEL


class OneModelConfig(EvaluatorConfig):
    """The entry of an evaluator that asks one model."""

    model: str = MAIN_MODEL

    def aliases(self, models: bool) -> list[tuple[str, str]]:  # noqa: ARG002 (it always asks)
        """The model."""
        return [(f"{self.label}.model", self.model)]
