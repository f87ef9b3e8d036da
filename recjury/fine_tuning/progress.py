"""The steps of a fine-tuning as progress that is shown."""

from collections.abc import Callable

from recjury.fine_tuning.plan import TuningStep
from recjury.tables import WorkProgress


def show_steps(progress: WorkProgress) -> Callable[[TuningStep], None]:
    """What is called after each step."""

    def note(step: TuningStep) -> None:
        doing = f"step {step.number} of {step.steps}, loss {step.loss:.3f}"
        progress.at(step.number / step.steps, doing)

    return note
