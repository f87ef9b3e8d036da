"""`recjury face`: better instructions."""

import typer

from recjury.cli import face_optimise

app = typer.Typer(help="FACE's instructions.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _commands() -> None:
    """FACE's instructions."""


app.command("optimise")(face_optimise.optimise)
