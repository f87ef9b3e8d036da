"""What `recjury train paireval --model` does: LoRA for PairEval, with progress."""

from pathlib import Path
from typing import TYPE_CHECKING

from recjury.cli import output
from recjury.cli.progress_line import progress_line

if TYPE_CHECKING:
    from recjury.fine_tuning import TuningStep
    from recjury.judges.paireval.training import PairTraining

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
    from recjury.judges.paireval.training import PairTraining

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
    from recjury.judges.paireval.training import train_paireval

    last: list[TuningStep] = []

    def watch(step: "TuningStep") -> None:
        last[:] = [step]

    def line() -> str:
        if not last:
            return "reading data"
        return f"step {last[0].number} of {last[0].steps}, loss {last[0].loss:.3f}"

    def share() -> float:
        return last[0].number / last[0].steps if last else 0.0

    with progress_line(line, share, every=_EVERY):
        found = train_paireval(model, data, out, seed=seed, options=chosen, progress=watch)
    output.emit_json(found)
