"""`recjury run`: run a campaign, or continue it."""

from collections.abc import Coroutine
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options
from recjury.cli.dry_run import show_estimate
from recjury.cli.selecting import Shard, with_filters, with_shard
from recjury.errors import ConfigError

if TYPE_CHECKING:
    from recjury.store import Selection


class Executor(StrEnum):
    """Where the work is done."""

    LOCAL = "local"
    RAY = "ray"


@with_filters
def run(
    campaign: Annotated[Path, typer.Argument(metavar="CAMPAIGN.yaml", help="The campaign file.")],
    store: options.Store = options.DEFAULT_STORE,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Draw N scenarios from each source.")
    ] = None,
    concurrency: options.Concurrency = None,
    budget: options.Budget = None,
    retry: options.Retry = options.DEFAULT_RETRY,
    shard: Shard = None,
    executor: Annotated[
        Executor, typer.Option(help="Run in this process, or in workers on a Ray cluster.")
    ] = Executor.LOCAL,
    address: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="The cluster; else this machine."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Workers (default: one for each CPU).")
    ] = None,
    report: options.Report = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be done, and what it may cost.")
    ] = False,
    as_json: options.Json = False,
    *,
    selection: "Selection",
) -> None:
    """Run a campaign, or continue it: what the store has is not done again.

    \b
    recjury run campaign.yaml
    recjury run campaign.yaml --dry-run
    recjury run campaign.yaml --system kbrd --share .1
    recjury run campaign.yaml --shard 2/8 --store sqlite:///shard2.db
    recjury run campaign.yaml --executor ray --store postgresql://user@host/recjury
    recjury run campaign.yaml --limit 5 --store sqlite:///try.db --report try.html
    """
    from recjury.campaign.config_file import read_config

    wanted = with_shard(selection, shard)
    config = read_config(campaign)
    config = config.model_copy(update=options.given(concurrency=concurrency, budget=budget))
    if dry_run:
        show_estimate(config, limit, wanted, as_json=as_json)
        return
    if executor is Executor.LOCAL and (address, workers) != (None, None):
        raise ConfigError("--address and --workers are for --executor ray")
    from recjury.campaign import Retry, RunResult, run_campaign
    from recjury.campaign.progress import Progress
    from recjury.cli.campaign_command import run_and_show

    def work(progress: Progress) -> Coroutine[None, None, RunResult]:
        if executor is Executor.RAY:
            from recjury.cluster import Cluster, Job, run_on_cluster

            job = Job(config, store, limit, Retry(retry), wanted, str(Path.cwd()))
            return run_on_cluster(job, Cluster(address, workers), progress)
        return run_campaign(
            config,
            store,
            limit=limit,
            retry=Retry(retry),
            progress=progress,
            selection=wanted,
        )

    run_and_show(work, store, wanted, report=report, as_json=as_json)
