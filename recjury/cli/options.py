"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from recjury.tables import TableFormat

Store = Annotated[
    str,
    typer.Option(
        "--store",
        envvar="RECJURY_STORE",
        metavar="URL",
        help="Where results are kept: sqlite:///PATH, or postgresql://USER@HOST/DATABASE.",
    ),
]
DEFAULT_STORE = "sqlite:///recjury.db"

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]

Format = Annotated[
    TableFormat, typer.Option("--format", help="How tables are printed; --json is short for json.")
]
DEFAULT_FORMAT = TableFormat.TEXT


def chosen_format(form: TableFormat, *, as_json: bool) -> TableFormat:
    """The format of the tables; --json is short for `--format json`."""
    return TableFormat.JSON if as_json else form


def given(**chosen: object) -> dict[str, object]:
    """Those of the options that were given, by the key of a campaign file that they replace."""
    return {key: value for key, value in chosen.items() if value is not None}


DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Only show what would be done, and what it may cost.")
]

Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A setting (a YAML value); may be repeated."),
]

Describe = Annotated[bool, typer.Option("--describe", help="Show the settings, and run nothing.")]

Labels = Annotated[
    str | None,
    typer.Option(metavar="FORM:PATH", help="People's labels, as for `recjury align`."),
]

Models = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="FILE.yaml", help="A file with models, such as a campaign file."
    ),
]

Data = Annotated[
    Path | None,
    typer.Option(envvar="RECJURY_DATA", metavar="DIR", help="The folder of public data."),
]

Campaign = Annotated[
    str | None,
    typer.Option(
        "--campaign",
        metavar="ID",
        help="Only this campaign (the first digits of its id are enough).",
    ),
]

Concurrency = Annotated[
    int | None,
    typer.Option(min=1, max=4096, metavar="N", help="Model calls at once, over all conversations."),
]


def _some_budget(budget: str | None) -> object:
    from pydantic import ValidationError

    from recjury.llm import BudgetSpec, parse_budget

    if budget is None:
        return None
    try:
        return BudgetSpec.model_validate(parse_budget(budget))
    except ValidationError:
        raise typer.BadParameter(f"must be a sum above 0, got {budget}") from None
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


Budget = Annotated[
    str | None,
    typer.Option(
        metavar="USD",
        callback=_some_budget,
        help="Spend at most this much on model calls: dollars, or '1000000 tokens'.",
    ),
]


def _some_retry(retry: str) -> object:
    from recjury.campaign.retry import Retry

    try:
        return Retry(retry)
    except ValueError:
        raise typer.BadParameter(f"must be {', '.join(Retry)}; got {retry}") from None


Retry = Annotated[
    str,
    typer.Option(
        metavar="unscored|failed|none",
        callback=_some_retry,
        help="What earlier runs left without a score is asked for again: what could not be read "
        "or failed, only what failed, or nothing.",
    ),
]
DEFAULT_RETRY = "unscored"

Report = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write an HTML report when done.")
]
