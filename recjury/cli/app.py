"""All commands, registered in the order in which they are used."""

import typer

from recjury.cli import (
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
    version,
)

app = typer.Typer(
    name="recjury",
    help="How good is a conversational recommender for the person talking to it? "
    "A simulated user talks with it, twelve judges rate the conversation, four experts debate "
    "a verdict from 0 to 100, other evaluators stand beside them, and everything is kept in a "
    "store.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.callback()(version.shown)
app.command("demo")(demo.demo)
app.command("run")(run.run)
app.command("judge")(judge.judge)
app.command("status")(status.status)
app.command("compare")(compare.compare)
app.command("replay")(replay.replay)
app.command("fork")(fork.fork)
app.command("report")(report.report)
app.command("export")(export.export)
app.add_typer(face.app, name="face")
app.add_typer(train.app, name="train")
app.command("evaluators")(evaluators.evaluators)
app.command("doctor")(doctor.doctor)
