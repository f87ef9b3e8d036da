"""Fine-tuning of a causal language model on rated dialogues, as `recjury train` names it."""

from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from recjury.fine_tuning.progress import show_steps
from recjury.papers.quality.training import QualityTraining, train_dialogue_quality
from recjury.tables import AnalysisInput, Findings, Input, LocalTrainer


class QualityTrainer(LocalTrainer):
    """A language model with a LoRA adapter that rates dialogues, tested on a tenth of a subset.

    It learns from the other nine tenths, and is tested without the adapter, too.
    """

    source: ClassVar[str] = "Jia et al. (2024), table 3"
    needs: ClassVar[tuple[Input, ...]] = (Input.OUT, Input.DATA)

    model: Path = Field(description="the folder of a causal language model")
    subset: str = Field("ReDial", description="SGD, MWOZ, ReDial or CCPE")
    seed: int = Field(0, ge=0, le=2**63 - 1, description="of the split and of the training")
    labels: Literal["likert", "binary"] = Field(
        "likert", description="ratings from 1 to 5, or satisfied or not"
    )
    level: Literal["turn", "dialogue", "both"] = Field("dialogue", description="what is learned")

    def train(self, given: AnalysisInput) -> Findings:
        """Train and test. Raises UserError."""
        assert given.data is not None
        assert given.out is not None
        report = train_dialogue_quality(
            self.model,
            given.data,
            self.subset,
            given.out,
            seed=self.seed,
            options=QualityTraining(labels=self.labels, level=self.level),
            progress=show_steps(given.progress),
        )
        return Findings(report=report, notes=(f"{given.out}: the adapter and its report",))
