"""The live progress of a campaign: a moving line on a terminal, a line now and then elsewhere."""

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator

from recjury.campaign.progress import Progress

_PLAIN_EVERY = 10.0  # seconds between lines where there is no terminal


@contextlib.contextmanager
def watching(progress: Progress) -> Iterator[None]:
    """Show `progress` on standard error while the block runs."""
    show = _live if sys.stderr.isatty() else _plain
    with show(progress, lambda: describe(progress)):
        yield


def describe(progress: Progress) -> str:
    """Trials, calls, tokens, cost and time left, in one line."""
    usage = progress.usage
    if not progress.planned:
        return "reading data and loading systems"
    parts = [f"{progress.done}/{progress.planned} trials"]
    if progress.failed:
        parts.append(f"{progress.failed} failed")
    if usage is not None:
        calls = [f"{usage.reused} reused", f"{usage.in_flight} in flight"]
        if usage.retried:  # a busy endpoint looks like a dead run otherwise
            calls.append(f"{usage.retried} tried again")
        parts.append(f"{usage.calls} calls ({', '.join(calls)})")
        parts.append(f"{usage.prompt_tokens + usage.completion_tokens:,} tokens")
        parts.append(f"${usage.cost:.4f}")
    left = progress.seconds_left()
    if left is not None and progress.remaining:
        parts.append(f"{_duration(left)} left")
    return " · ".join(parts)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02}m" if hours else f"{minutes}m{rest:02}s" if minutes else f"{rest}s"


@contextlib.contextmanager
def _live(progress: Progress, line: Callable[[], str]) -> Iterator[None]:
    from rich.console import Console
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    def row() -> Table:
        grid = Table.grid(padding=(0, 1))
        finished = progress.done + progress.failed
        bar = ProgressBar(total=max(progress.planned, 1), completed=finished, width=30)
        grid.add_row(bar, line())
        return grid

    with Live(get_renderable=row, console=Console(stderr=True), refresh_per_second=4):
        yield


@contextlib.contextmanager
def _plain(progress: Progress, line: Callable[[], str]) -> Iterator[None]:
    over = threading.Event()

    def tell() -> None:
        # A thread of its own: the first trial may take long, and a silent run looks dead.
        while not over.wait(_PLAIN_EVERY):
            sys.stderr.write(line() + "\n")

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()
        if progress.planned:
            sys.stderr.write(line() + "\n")
