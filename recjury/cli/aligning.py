"""`recjury align` and `recjury analyse`: how far scores can be trusted."""

from typing import Annotated, Literal

import typer

from recjury.cli.app import app
from recjury.cli.options import (
    DEFAULT_STORE,
    CampaignOption,
    FormatOption,
    JsonOption,
    PlotOption,
    StoreOption,
)
from recjury.errors import UserError


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
    plot: PlotOption = None,
    form: FormatOption = "text",
    json: JsonOption = False,
) -> None:
    """How far scores agree with people: Pearson, Spearman, Kendall, over all and within systems.

    Beside them stand the length of the replies and the system's mean, which read no word, and how
    far people agree with each other. Examples: recjury align recjury.db --labels
    crsarena-eval:crs_arena_eval.json; recjury align run.json --labels csv:people.csv --pair
    core.overall=overall.
    """
    from recjury import agreement, results
    from recjury.cli.show import show

    people = agreement.open_labels(labels)
    found = agreement.align(
        agreement.read_scores(scores, campaign, people),
        people,
        pair or (),
        level=level,
        resamples=resamples,
        seed=seed,
    )
    if plot is not None:
        results.plot(found, plot)
    show(found, as_json=json, form=form)


@app.command()
def analyse(
    name: Annotated[str, typer.Argument(help="The analysis; without it, all are listed.")] = "",
    labels: Annotated[str, typer.Option(help="FORM:PATH, or module:function of your own.")] = "",
    resamples: Annotated[int, typer.Option(min=100, help="Of the bootstrap.")] = 2000,
    seed: Annotated[int, typer.Option(help="Of the bootstrap.")] = 0,
    store: StoreOption = DEFAULT_STORE,
    campaign: CampaignOption = "",
    form: FormatOption = "text",
    json: JsonOption = False,
) -> None:
    """Questions of the papers about judges, asked of a campaign. Without a name: which there are.

    Examples: recjury analyse; recjury analyse judge.length; recjury analyse core.rq2 --labels
    csv:people.csv.
    """
    import pandas as pd

    from recjury import agreement
    from recjury.cli.show import show
    from recjury.files import nearest
    from recjury.results import Findings
    from recjury.store import Store

    known = agreement.ANALYSES
    if not name:
        rows = [(key, each.shows, each.needs) for key, each in known.items()]
        table = pd.DataFrame(rows, columns=["name", "what it shows", "what it needs"])
        answer = "`recjury analyse NAME` asks one of a campaign. No call to a model is made."
        data = {key: {"shows": shows, "needs": needs} for key, shows, needs in rows}
        show(Findings("analyse", answer, {"Analyses": table}, data=data), as_json=json, form=form)
        return
    if name not in known:
        raise UserError(f"there is no analysis {name!r}{nearest(name, known)}: {', '.join(known)}")
    people = agreement.open_labels(labels) if labels else None
    with Store(store, readonly=True) as opened:
        given = agreement.Given(opened, opened.campaign(campaign), people, resamples, seed)
        show(known[name].run(given), as_json=json, form=form)
