"""`recjury train`: systems under test, judges, and FACE's instructions."""

from pathlib import Path
from typing import Annotated

import typer

from recjury.cli import options
from recjury.cli.named_analysis import NamedAnalysis, list_analyses

Name = Annotated[str | None, typer.Argument(metavar="[NAME]", help="Such as kbrd.")]


def train(
    name: Name = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="The folder to write.")] = None,
    setting: options.Settings = None,
    describe: options.Describe = False,
    config: options.Models = None,
    data: options.Data = None,
    form: options.Format = options.DEFAULT_FORMAT,
    as_json: options.Json = False,
    dry_run: options.DryRun = False,
    budget: options.Budget = None,
    concurrency: options.Concurrency = None,
    store: options.Store = options.DEFAULT_STORE,
) -> None:
    """Train a system, a judge, or FACE's instructions.

    Without a name, all trainings are listed. --describe shows the settings of one. A training that
    asks models (face) is continued by the same command: calls in the store are not made again.

    \b
    recjury train
    recjury train kbrd --set dataset=opendialkg --data DATA --out checkpoints/kbrd-opendialkg
    recjury train dialogue-quality --data DATA --set subset=CCPE --out judges/ccpe
    recjury train face --set aspect=relevance --config model.yaml --data DATA --out face --dry-run
    """
    from recjury.api.registries import TRAINERS, data_folder
    from recjury.tables import AnalysisInput

    chosen = options.chosen_format(form, as_json=as_json)
    if name is None:
        list_analyses(TRAINERS, chosen)
        return
    named = NamedAnalysis(TRAINERS, name, setting or (), chosen)
    if describe:
        named.describe()
        return
    given = AnalysisInput(
        store=store,
        config=config,
        changes=options.given(budget=budget, concurrency=concurrency),
        data=data_folder(data),
        out=out,
        progress=named.progress,
    )
    if dry_run:
        named.plan(given)
    else:
        named.run(given, None)
