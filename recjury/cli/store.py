"""`recjury store`: verify, copy, merge and summarise stores."""

from typing import Annotated

import typer

from recjury.cli import options, output
from recjury.cli.replay_verify import SOME_DIFFER

app = typer.Typer(
    help="Stores: verify, copy, merge shards, make summaries again.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


_Named = Annotated[
    str | None, typer.Argument(metavar="[URL]", show_default=False, help="The store; else --store.")
]


@app.command("verify")
def verify(
    named: _Named = None,
    store: options.Store = options.DEFAULT_STORE,
    as_json: options.Json = False,
) -> None:
    """Compare every row of a store with its seal, and every text with its hash.

    A problem is one line, and ends the command with exit code 3. A store that is missing, is empty,
    or has lost rows with its write-ahead log is an error.

    \b
    recjury store verify runs.db
    recjury store verify --store sqlite:///runs.db
    """
    from recjury.store import Store as Kept

    with Kept.open(named or store, read_only=True) as kept:
        found = kept.verify()
    if as_json:
        output.emit_json({"rows": found.rows, "problems": list(found.problems)})
    else:
        for problem in found.problems:
            output.say(problem)
        wrong = (
            f"{len(found.problems):,} problems" if found.problems else "all as they were written"
        )
        output.say(f"{found.rows:,} rows: {wrong}")
    if found.problems:
        output.stop(SOME_DIFFER)


@app.command("copy")
def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="The store to copy.")],
    into: Annotated[str, typer.Argument(metavar="TO", help="A new or empty place.")],
    as_json: options.Json = False,
) -> None:
    """Copy a store, also from SQLite to PostgreSQL or back, and verify the copy.

    If it was broken off, the copy is incomplete and cannot be opened: `recjury store merge FROM
    --into TO` adds what is missing.

    \b
    recjury store copy runs.db postgresql://user@host/recjury
    recjury store copy postgresql://user@host/recjury sqlite:///runs.db
    """
    from recjury.store.merging import copy_store

    found = copy_store(source, into)
    if as_json:
        output.emit_json({"rows": found.rows, "problems": []})
    else:
        output.say(f"{found.rows:,} rows copied: all as they were written")


@app.command("merge")
def merge(
    stores: Annotated[list[str], typer.Argument(metavar="A B...", help="The stores to take.")],
    into: Annotated[
        str, typer.Option("--into", metavar="URL", help="The store that gets all of it.")
    ],
    as_json: options.Json = False,
) -> None:
    """Add everything that stores have to another one, which is made if it is missing.

    What that one has already is not added again. Each row is compared with its seal. Refused are
    stores without a campaign in common, runs with other code or data, and altered rows; of two
    different results of one thing, the first is kept, and what differs is listed.

    \b
    recjury store merge shard1.db shard2.db --into all.db
    recjury store merge shards/*.db --into sqlite:///all.db --json
    """
    from recjury.store.merging import merge_stores

    found = merge_stores(stores, into)
    if as_json:
        output.emit_json({**found._asdict(), "conflicts": list(found.conflicts)})
    else:
        output.say(
            f"{found.conversations:,} conversations, {found.evaluations:,} evaluations and "
            f"{found.calls:,} calls added to {into}"
        )
        for each in found.conflicts:
            output.say(f"conflict: {each}: the first was kept")
    if found.conflicts:
        output.stop(output.SOME_FAILED)


@app.command("summarise")
def summarise(
    named: _Named = None,
    store: options.Store = options.DEFAULT_STORE,
    as_json: options.Json = False,
) -> None:
    """Make all summaries and counts again from the rows; tables and `status` are made of them.

    It is needed for stores of earlier versions only: without it, their tables take longer.

    \b
    recjury store summarise runs.db
    """
    from recjury.store import Store

    with Store.open(named or store, create=False) as kept:
        found = kept.summarise()
    if as_json:
        output.emit_json(found._asdict())
        return
    output.say(
        f"{found.summaries:,} summaries: {found.missing:,} were missing, {found.changed:,} differed"
    )
