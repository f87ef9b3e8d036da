"""`recjury export`: the content of a store as plain files."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from recjury.cli import options, output


class ExportFormat(StrEnum):
    """What to write."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


def export(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the files go.")],
    form: Annotated[
        ExportFormat, typer.Option("--format", help="One file per table.")
    ] = ExportFormat.CSV,
    store: options.Store = options.DEFAULT_STORE,
    campaign: options.Campaign = None,
    as_json: options.Json = False,
) -> None:
    """Export conversations, evaluations, turns, ratings, statements and calls, a file each.

    conversations.jsonl has the whole conversations: `recjury judge` reads it.

    \b
    recjury export out
    recjury export out --format parquet --campaign 3f2a
    """
    from recjury.results import export as write
    from recjury.store import Store

    with Store.open(store, read_only=True) as kept:
        chosen = kept.campaign(campaign).id if campaign else None
        paths = write(kept, folder, form.value, campaign=chosen)
    if as_json:
        output.emit_json({"files": [str(path) for path in paths]})
        return
    for path in paths:
        typer.echo(path)
