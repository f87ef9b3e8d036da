"""`recjury store`: what can be done with a store itself."""

import typer

from recjury.cli import options, output
from recjury.cli.replay_verify import SOME_DIFFER

app = typer.Typer(
    help="A store itself: verify that nothing in it was lost or altered.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def _group() -> None:
    """Keep the name of a single command."""


@app.command("verify")
def verify(store: options.Store = options.DEFAULT_STORE, as_json: options.Json = False) -> None:
    """Compare every row of a store with its seal, and every text with its hash.

    A problem is one line, and ends the command with exit code 3. A store that is missing, is empty,
    or has lost rows with its write-ahead log is an error.

    \b
    recjury store verify --store sqlite:///runs.db
    """
    from recjury.store import Store as Kept

    with Kept.open(store, read_only=True) as kept:
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
