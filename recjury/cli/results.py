"""`recjury summary`, `compare`, `status`, `export` and `explain`."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

import typer

from recjury import results
from recjury.cli.options import (
    DEFAULT_STORE,
    CampaignOption,
    FormOutput,
    JsonOutput,
    MissingOption,
    PlotOutput,
    ResamplingOptions,
    SelectionOptions,
    StoreOption,
    campaign_of,
    pairs,
)
from recjury.errors import UserError
from recjury.store import Store

_WORSE, _NOT_DECIDED = 4, 5


def summary(
    *,
    missing: MissingOption = "left out",
    resampling: ResamplingOptions,
    store: StoreOption = DEFAULT_STORE,
    campaign: CampaignOption = "",
    output: PlotOutput,
) -> None:
    """The answer of a campaign again: means by system, who is ahead, what is not to be trusted.

    Examples: recjury summary; recjury summary --campaign films --format latex; recjury summary
    --plot means.svg.
    """
    with Store(store, readonly=True) as opened:
        name = campaign_of(opened, campaign)
        output.show(results.summary(opened, name, missing=missing, resampling=resampling))


def compare(
    *,
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
            help="Of two names: exit with 4 if the first is worse by more, with 5 if that is open. "
            "Lost scores count as the worst, unless --missing says otherwise.",
        ),
    ] = None,
    missing: Annotated[
        Literal["left out", "worst"] | None,
        typer.Option(help="What a score counts that a failure cost: nothing, or the worst."),
    ] = None,
    selection: SelectionOptions,
    resampling: ResamplingOptions,
    store: StoreOption = DEFAULT_STORE,
    campaign: CampaignOption = "",
    output: PlotOutput,
) -> None:
    """Who is ahead on what, and is it decided? Without names, all systems, two by two.

    Examples: recjury compare; recjury compare mine popular; recjury compare mine mine@1a2b;
    recjury compare --by user; recjury compare --where corpus=redial; recjury compare new old
    --fail-if-worse core.overall=3.
    """
    margins = _margins(fail_if_worse or ())
    with Store(store, readonly=True) as opened:
        found = results.comparison(
            opened,
            names or (),
            by=by,
            campaign=campaign if by == "campaign" else campaign_of(opened, campaign),
            metrics=metric or (),
            selection=selection,
            missing=missing or ("worst" if margins else "left out"),
            margins=margins,
            resampling=resampling,
        )
    output.show(found)
    outcomes = {each["outcome"] for each in found.data["margins"]}
    for outcome, code in (("worse", _WORSE), ("not decided", _NOT_DECIDED)):
        if outcome in outcomes:
            raise typer.Exit(code)


def _margins(given: Iterable[str]) -> dict[str, float]:
    """The margins by metric. Raises UserError."""
    margins = {}
    for metric, text in pairs(given, "--fail-if-worse METRIC=MARGIN").items():
        try:
            margins[metric] = float(text)
        except ValueError:
            margins[metric] = -1.0
        if not 0 <= margins[metric] < math.inf:
            raise UserError(f"--fail-if-worse {metric}={text}: expected a number from 0")
    return margins


def status(
    *, store: StoreOption = DEFAULT_STORE, campaign: CampaignOption = "", output: FormOutput
) -> None:
    """What of a campaign is done, failed or left, what it cost, and its last runs."""
    with Store(store, readonly=True) as opened:
        output.show(results.status(opened, campaign_of(opened, campaign)))


def export(
    *,
    folder: Annotated[Path, typer.Argument(help="Where the files are written.")],
    form: Annotated[
        Literal["csv", "jsonl", "parquet"], typer.Option("--format", help="Of the tables.")
    ] = "csv",
    selection: SelectionOptions,
    store: StoreOption = DEFAULT_STORE,
    campaign: CampaignOption = "",
    output: JsonOutput,
) -> None:
    """Write ratings, turns, statements and calls as tables, and conversations as JSON lines.

    `recjury judge` reads conversations.jsonl. Example: recjury export results --format parquet.
    """
    with Store(store, readonly=True) as opened:
        name = campaign_of(opened, campaign)
        found = results.export(opened, folder, form=form, campaign=name, selection=selection)
    output.show(found)


def explain(
    *,
    id_: Annotated[str, typer.Argument(metavar="ID", help="A conversation, or how its id begins.")],
    metric: Annotated[str, typer.Option(help="Of which rating: core.novelty.")] = "",
    rater: Annotated[str, typer.Option(help="By this judge only.")] = "",
    role: Annotated[str, typer.Option(help="The statements of this role in the debate.")] = "",
    round_: Annotated[int | None, typer.Option("--round", min=1, help="In this round.")] = None,
    turn: Annotated[int | None, typer.Option(min=1, help="Of this turn, as replay counts.")] = None,
    store: StoreOption = DEFAULT_STORE,
    campaign: CampaignOption = "",
    output: FormOutput,
) -> None:
    """How a score came about: reason, evidence, prompt and reply. Without --metric, the ratings.

    Examples: recjury explain 3f2a; recjury explain 3f2a --metric core.novelty; recjury explain
    3f2a --role linguist --round 2.
    """
    wanted = results.RatingFilter(metric=metric, rater=rater, role=role, round=round_, turn=turn)
    with Store(store, readonly=True) as opened:
        output.show(results.explain(opened, id_, wanted, campaign))
