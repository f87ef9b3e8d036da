"""`recjury analyse`: the tables and figures of the papers, and our own."""

from pathlib import Path
from typing import Annotated

import typer

from recjury.cli import options
from recjury.cli.named_analysis import NamedAnalysis, list_analyses

Name = Annotated[str | None, typer.Argument(metavar="[NAME]", help="Such as judge.length.")]


def analyse(
    name: Name = None,
    setting: options.Settings = None,
    describe: options.Describe = False,
    labels: options.Labels = None,
    config: options.Models = None,
    data: options.Data = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Write tables and files into this folder, or one of them to a file (radar.svg).",
        ),
    ] = None,
    form: options.Format = options.DEFAULT_FORMAT,
    as_json: options.Json = False,
    dry_run: options.DryRun = False,
    budget: options.Budget = None,
    concurrency: options.Concurrency = None,
    store: options.Store = options.DEFAULT_STORE,
    campaign: options.Campaign = None,
) -> None:
    """Make a table or figure of the papers, or of our own.

    Without a name, all analyses are listed: what each shows, needs and costs. --describe shows the
    settings of one. Calls that the store has are not made again: the same command continues.

    \b
    recjury analyse
    recjury analyse judge.length --set metrics=core --format markdown
    recjury analyse judge.radar --out radar.svg
    recjury analyse paireval.table5 --describe
    recjury analyse paireval.table5 --config models.yaml --data DATA --dry-run
    """
    from recjury.api.registries import ANALYSES, data_folder
    from recjury.tables import AnalysisInput

    chosen = options.chosen_format(form, as_json=as_json)
    if name is None:
        list_analyses(ANALYSES, chosen)
        return
    named = NamedAnalysis(ANALYSES, name, setting or (), chosen)
    if describe:
        named.describe()
        return
    given = AnalysisInput(
        store=store,
        campaign=campaign,
        labels=labels,
        config=config,
        changes=options.given(budget=budget, concurrency=concurrency),
        data=data_folder(data),
        progress=named.progress,
    )
    if dry_run:
        named.plan(given)
    else:
        named.run(given, out)
