"""Options that several commands share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from recjury.records import Aspect

Store = Annotated[
    str,
    typer.Option(
        "--store",
        envvar="RECJURY_STORE",
        metavar="URL",
        help="Where results are kept: sqlite:///PATH.",
    ),
]
DEFAULT_STORE = "sqlite:///recjury.db"

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]

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


def aspect_named(name: str) -> "Aspect":
    """The aspect of that name; raises ConfigError for any other."""
    from recjury.errors import ConfigError
    from recjury.records import Aspect

    try:
        return Aspect(name.strip().lower().replace("-", "_"))
    except ValueError:
        raise ConfigError(f"{name!r} is not an aspect: expected {', '.join(Aspect)}") from None
