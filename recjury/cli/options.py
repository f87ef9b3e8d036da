"""Options that several commands share."""

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
    int | None, typer.Option(min=1, metavar="N", help="Model calls at once, over all trials.")
]

Budget = Annotated[
    float | None,
    typer.Option(min=0.000001, metavar="USD", help="Spend at most this much on model calls."),
]

Report = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write an HTML report when done.")
]
