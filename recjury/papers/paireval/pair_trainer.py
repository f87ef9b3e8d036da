"""PairEval's fine-tuning of a causal language model with LoRA, as `recjury train` names it."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field

from recjury.fine_tuning.progress import show_steps
from recjury.papers.paireval.training import PairTraining, train_paireval
from recjury.tables import AnalysisInput, Findings, Input, LocalTrainer


class PairTrainer(LocalTrainer):
    """A language model with a LoRA adapter that compares replies, tested on the rated sets.

    No dialogue that holds a history of these sets is trained on.
    """

    source: ClassVar[str] = "PairEval, sections 3.2 and 4.1"
    needs: ClassVar[tuple[Input, ...]] = (Input.OUT, Input.DATA)

    model: Path = Field(description="the folder of a causal language model")
    seed: int = Field(0, ge=0, le=2**63 - 1, description="of all random numbers")
    pairs: int = Field(80_000, ge=1, description="how many pairs are learned")
    hard: float = Field(0.5, ge=0, le=1, description="the share of adversarial negatives")
    adversarial: Path | None = Field(None, description="a file of adversarial replies")
    direct: bool = Field(False, description="learn to rate each reply alone (DirectEval)")
    balanced: bool = Field(False, description="the longer reply is the better one in half")
    test: bool = Field(True, description="test it on the rated sets")

    def train(self, given: AnalysisInput) -> Findings:
        """Train and test. Raises UserError."""
        assert given.data is not None
        assert given.out is not None
        options = PairTraining.model_validate(
            {
                "plan": {
                    "pairs": self.pairs,
                    "hard": self.hard,
                    "balanced": self.balanced,
                    "method": "direct" if self.direct else "pairwise",
                },
                "adversarial": None if self.adversarial is None else str(self.adversarial),
                "test_rows": None if self.test else 0,
            }
        )
        given_to = (self.model, given.data, given.out)
        progress = show_steps(given.progress)
        report = train_paireval(*given_to, seed=self.seed, options=options, progress=progress)
        return Findings(report=report, notes=(f"{given.out}: the adapter and its report",))
