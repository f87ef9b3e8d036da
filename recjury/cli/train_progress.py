"""How far a training is, for people: a line for each epoch, and one that moves within it."""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from recjury.cli import output
from recjury.cli.moving import duration, moving

if TYPE_CHECKING:
    from recjury.agents.training.progress import Progress
    from recjury.agents.training.report import EpochReport

_EVERY = 30.0  # seconds between lines where there is no terminal


@contextlib.contextmanager
def watching_training() -> Iterator["Progress"]:
    """What to count the steps of a training with; shown on standard error while the block runs."""
    from recjury.agents.training.progress import Progress

    progress = Progress(_say_epoch)
    with moving(lambda: describe(progress), lambda: _share(progress), every=_EVERY):
        yield progress


def describe(progress: "Progress") -> str:
    """Part, epoch, batches and the time left if all epochs are needed, in one line."""
    if not progress.steps:
        return "reading data"
    left = progress.seconds_left()
    batch = progress.done - (progress.epoch - 1) * progress.steps
    return (
        f"{progress.part}, epoch {progress.epoch} of {progress.epochs} at most: "
        f"{batch}/{progress.steps} batches"
    ) + (f" · {duration(left)} left" if left else "")


def _share(progress: "Progress") -> float:
    return progress.done / max(1, progress.epochs * progress.steps)


def _say_epoch(report: "EpochReport") -> None:
    figures = ", ".join(f"{name} {value:.3f}" for name, value in report.figures.items())
    output.say(
        f"{report.part}, epoch {report.epoch}: loss {report.loss:.3f}, validation {figures} "
        f"({report.seconds:.0f} s)"
    )
