"""Options that several commands share."""

import math
from pathlib import Path
from typing import Annotated

import typer

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
        "--campaign", metavar="ID", help="Only this campaign (the first digits of its id will do)."
    ),
]

Concurrency = Annotated[
    int | None,
    typer.Option(min=1, max=4096, metavar="N", help="Model calls at once, over all trials."),
]


def _some_money(budget: float | None) -> float | None:
    if budget is not None and not 0 < budget < math.inf:  # nan is neither
        raise typer.BadParameter(f"must be a sum above 0, got {budget}")
    return budget


Budget = Annotated[
    float | None,
    typer.Option(
        metavar="USD", callback=_some_money, help="Spend at most this much on model calls."
    ),
]

Report = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write an HTML report when done.")
]
