"""All commands, registered in the order in which they are used."""

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
    evaluators,
    export,
    face,
    fork,
    judge,
    replay,
    report,
    run,
    status,
    train,
    train_judges,
    tune,
)

app = typer.Typer(
    name="recjury",
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


app.command("demo")(demo.demo)
app.command("run")(run.run)
app.command("judge")(judge.judge)
app.command("status")(status.status)
app.command("tune")(tune.tune)
app.command("compare")(compare.compare)
app.command("align")(align.align)
app.command("analyse")(analyse.analyse)
app.add_typer(annotate.app, name="annotate")
app.command("replay")(replay.replay)
app.command("fork")(fork.fork)
app.command("report")(report.report)
app.command("export")(export.export)
app.add_typer(face.app, name="face")
app.add_typer(train.app, name="train")
train.app.command("dialogue-quality")(train_judges.dialogue_quality)
train.app.command("paireval")(train_judges.paireval)
app.command("evaluators")(evaluators.evaluators)
app.command("doctor")(doctor.doctor)
