"""`recjury status`: the campaigns of a store, how far each is, and its calls to models."""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output
from recjury.cli.followed_campaign import follow_campaign
from recjury.safe_text import printable

if TYPE_CHECKING:
    from recjury.records import JSON
    from recjury.store import CallCounts, Campaign, CampaignCalls, Store

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


_SPENT = ("calls", "tokens", "USD")


def status(
    store: options.Store = options.DEFAULT_STORE,
    campaign: options.Campaign = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Show a running campaign until it has ended.")
    ] = False,
    every: Annotated[
        float,
        typer.Option(min=0.1, max=3600, metavar="SECONDS", help="How often --follow looks."),
    ] = 2.0,
    as_json: options.Json = False,
) -> None:
    """Show the campaigns of a store: what is done, failed and left, and what the calls cost.

    For one campaign (named, or the only one), its model calls by stage are shown, too. With
    --follow, a campaign that another process runs: also what is open at each endpoint.

    \b
    recjury status
    recjury status --campaign 3f2a --json
    recjury status --follow
    """
    from recjury.store import Store as Kept

    if follow:
        with Kept.open(store, read_only=True) as kept:
            follow_campaign(kept, campaign, every, as_json=as_json)
        return
    with Kept.open(store, read_only=True) as kept:
        wanted = [kept.campaign(campaign)] if campaign else kept.campaigns()
        standing = [_standing(kept, each) for each in wanted]
        counted = wanted if as_json or len(wanted) == 1 else []  # else they are not shown
        calls = {each.id: kept.call_counts(each.id) for each in counted}
    if as_json:
        for each in standing:
            each["model_calls"] = calls[str(each["campaign"])].as_json()
        output.emit_json({"campaigns": standing})
        return
    output.show_table(
        ["campaign", "name", "begun", "of", "planned", "done", "failed", "left", *_SPENT],
        (row for each in standing for row in _rows(each)),
    )
    for each in standing:
        if each["budget"] is not None and each["left"]:
            output.say(f"campaign {each['campaign']}: {each['left']}")
    for chosen, counts in calls.items():
        show_calls(counts, chosen)


def _standing(store: "Store", campaign: "Campaign") -> dict[str, "JSON"]:
    from recjury.results.budget_use import budget_use, left_text

    counts, spent = store.counts(campaign.id), store.spent(campaign.id)
    budget = budget_use(campaign, spent)
    return {
        "campaign": campaign.id,
        "name": campaign.name,
        "begun": time.strftime("%Y-%m-%d %H:%M", time.localtime(campaign.created_at or 0)),
        "conversations": counts.conversations.as_json(),
        "evaluations": {label: each.as_json() for label, each in counts.evaluations.items()},
        "calls": spent.calls,
        "tokens": spent.prompt_tokens + spent.completion_tokens,
        "cost": spent.cost,
        "estimated_calls": spent.estimated,
        "budget": None if budget is None else budget._asdict(),
        "left": left_text(counts, budget),
    }


def _rows(standing: dict[str, "JSON"]) -> Iterator[list[str]]:
    """A line of the campaign's conversations and costs, then one of each evaluator."""
    evaluations = standing["evaluations"]
    assert isinstance(evaluations, dict)
    campaign = [standing["campaign"], standing["name"], standing["begun"], "conversations"]
    about = "about " if standing["estimated_calls"] else ""
    cost = "unknown" if standing["cost"] is None else about + _shown(standing["cost"])
    spent = [standing["calls"], about + _shown(standing["tokens"]), cost]
    yield [_shown(value) for value in (*campaign, *_counts(standing["conversations"]), *spent)]
    for label, counts in evaluations.items():
        yield [_shown(value) for value in ("", "", "", label, *_counts(counts), "", "", "")]


def _counts(counts: "JSON") -> list["JSON"]:
    assert isinstance(counts, dict)
    return list(counts.values())


def _shown(value: "JSON") -> str:
    return f"{value:,.4f}" if isinstance(value, float) else printable(str(value))
