"""`recjury run --dry-run`: what would be done, and what it may cost."""

from typing import TYPE_CHECKING

from recjury.cli import output

if TYPE_CHECKING:
    from recjury.campaign.config import CampaignConfig


def show_estimate(config: "CampaignConfig", limit: int | None, *, as_json: bool) -> None:
    """Print trials, calls, tokens and cost; nothing is sent and nothing is written."""
    from recjury.campaign.estimate import estimate
    from recjury.campaign.preparation import draw_scenarios, open_sources

    scenarios, skipped = draw_scenarios(open_sources(config), config.seed, limit)
    drawn = {name: len(found) for name, found in scenarios.items()}
    bound = estimate(config, sum(drawn.values()))
    if as_json:
        output.emit_json({"scenarios": drawn, "skipped": len(skipped), **bound._asdict()})
        return
    output.show_table(
        ["at most", ""],
        [
            *((f"scenarios of {name}", str(n)) for name, n in drawn.items()),
            ("records skipped", str(len(skipped))),
            ("systems", ", ".join(system.name for system in config.systems)),
            ("trials", f"{bound.trials:,}"),
            ("model calls", f"{bound.calls:,}"),
            ("prompt tokens", f"{bound.prompt_tokens:,}"),
            ("completion tokens", f"{bound.completion_tokens:,}"),
            ("cost, USD", f"{bound.cost:,.2f}"),
        ],
    )
