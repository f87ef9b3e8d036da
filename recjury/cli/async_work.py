"""Run asynchronous work for a command: event loop, progress, interruption."""

import contextlib
import sys
from collections.abc import Coroutine, Iterator
from typing import TypeVar

from recjury.campaign import Progress
from recjury.campaign.progress import UnitCounts
from recjury.cli.progress_line import duration, progress_line
from recjury.cli.telemetry_export import export_telemetry
from recjury.llm import cost_text, event_loop

T = TypeVar("T")

_EVERY = 10.0  # seconds between lines if there is no terminal


def await_work(work: Coroutine[None, None, T]) -> T:
    """The result of `work`."""
    with contextlib.closing(work):  # an interrupt may come before the loop begins it
        export_telemetry()
        with event_loop() as runner:
            return runner.run(work)


@contextlib.contextmanager
def show_progress(progress: Progress) -> Iterator[None]:
    """Show `progress` on standard error while the block runs, and its last state when it ends."""
    try:
        with progress_line(lambda: describe(progress), lambda: progress.share, every=_EVERY):
            yield
    finally:
        if progress.conversations.planned and not sys.stderr.isatty():
            sys.stderr.write(describe(progress) + "\n")


def describe(progress: Progress) -> str:
    """Conversations, evaluations, calls, tokens, cost and time left, in one line."""
    if not progress.conversations.planned:
        return progress.beginning
    parts = [f"{_counted(progress.conversations)} conversations"]
    parts += [f"{label} {_counted(counts)}" for label, counts in progress.evaluations.items()]
    usage = progress.usage
    if usage is not None:
        calls = [f"{usage.reused} reused", f"{usage.in_flight} in flight"]
        if usage.retried:  # otherwise a run against a busy endpoint seems to hang
            calls.append(f"{usage.retried} tried again")
        parts.append(f"{usage.calls} calls ({', '.join(calls)})")
        about = "about " if usage.estimated else ""  # some endpoints report no tokens
        parts.append(f"{about}{usage.prompt_tokens + usage.completion_tokens:,} tokens")
        cost = cost_text(usage.cost, usage.unpriced)
        parts.append(about + cost if cost.startswith("$") else cost)
        parts += filter(None, (progress_of() for progress_of in usage.deferred))
        parts += [
            f"{address} has not answered for {duration(progress.clock() - since)}"
            for address, since in dict(usage.down).items()
        ]
    left = progress.seconds_left()
    if progress.elsewhere:
        parts.append(f"conversations left with other processes: {progress.elsewhere}")
    elif left is not None and progress.remaining:
        parts.append(f"{duration(left)} left")
    return " · ".join(parts)


def _counted(counts: UnitCounts) -> str:
    failed = f" ({counts.failed} failed)" if counts.failed else ""
    return f"{counts.done}/{counts.planned}{failed}"
