"""What `recjury train paireval` and `dialogue-quality` do with --model: LoRA, with progress."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from recjury.cli import output
from recjury.cli.progress_line import progress_line

if TYPE_CHECKING:
    from recjury.fine_tuning import TuningStep
    from recjury.papers.paireval.training import PairTraining

_EVERY = 30.0  # seconds between lines if there is no terminal


def pair_training(
    *,
    pairs: int | None,
    hard: float | None,
    adversarial: Path | None,
    direct: bool,
    balanced: bool,
    test: bool,
) -> "PairTraining":
    """The options of the command; None is the paper's value. Without `test` no set is scored."""
    from recjury.papers.paireval.training import PairTraining

    given = {"pairs": pairs, "hard": hard, "balanced": balanced}
    plan = {name: value for name, value in given.items() if value is not None}
    return PairTraining.model_validate(
        {
            "plan": {**plan, "method": "direct" if direct else "pairwise"},
            "adversarial": None if adversarial is None else str(adversarial),
            "test_rows": None if test else 0,
        }
    )


def tune_paireval(model: Path, data: Path, out: Path, seed: int, chosen: "PairTraining") -> None:
    """Train, show the steps on standard error, and print the report as JSON. Raises UserError."""
    from recjury.papers.paireval.training import train_paireval

    with _steps_shown() as steps:
        found = train_paireval(model, data, out, seed=seed, options=chosen, progress=steps.append)
    output.emit_json(found)


def tune_dialogue_quality(
    model: Path,
    data: Path,
    subset: str,
    out: Path,
    seed: int,
    *,
    labels: Literal["likert", "binary"] | None,
    level: Literal["turn", "dialogue", "both"] | None,
) -> None:
    """Train, show the steps on standard error, and print the report as JSON. Raises UserError."""
    from recjury.papers.quality.training import QualityTraining, train_dialogue_quality

    chosen = QualityTraining(labels=labels or "likert", level=level or "dialogue")
    with _steps_shown() as steps:
        found = train_dialogue_quality(
            model, data, subset, out, seed=seed, options=chosen, progress=steps.append
        )
    output.emit_json(found)


@contextmanager
def _steps_shown() -> "Iterator[list[TuningStep]]":
    """A list whose last step is shown until the end."""
    steps: list[TuningStep] = []

    def line() -> str:
        if not steps:
            return "reading data"
        return f"step {steps[-1].number} of {steps[-1].steps}, loss {steps[-1].loss:.3f}"

    def share() -> float:
        return steps[-1].number / steps[-1].steps if steps else 0.0

    with progress_line(line, share, every=_EVERY):
        yield steps
