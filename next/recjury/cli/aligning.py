"""`recjury align`: scores held against people's labels."""

from typing import Annotated, Literal

import typer

from recjury.cli.app import app
from recjury.cli.options import CampaignOption, JsonOption


@app.command()
def align(
    scores: Annotated[str, typer.Argument(help="A store, a run file (JSON) or a CSV file.")],
    labels: Annotated[str, typer.Option(help="FORM:PATH, or module:function of your own.")],
    pair: Annotated[
        list[str] | None, typer.Option(help="METRIC=LABEL; by default those of one name.")
    ] = None,
    level: Annotated[
        Literal["place", "system"],
        typer.Option(help="Correlate dialogues and turns, or the means of systems."),
    ] = "place",
    resamples: Annotated[int, typer.Option(min=100, help="Of the bootstrap.")] = 2000,
    seed: Annotated[int, typer.Option(help="Of the bootstrap.")] = 0,
    campaign: CampaignOption = "",
    json: JsonOption = False,
) -> None:
    """How far scores agree with people: Pearson, Spearman, Kendall, over all and within systems.

    Beside them stand the length of the replies and the system's mean, which read no word, and how
    far people agree with each other. Examples: recjury align recjury.db --labels
    crsarena-eval:crs_arena_eval.json; recjury align run.json --labels csv:people.csv --pair
    core.overall=overall.
    """
    from recjury import agreement
    from recjury.cli.show import show

    found = agreement.align(
        agreement.read_scores(scores, campaign),
        agreement.open_labels(labels),
        pair or (),
        level=level,
        resamples=resamples,
        seed=seed,
    )
    show(found, as_json=json)
