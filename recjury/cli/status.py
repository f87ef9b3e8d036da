"""`recjury status`: what a store holds, and how far each campaign is."""

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from recjury.cli import options, output
from recjury.cli.plain_text import printable

if TYPE_CHECKING:
    from recjury.records import JSON
    from recjury.store import Campaign, Store


def status(
    store: options.Store = options.DEFAULT_STORE,
    campaign: options.Campaign = None,
    as_json: options.Json = False,
) -> None:
    """Show the campaigns of a store: trials done, failed and left, and what their calls cost.

    \b
    recjury status
    recjury status --campaign 3f2a --json
    """
    from recjury.store import Store as Kept

    with Kept.open(store, create=False) as kept:
        wanted = [kept.campaign(campaign)] if campaign else kept.campaigns()
        standing = [_standing(kept, each) for each in wanted]
    if as_json:
        output.emit_json({"campaigns": standing})
        return
    output.show_table(
        [
            "campaign",
            "name",
            "begun",
            "planned",
            "done",
            "failed",
            "left",
            "calls",
            "tokens",
            "USD",
        ],
        ([_shown(value) for value in each.values()] for each in standing),
    )


def _standing(store: "Store", campaign: "Campaign") -> dict[str, "JSON"]:
    outcomes = list(_endings(store, campaign))
    spent = store.spent(campaign.id)
    begun = time.strftime("%Y-%m-%d %H:%M", time.localtime(campaign.created_at or 0))
    return {
        "campaign": campaign.id,
        "name": campaign.name,
        "begun": begun,
        "planned": campaign.trials,
        "done": outcomes.count("done"),
        "failed": outcomes.count("failed"),
        "left": outcomes.count("left"),
        "calls": spent.calls,
        "tokens": spent.prompt_tokens + spent.completion_tokens,
        "cost": spent.cost,
    }


def _endings(store: "Store", campaign: "Campaign") -> Iterator[str]:
    """How each trial stands: done with its campaign's last stage or, where it has many, all."""
    config = campaign.setup.config
    assert isinstance(config, Mapping)
    debate = config["debate"]
    assert isinstance(debate, Mapping)
    wanted = set(config.get("stages") or ["rate" if debate["kind"] == "off" else "debate"])
    for outcome in store.outcomes(campaign.id):
        yield "done" if wanted <= outcome.stages else "failed" if outcome.failures else "left"


def _shown(value: "JSON") -> str:
    return f"{value:,.4f}" if isinstance(value, float) else printable(str(value))
