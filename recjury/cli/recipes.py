"""`recjury recipe`: the papers' tables, from one's own scores and beside what is published."""

from pathlib import Path
from typing import Annotated

import typer

from recjury.cli.app import app
from recjury.cli.options import (
    DEFAULT_STORE,
    CampaignOption,
    JsonOption,
    PlotOption,
    StoreOption,
)
from recjury.errors import UserError


@app.command()
def recipe(
    name: Annotated[str, typer.Argument(help="The recipe; without it, all are listed.")] = "",
    labels: Annotated[str, typer.Option(help="FORM:PATH, or module:function of your own.")] = "",
    write: Annotated[
        Path | None, typer.Option(help="Write the campaign file of what rates, and end.")
    ] = None,
    draws: Annotated[
        int, typer.Option(min=1, max=100, help="With --write: seeds of examples.")
    ] = 1,
    resamples: Annotated[int, typer.Option(min=100, help="Of the bootstrap.")] = 2000,
    seed: Annotated[int, typer.Option(help="Of the bootstrap.")] = 0,
    store: StoreOption = DEFAULT_STORE,
    campaign: CampaignOption = "",
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """A table of a paper, from your scores and beside the published one.

    Examples: recjury recipe; recjury recipe paireval.table2 --write judges.yaml --draws 5; recjury
    recipe paireval.table2 --labels dialogue-eval:DATA/dialogue-eval.
    """
    from recjury.agreement import open_labels
    from recjury.cli.show import show
    from recjury.papers import Data, draw, recipes

    if write is not None:
        text = recipes.judge_file(name, draws)
        if write.exists():
            raise UserError(f"{write} is there already: name another file")
        write.write_text(text, "utf-8")
        typer.echo(f"{write}: put your model into it", err=True)
        return
    if not name:
        show(recipes.listed(), as_json=json)
        return
    people = open_labels(labels) if labels else None
    data = Data(store, campaign, people, resamples, seed)
    found = recipes.shown(name, data)
    if plot is not None:
        draw(found, plot)
    show(found, as_json=json)
