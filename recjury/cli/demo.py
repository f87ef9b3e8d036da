"""`recjury demo`: the README's campaign, with the systems that are installed."""

from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output
from recjury.errors import ConfigError

if TYPE_CHECKING:
    from recjury.campaign import CampaignConfig, Progress, RunResult

DEFAULT_STORE = "sqlite:///recjury-demo.db"
CAMPAIGN_FILE = Path(__file__).parents[1] / "demo" / "demo.yaml"
NEURAL = ("kbrd", "barcor", "unicrs")


def demo(
    store: options.Store = DEFAULT_STORE,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Draw N scenarios from the sample (default: all 52)."
        ),
    ] = None,
    report: options.Report = None,
    as_json: options.Json = False,
) -> None:
    """Run a small campaign without a key, a GPU or a network.

    It compares a retrieval system, "always the most popular" and, if the extra `neural` is
    installed, KBRD, BARCOR and UniCRS with tiny weights, on the sample corpus.

    \b
    recjury demo
    recjury demo --limit 5 --report demo.html
    """
    from recjury.campaign import run_campaign
    from recjury.cli.campaign_command import run_and_show

    campaign = _installed_campaign()

    def work(progress: "Progress") -> "Coroutine[None, None, RunResult]":
        return run_campaign(campaign, store, limit=limit, progress=progress)

    run_and_show(work, store, report=report, as_json=as_json)


def _installed_campaign() -> "CampaignConfig":
    """The demo's campaign; without the extra `neural`, less the systems that need it."""
    from recjury.campaign import read_config
    from recjury.plugins.extras import require_neural

    campaign = read_config(CAMPAIGN_FILE)
    try:
        require_neural(f"each of {', '.join(NEURAL)}")
    except ConfigError as error:
        output.say(f"recjury: left out: {error}")
        systems = tuple(system for system in campaign.systems if system.kind not in NEURAL)
        return campaign.model_copy(update={"systems": systems})
    return campaign
