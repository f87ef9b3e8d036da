"""`recjury export`: the content of a store as plain files."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output
from recjury.cli.selecting import with_filters

if TYPE_CHECKING:
    from recjury.store import Selection


class ExportFormat(StrEnum):
    """What to write."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


@with_filters
def export(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the files go.")],
    form: Annotated[
        ExportFormat, typer.Option("--format", help="One file per table.")
    ] = ExportFormat.CSV,
    store: options.Store = options.DEFAULT_STORE,
    campaign: options.Campaign = None,
    as_json: options.Json = False,
    *,
    selection: "Selection",
) -> None:
    """Export conversations, evaluations, turns, ratings, evidence, statements, calls: a file each.

    conversations.jsonl has the whole conversations: `recjury judge` reads it. Filters are about one
    campaign, by default the newest.

    \b
    recjury export out
    recjury export out --system kbrd --share .1
    recjury export out --format parquet --campaign 3f2a
    """
    from recjury.results import export as write
    from recjury.store import Store
    from recjury.store.choice import chosen_campaign

    with Store.open(store, read_only=True) as kept:
        chosen = kept.campaign(campaign).id if campaign else None
        if chosen is None and not selection.is_all:
            chosen = chosen_campaign(kept, None)
        ids = None if chosen is None else kept.selected(chosen, selection)
        paths = write(kept, folder, form.value, campaign=chosen, conversations=ids)
    if as_json:
        output.emit_json({"files": [str(path) for path in paths]})
        return
    for path in paths:
        typer.echo(path)
