"""One line of progress on standard error: redrawn on a terminal, otherwise printed at intervals."""

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

_BAR_WIDTH = 30


@contextlib.contextmanager
def progress_line(
    line: Callable[[], str], share: Callable[[], float], *, every: float
) -> Iterator[None]:
    """Show what `line` returns, and the `share` of the work that is done, while the block runs.

    `share` is from 0 to 1. `every` is the number of seconds between lines if there is no terminal.
    """
    with _live(line, share) if sys.stderr.isatty() else _plain(line, every):
        yield


def duration(seconds: float) -> str:
    """Seconds in a short form: 7s, 3m05s, 2h10m."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02}m" if hours else f"{minutes}m{rest:02}s" if minutes else f"{rest}s"


@contextlib.contextmanager
def _live(line: Callable[[], str], share: Callable[[], float]) -> Iterator[None]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn
    from rich.table import Column

    class Bar(Progress):
        """A progress bar that asks for its state each time it is drawn."""

        def get_renderables(self) -> "Iterator[RenderableType]":
            for task in self.tasks:
                self.update(task.id, completed=share(), description=line())
            yield from super().get_renderables()

    text = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=False))
    console = Console(stderr=True)
    with Bar(BarColumn(_BAR_WIDTH), text, console=console, refresh_per_second=4) as bar:
        bar.add_task("", total=1.0)
        yield


@contextlib.contextmanager
def _plain(line: Callable[[], str], every: float) -> Iterator[None]:
    over = threading.Event()

    def print_lines() -> None:
        # A thread: the first step may take long, and a run that prints nothing seems to hang.
        last = ""
        while not over.wait(every):
            text = line()
            if text != last:
                sys.stderr.write(text + "\n")
            last = text

    printer = threading.Thread(target=print_lines, daemon=True)
    printer.start()
    try:
        yield
    finally:
        over.set()
        printer.join()
