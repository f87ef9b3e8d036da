"""One line on standard error that says how far a run is."""

import shutil
import sys
import time
from collections.abc import Callable, Sequence

from recjury.campaign import Progress

_EVERY = 10.0  # seconds between two lines where there is no terminal
_ENOUGH = 5  # conversations from which the time left is guessed


def progress_line(now: Callable[[], float] = time.monotonic) -> Callable[[Progress], None]:
    """A function that shows progress: redrawn on a terminal, else a line every ten seconds."""
    redraws = sys.stderr.isatty()
    every, began, last = (0.2 if redraws else _EVERY), now(), now()

    def show(progress: Progress) -> None:
        nonlocal last
        over = progress.done == progress.left
        if now() - last < every and not (over and redraws):
            return
        last = now()
        line = _line(progress, last - began)
        if redraws:
            line = line[: shutil.get_terminal_size().columns - 1]
        sys.stderr.write(f"\r\x1b[K{line}" + ("\n" if over else "") if redraws else f"{line}\n")
        sys.stderr.flush()

    return show


def say_what_waits(lines: Sequence[str]) -> None:
    """A line for each model whose batches are to answer."""
    for line in lines:
        sys.stderr.write(f"{line}\n")


def _line(progress: Progress, seconds: float) -> str:
    line = (
        f"{progress.done}/{progress.left} conversations, {progress.sent:,} calls sent, "
        f"{progress.reused:,} found in the store"
    )
    if progress.trouble:
        return f"{line}; asked again: {progress.trouble}"
    if progress.done < min(_ENOUGH, progress.left):
        return line
    return f"{line}, about {_duration(seconds * (progress.left / progress.done - 1))} left"


def _duration(seconds: float) -> str:
    """7s, 3m05s, 2h10m."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02}m" if hours else f"{minutes}m{rest:02}s" if minutes else f"{rest}s"
