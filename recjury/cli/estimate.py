"""`recjury run --dry-run`: what would be done, and what it may cost."""

from typing import TYPE_CHECKING

from recjury.cli import output

if TYPE_CHECKING:
    from recjury.campaign.config import CampaignConfig
    from recjury.campaign.estimate import Estimate


def show_estimate(config: "CampaignConfig", limit: int | None, *, as_json: bool) -> None:
    """Print trials, calls, tokens and cost; nothing is sent and nothing is written."""
    from recjury.campaign.estimate import drawn, estimate
    from recjury.campaign.preparation import draw_scenarios, open_sources

    opened = open_sources(config)
    scenarios, skipped = draw_scenarios(opened, config.seed, limit)
    items = {corpus.name: len(corpus.catalogue) for _, corpus in opened}
    bound = estimate(config, [drawn(name, some, items[name]) for name, some in scenarios.items()])
    counts = {name: len(found) for name, found in scenarios.items()}
    if as_json:
        shares = [share._asdict() for share in bound.breakdown]
        shown = {**bound._asdict(), "breakdown": shares, "once": bound.once._asdict()}
        output.emit_json({"scenarios": counts, "skipped": len(skipped), **shown})
        return
    output.show_table(
        ["", ""],
        [
            *((f"scenarios of {name}", str(n)) for name, n in counts.items()),
            ("records skipped", str(len(skipped))),
            ("systems", ", ".join(system.name for system in config.systems)),
            ("trials", f"{bound.trials:,}"),
        ],
    )
    _show_calls(bound)


def _show_calls(bound: "Estimate") -> None:
    if not bound.breakdown:
        output.say("no model is called")
        return
    output.show_table(
        ["model calls", "if nothing is asked twice", "at most"],
        [
            *(
                (f"{share.model}: {share.kind}", f"{share.once:,}", f"{share.most:,}")
                for share in bound.breakdown
            ),
            ("calls", f"{bound.once.calls:,}", f"{bound.calls:,}"),
            ("prompt tokens, about", f"{bound.once.prompt_tokens:,}", f"{bound.prompt_tokens:,}"),
            (
                "completion tokens, about",
                f"{bound.once.completion_tokens:,}",
                f"{bound.completion_tokens:,}",
            ),
            ("cost, about, USD", f"{bound.once.cost:,.2f}", f"{bound.cost:,.2f}"),
        ],
    )
    output.say(
        "at most: every conversation and debate takes all its rounds, every reply is asked for "
        "twice, and all that the user says is rewritten twice. Attempts that fail are not in it: "
        "`retries` and `patience` bound them"
    )
