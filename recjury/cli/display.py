"""How far a campaign is, for people."""

import contextlib
import sys
from collections.abc import Iterator

from recjury.campaign.progress import Progress
from recjury.cli.moving import duration, moving

_EVERY = 10.0  # seconds between lines where there is no terminal


@contextlib.contextmanager
def watching(progress: Progress) -> Iterator[None]:
    """Show `progress` on standard error while the block runs, and how far it came."""
    try:
        with moving(lambda: describe(progress), lambda: _share(progress), every=_EVERY):
            yield
    finally:
        if progress.planned and not sys.stderr.isatty():
            sys.stderr.write(describe(progress) + "\n")


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
        parts.append(f"{duration(left)} left")
    return " · ".join(parts)


def _share(progress: Progress) -> float:
    return (progress.done + progress.failed) / max(1, progress.planned)
