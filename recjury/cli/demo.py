"""`recjury demo`: the README's campaign, with the systems that are installed."""

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output

if TYPE_CHECKING:
    from recjury.campaign import Progress, RunResult

DEFAULT_STORE = "sqlite:///recjury-demo.db"


def demo(
    store: options.Store = DEFAULT_STORE,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Draw N scenarios from the sample.")
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
    from recjury.cli.results import finish
    from recjury.cli.running import drive
    from recjury.demo import demo_campaign
    from recjury.report import check_place

    campaign = demo_campaign()
    if campaign.left_out is not None:
        output.say(f"recjury: left out: {campaign.left_out}")
    if report is not None:
        check_place(report)

    def work(progress: "Progress") -> "Coroutine[None, None, RunResult]":
        return run_campaign(campaign.config, store, limit=limit, progress=progress)

    finish(drive(work), store, report=report, as_json=as_json)
