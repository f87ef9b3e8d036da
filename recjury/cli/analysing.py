"""`recjury align` and `recjury analyse`: how far scores can be trusted, and the papers' tables."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from recjury import agreement, papers, plugins
from recjury.cli.listing import listed
from recjury.cli.options import (
    DEFAULT_STORE,
    CampaignOption,
    LabelsOption,
    PlotOutput,
    ResamplingOptions,
    StoreOption,
    campaign_of,
)
from recjury.errors import UserError
from recjury.results import StoredCampaign
from recjury.store import Store


def align(
    *,
    scores: Annotated[str, typer.Argument(help="A store, a run file (JSON) or a CSV file.")],
    labels: LabelsOption,
    pair: Annotated[
        list[str] | None, typer.Option(help="METRIC=LABEL; by default those of one name.")
    ] = None,
    level: Annotated[
        Literal["place", "system"],
        typer.Option(help="Correlate dialogues and turns, or the means of systems."),
    ] = "place",
    resampling: ResamplingOptions,
    campaign: CampaignOption = "",
    output: PlotOutput,
) -> None:
    """How far scores agree with people: Pearson, Spearman, Kendall, over all and within systems.

    Beside them stand the length of the replies and the system's mean, which read no word, and how
    far people agree with each other. Examples: recjury align recjury.db --labels
    crsarena-eval:crs_arena_eval.json; recjury align run.json --labels csv:people.csv --pair
    core.overall=overall.
    """
    people = agreement.open_labels(labels)
    found = agreement.align(
        agreement.read_scores(scores, campaign, people),
        people,
        pair or (),
        level=level,
        resampling=resampling,
    )
    output.show(found)


def analyse(
    *,
    name: Annotated[str, typer.Argument(help="The question or table; empty: all are listed.")] = "",
    labels: LabelsOption = "",
    write: Annotated[
        Path | None, typer.Option(help="Write the campaign file of what rates, and end.")
    ] = None,
    draws: Annotated[
        int, typer.Option(min=1, max=100, help="With --write: seeds of examples.")
    ] = 1,
    resampling: ResamplingOptions,
    store: StoreOption = DEFAULT_STORE,
    campaign: CampaignOption = "",
    output: PlotOutput,
) -> None:
    """Questions of the papers, asked of a campaign; and their tables beside the published ones.

    Prices are in dollars for three models (.05 and .10, .15 and .60, 2.50 and 10 for a million
    tokens in and out). Examples: recjury analyse; recjury analyse judge.length; recjury analyse
    core.rq2 --labels csv:people.csv; recjury analyse paireval.table2 --write judges.yaml --draws 5;
    recjury analyse paireval.table2 --labels dialogue-eval:DATA/dialogue-eval.
    """
    if not name:
        output.show(listed(["analyses"]))
        return
    if write is not None:
        _write(papers.judge_file(name, draws), write)
        return
    chosen = plugins.find("analyses", name).value
    people = agreement.open_labels(labels) if labels else None
    if isinstance(chosen, papers.Recipe):
        found = papers.show(name, store, people, campaign=campaign, resampling=resampling)
    else:
        with Store(store, readonly=True) as opened:
            own = StoredCampaign(opened, campaign_of(opened, campaign))
            found = chosen.run(agreement.Study(own, people, resampling))
    output.show(found, draw=papers.draw)


def _write(text: str, file: Path) -> None:
    if file.exists():
        raise UserError(f"{file} is there already: name another file")
    file.write_text(text, "utf-8")
    typer.echo(f"{file}: put your model into it", err=True)
