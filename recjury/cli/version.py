"""`recjury --version`."""

from typing import Annotated

import typer

from recjury import __version__


def _show(wanted: bool) -> None:
    if wanted:
        typer.echo(f"recjury {__version__}")
        raise typer.Exit


def shown(
    version: Annotated[
        bool, typer.Option("--version", callback=_show, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Handle the options that stand before a command."""
    del version  # its callback has done everything
