"""`recjury summary`, `compare`, `export` and `explain`."""

import math
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from recjury.cli.app import app
from recjury.cli.options import (
    DEFAULT_STORE,
    CampaignOption,
    FailedOption,
    FormatOption,
    JsonOption,
    MissingOption,
    PlotOption,
    ResamplesOption,
    ScenariosOption,
    SeedOption,
    StoreOption,
    SystemsOption,
    UsersOption,
    WhereOption,
    campaign_of,
    selection,
)
from recjury.errors import UserError

if TYPE_CHECKING:
    from recjury.results import Findings

_WORSE, _NOT_DECIDED = 4, 5


@app.command()
def summary(
    missing: MissingOption = "left out",
    resamples: ResamplesOption = 2000,
    seed: SeedOption = 0,
    store: StoreOption = DEFAULT_STORE,
    campaign: CampaignOption = "",
    plot: PlotOption = None,
    form: FormatOption = "text",
    json: JsonOption = False,
) -> None:
    """The answer of a campaign again: means by system, who is ahead, what is not to be trusted.

    Examples: recjury summary; recjury summary --campaign films --format latex; recjury summary
    --plot means.svg.
    """
    from recjury import results
    from recjury.cli.show import show
    from recjury.store import Store

    with Store(store, readonly=True) as opened:
        name = campaign_of(opened, campaign)
        resampling = results.Resampling(resamples, seed)
        found = results.summary(opened, name, missing=missing, resampling=resampling)
    _draw(found, plot)
    show(found, as_json=json, form=form)


@app.command()
def compare(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Systems, or what --by names; NAME@VERSION is an older version."),
    ] = None,
    by: Annotated[
        Literal["system", "user", "evaluator", "campaign"], typer.Option(help="What is compared.")
    ] = "system",
    metric: Annotated[
        list[str] | None, typer.Option(help="Only this one, such as core.overall; may be repeated.")
    ] = None,
    fail_if_worse: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC=MARGIN",
            help="Of two names: exit with 4 if the first is worse by more, with 5 if that is open.",
        ),
    ] = None,
    missing: MissingOption = "left out",
    systems: SystemsOption = None,
    users: UsersOption = None,
    scenarios: ScenariosOption = None,
    where: WhereOption = None,
    failed: FailedOption = False,
    resamples: ResamplesOption = 2000,
    seed: SeedOption = 0,
    store: StoreOption = DEFAULT_STORE,
    campaign: CampaignOption = "",
    plot: PlotOption = None,
    form: FormatOption = "text",
    json: JsonOption = False,
) -> None:
    """Who is ahead on what, and is it decided? Without names, all systems, two by two.

    Examples: recjury compare; recjury compare mine popular; recjury compare mine mine@1a2b;
    recjury compare --by user; recjury compare --where corpus=redial; recjury compare new old
    --fail-if-worse core.overall=3.
    """
    from recjury import results
    from recjury.cli.show import show
    from recjury.store import Store

    margins = dict(map(_margin, fail_if_worse or ()))
    chosen = selection(systems, users, scenarios, where, failed)
    with Store(store, readonly=True) as opened:
        found = results.comparison(
            opened,
            names or (),
            by=by,
            campaign=campaign if by == "campaign" else campaign_of(opened, campaign),
            metrics=metric or (),
            selection=chosen,
            missing=missing,
            margins=margins,
            resampling=results.Resampling(resamples, seed),
        )
    _draw(found, plot)
    show(found, as_json=json, form=form)
    outcomes = {each["outcome"] for each in found.data["margins"]}
    for outcome, code in (("worse", _WORSE), ("not decided", _NOT_DECIDED)):
        if outcome in outcomes:
            raise typer.Exit(code)


def _draw(found: "Findings", path: Path | None) -> None:
    from recjury import results

    if path is not None:
        results.plot(found, path)
        typer.echo(f"Drawn: {path}", err=True)


def _margin(text: str) -> tuple[str, float]:
    """The metric and the margin of `METRIC=MARGIN`. Raises UserError."""
    name, _, number = text.rpartition("=")
    try:
        margin = float(number) if name else -1.0
    except ValueError:
        margin = -1.0
    if not 0 <= margin < math.inf:
        raise UserError(f"--fail-if-worse {text}: expected METRIC=MARGIN, such as core.overall=3")
    return name, margin


class _Format(StrEnum):
    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="Where the files are written.")],
    form: Annotated[_Format, typer.Option("--format", help="Of the tables.")] = _Format.CSV,
    systems: SystemsOption = None,
    users: UsersOption = None,
    scenarios: ScenariosOption = None,
    where: WhereOption = None,
    failed: FailedOption = False,
    store: StoreOption = DEFAULT_STORE,
    campaign: CampaignOption = "",
    json: JsonOption = False,
) -> None:
    """Write ratings, turns, statements and calls as tables, and conversations as JSON lines.

    `recjury judge` reads conversations.jsonl. Example: recjury export results --format parquet.
    """
    from recjury import results
    from recjury.cli.show import show
    from recjury.store import Store

    chosen = selection(systems, users, scenarios, where, failed)
    with Store(store, readonly=True) as opened:
        name = campaign_of(opened, campaign)
        found = results.export(opened, folder, form=form.value, campaign=name, selection=chosen)
    show(found, as_json=json)


@app.command()
def explain(
    id_: Annotated[str, typer.Argument(metavar="ID", help="A conversation, or how its id begins.")],
    metric: Annotated[str, typer.Option(help="Of which rating: core.novelty.")] = "",
    rater: Annotated[str, typer.Option(help="By this judge only.")] = "",
    role: Annotated[str, typer.Option(help="The statements of this role in the debate.")] = "",
    round_: Annotated[int | None, typer.Option("--round", min=1, help="In this round.")] = None,
    turn: Annotated[int | None, typer.Option(min=1, help="Of this turn, as replay counts.")] = None,
    store: StoreOption = DEFAULT_STORE,
    form: FormatOption = "text",
    json: JsonOption = False,
) -> None:
    """How a score came about: reason, evidence, prompt and reply. Without --metric, the ratings.

    Examples: recjury explain 3f2a; recjury explain 3f2a --metric core.novelty; recjury explain
    3f2a --role linguist --round 2.
    """
    from recjury import results
    from recjury.cli.show import show
    from recjury.store import Store

    wanted = results.Wanted(metric=metric, rater=rater, role=role, round=round_, turn=turn)
    with Store(store, readonly=True) as opened:
        show(results.explain(opened, id_, wanted), as_json=json, form=form)
