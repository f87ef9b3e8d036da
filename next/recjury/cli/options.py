"""Options that several commands have."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from recjury.errors import UserError


def _kept(store: str) -> str:
    """The store, if what is written there outlasts the command. Raises UserError."""
    if store.removeprefix("sqlite://").strip("/") in ("", ":memory:"):
        raise UserError(f"--store {store!r} would keep nothing: name a file, or a database's URL")
    return store


StoreOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--store", callback=_kept, help="Where results are kept: a file, or a database's URL."
    ),
]
JsonOption: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON object with stable keys.")
]
LogOption: TypeAlias = Annotated[
    Path | None, typer.Option("--log", help="Append events to this file, as JSON lines.")
]
WaitOption: TypeAlias = Annotated[
    bool, typer.Option("--wait", help="Go on when batches of models have answered.")
]
CampaignOption: TypeAlias = Annotated[
    str, typer.Option("--campaign", help="The campaign's name; the newest by default.")
]
DEFAULT_STORE = "recjury.db"
