"""All commands, registered in the order in which they are used."""

from collections.abc import Callable
from typing import Annotated

import typer

from recjury import __version__
from recjury.cli import (
    align,
    analyse,
    annotate,
    compare,
    demo,
    doctor,
    explain,
    export,
    fork,
    judge,
    replay,
    report,
    run,
    status,
    store,
    train,
    tune,
)
from recjury.cli import list as list_
from recjury.cli.help import GroupedCommands

app = typer.Typer(
    name="recjury",
    cls=GroupedCommands,
    # Every option is an environment variable, too: RECJURY_RUN_LIMIT.
    context_settings={"auto_envvar_prefix": "RECJURY"},
    help="How good is a conversational recommender for the person talking to it? "
    "A simulated user talks with it, twelve judges rate the conversation, four experts debate "
    "a verdict from 0 to 100, further evaluators add their metrics, and a store keeps everything.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"recjury {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Handle the options that stand before a command."""
    del version  # its callback has done everything


_GROUPS: dict[str, dict[str, Callable[..., None] | typer.Typer]] = {
    "Start here": {
        "demo": demo.demo,
        "run": run.run,
        "judge": judge.judge,
        "compare": compare.compare,
        "report": report.report,
        "replay": replay.replay,
        "align": align.align,
    },
    "Running": {
        "status": status.status,
        "tune": tune.tune,
        "doctor": doctor.doctor,
        "store": store.app,
    },
    "Results": {
        "explain": explain.explain,
        "export": export.export,
        "fork": fork.fork,
        "analyse": analyse.analyse,
        "annotate": annotate.app,
    },
    "More": {"store": store.app, "train": train.train, "list": list_.list_kind},
}

for _group, _commands in _GROUPS.items():
    for _name, _command in _commands.items():
        if isinstance(_command, typer.Typer):
            app.add_typer(_command, name=_name, rich_help_panel=_group)
        else:
            app.command(_name, rich_help_panel=_group)(_command)
