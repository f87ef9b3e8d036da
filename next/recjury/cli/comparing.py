"""`recjury compare`, `recjury export` and `recjury explain`."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from recjury.cli.app import app
from recjury.cli.options import DEFAULT_STORE, CampaignOption, JsonOption, StoreOption

if TYPE_CHECKING:
    from recjury.results import Findings

_WORSE, _NOT_DECIDED = 4, 5


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
        float | None,
        typer.Option(
            min=0, help="Exit with 4 if the first is worse by more than this, 5 if that is open."
        ),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    campaign: CampaignOption = "",
    json: JsonOption = False,
) -> None:
    """Who is ahead on what, and is it decided? Without names, all systems, two by two.

    Examples: recjury compare; recjury compare mine popular; recjury compare mine mine@1a2b;
    recjury compare --by user; recjury compare new old --metric core.overall --fail-if-worse 2.
    """
    from recjury import results
    from recjury.cli.show import show
    from recjury.store import Store

    with Store(store, readonly=True) as opened:
        found = results.comparison(
            opened, names or (), by=by, campaign=campaign, metrics=metric or ()
        )
    show(found, as_json=json)
    if fail_if_worse is not None:
        raise typer.Exit(_code(found, fail_if_worse))


def _code(found: "Findings", margin: float) -> int:
    """By the interval of the first difference: worse by more than the margin, not so, or open."""
    ends = found.data["first_is_better_by"]
    if ends["high"] < -margin:
        return _WORSE
    return 0 if ends["low"] > -margin else _NOT_DECIDED


class _Format(StrEnum):
    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="Where the files are written.")],
    form: Annotated[_Format, typer.Option("--format", help="Of the tables.")] = _Format.CSV,
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

    with Store(store, readonly=True) as opened:
        show(results.export(opened, folder, form=form.value, campaign=campaign), as_json=json)


@app.command()
def explain(
    id_: Annotated[str, typer.Argument(metavar="ID", help="A conversation, or how its id begins.")],
    metric: Annotated[str, typer.Option(help="Of which rating: core.novelty.")] = "",
    rater: Annotated[str, typer.Option(help="By this judge only.")] = "",
    role: Annotated[str, typer.Option(help="The statements of this role in the debate.")] = "",
    round_: Annotated[int | None, typer.Option("--round", min=1, help="In this round.")] = None,
    turn: Annotated[int | None, typer.Option(min=1, help="Of this turn, as replay counts.")] = None,
    store: StoreOption = DEFAULT_STORE,
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
        show(results.explain(opened, id_, wanted), as_json=json)
