"""The table of a campaign's model calls by stage and model, as `recjury status` shows it."""

from typing import TYPE_CHECKING

from recjury.cli import output

if TYPE_CHECKING:
    from recjury.store import CallCounts, CampaignCalls

_HEADINGS = (
    *("stage", "model", "calls", "tokens in", "cached", "tokens out", "USD"),
    *("p50 s", "p90 s", "p99 s", "retries", "waited s"),
)


def show_calls(counts: "CampaignCalls", campaign: str) -> None:
    """Print a row for each stage and model, and one for all calls; nothing without calls."""
    if counts.total is None:
        return
    rows = [_row(each) for each in (*counts.by_stage, counts.total)]
    output.show_table(_HEADINGS, rows, title=f"model calls of {campaign}")
    if counts.total.waits_unknown:
        output.say(f"waits of {counts.total.waits_unknown:,} calls are not known")


def _row(counts: "CallCounts") -> list[str]:
    about = "about " if counts.estimated else ""
    cost = "unknown" if counts.cost is None else f"{about}{counts.cost:,.4f}"
    waited = "-" if counts.waited is None else f"{counts.waited:,.1f}"
    return [
        counts.stage or "all",
        counts.model or "",
        f"{counts.calls:,}",
        f"{about}{counts.prompt_tokens:,}",
        f"{counts.cached_tokens:,}",
        f"{about}{counts.completion_tokens:,}",
        cost,
        *(f"{latency:,.2f}" for latency in (counts.p50, counts.p90, counts.p99)),
        f"{counts.retries:,}",
        waited,
    ]
