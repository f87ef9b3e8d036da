"""How far a campaign is, for people."""

import contextlib
import sys
from collections.abc import Iterator

from recjury.campaign.progress import Progress, UnitCounts
from recjury.cli.moving import duration, moving
from recjury.llm import cost_text

_EVERY = 10.0  # seconds between lines where there is no terminal


@contextlib.contextmanager
def watching(progress: Progress) -> Iterator[None]:
    """Show `progress` on standard error while the block runs, and how far it came."""
    try:
        with moving(lambda: describe(progress), lambda: progress.share, every=_EVERY):
            yield
    finally:
        if progress.conversations.planned and not sys.stderr.isatty():
            sys.stderr.write(describe(progress) + "\n")


def describe(progress: Progress) -> str:
    """Conversations, evaluations, calls, tokens, cost and time left, in one line."""
    if not progress.conversations.planned:
        return "reading data and loading systems"
    parts = [f"{_counted(progress.conversations)} conversations"]
    parts += [f"{label} {_counted(counts)}" for label, counts in progress.evaluations.items()]
    usage = progress.usage
    if usage is not None:
        calls = [f"{usage.reused} reused", f"{usage.in_flight} in flight"]
        if usage.retried:  # a busy endpoint looks like a dead run otherwise
            calls.append(f"{usage.retried} tried again")
        parts.append(f"{usage.calls} calls ({', '.join(calls)})")
        parts.append(f"{usage.prompt_tokens + usage.completion_tokens:,} tokens")
        parts.append(cost_text(usage.cost, usage.unpriced))
    left = progress.seconds_left()
    if left is not None and progress.remaining:
        parts.append(f"{duration(left)} left")
    return " · ".join(parts)


def _counted(counts: UnitCounts) -> str:
    failed = f" ({counts.failed} failed)" if counts.failed else ""
    return f"{counts.done}/{counts.planned}{failed}"
