"""The trainings of the small judges, which need no LLM, as `recjury train` names them."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from recjury.plugins.extras import require_minilm
from recjury.tables import AnalysisInput, Findings, Input, LocalTrainer

if TYPE_CHECKING:
    from recjury.judges.learned.optimising import LearnedStep
    from recjury.judges.learned.training import TrainedJudge

_RECENT = 20  # steps whose mean loss is shown


class SatisfactionTrainer(LocalTrainer):
    """A small judge of user satisfaction, tested on a tenth of a subset of USS.

    It learns from all of USS and from AB-ReDial, except for the tested tenth and dialogues that
    share utterances with it.
    """

    needs: ClassVar[tuple[Input, ...]] = (Input.OUT, Input.DATA)

    subset: str = Field("ReDial", description="SGD, MWOZ, ReDial, CCPE, or ab-redial")
    seed: int = Field(0, ge=0, le=2**63 - 1, description="of all random numbers")
    epochs: int = Field(3, ge=1, description="how often each dialogue is read")

    def train(self, given: AnalysisInput) -> Findings:
        """Train and test. Raises UserError."""
        from recjury.judges.learned.checkpoint import check_output
        from recjury.judges.learned.satisfaction_training import SatisfactionPlan
        from recjury.judges.learned.training import train_satisfaction

        assert given.data is not None
        assert given.out is not None
        require_minilm("train dialogue-quality")
        check_output(given.out)
        plan = SatisfactionPlan(seed=self.seed, epochs=self.epochs)
        return _findings(
            train_satisfaction(given.data, self.subset, given.out, plan, watch=_watch(given))
        )


class ReplyTrainer(LocalTrainer):
    """A small judge of replies, tested on the rated sets of PairEval.

    It learns from ReDial, MultiWOZ and recjury's samples, and from no reply to a history of these
    sets.
    """

    needs: ClassVar[tuple[Input, ...]] = (Input.OUT, Input.DATA)

    seed: int = Field(0, ge=0, le=2**63 - 1, description="of all random numbers")
    examples: int = Field(12_000, ge=100, description="how many replies are drawn for training")
    systems: str | None = Field(
        None, description="a file of systems' replies, as JSON lines: system, text, broken"
    )
    rank: int = Field(16, ge=1, description="the rank of the changes to the encoder")
    test: bool = Field(True, description="test it on the rated sets")

    def train(self, given: AnalysisInput) -> Findings:
        """Train and test. Raises UserError."""
        from recjury.judges.learned.checkpoint import check_output
        from recjury.judges.learned.reply_training import ReplyPlan
        from recjury.judges.learned.training import train_comparison

        assert given.data is not None
        assert given.out is not None
        require_minilm("train paireval")
        check_output(given.out)
        plan = ReplyPlan(seed=self.seed, examples=self.examples, rank=self.rank)
        return _findings(
            train_comparison(
                given.data,
                given.out,
                plan,
                systems=None if self.systems is None else Path(self.systems),
                test=self.test,
                watch=_watch(given),
            )
        )


def _watch(given: AnalysisInput) -> "Callable[[LearnedStep], None]":
    losses: list[float] = []

    def watch(step: "LearnedStep") -> None:
        losses.append(step.loss)
        recent = losses[-_RECENT:]
        doing = f"step {step.number} of {step.steps}, loss {sum(recent) / len(recent):.3f}"
        given.progress.at(step.number / step.steps, doing)

    return watch


def _findings(trained: "TrainedJudge") -> Findings:
    figures = (f"{name}: {found}" for name, found in trained.test.items())
    took = f"{trained.seconds:.0f} s ({trained.cpu_seconds:.0f} s of CPU)"
    notes = (f"trained on {trained.trained_on}", *figures, f"{trained.folder}: {took}")
    return Findings(notes=notes, report=trained.as_json())
