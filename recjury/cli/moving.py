"""A line on standard error that moves with the work: live on a terminal, else now and then."""

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def moving(line: Callable[[], str], share: Callable[[], float], *, every: float) -> Iterator[None]:
    """Show `line` and what `share` of the work is done, 0 to 1, while the block runs.

    `every` is the number of seconds between lines where there is no terminal.
    """
    with _live(line, share) if sys.stderr.isatty() else _plain(line, every):
        yield


def duration(seconds: float) -> str:
    """Seconds as people say them: 7s, 3m05s, 2h10m."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02}m" if hours else f"{minutes}m{rest:02}s" if minutes else f"{rest}s"


@contextlib.contextmanager
def _live(line: Callable[[], str], share: Callable[[], float]) -> Iterator[None]:
    from rich.console import Console
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    def row() -> Table:
        grid = Table.grid(padding=(0, 1))
        grid.add_row(ProgressBar(total=1.0, completed=share(), width=30), line())
        return grid

    with Live(get_renderable=row, console=Console(stderr=True), refresh_per_second=4):
        yield


@contextlib.contextmanager
def _plain(line: Callable[[], str], every: float) -> Iterator[None]:
    over = threading.Event()

    def tell() -> None:
        # A thread of its own: the first step may take long, and a silent run looks dead.
        while not over.wait(every):
            sys.stderr.write(line() + "\n")

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()
