"""`recjury train`: weights of neural systems, made from a corpus."""

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recjury.cli.app import app
from recjury.cli.options import JsonOption
from recjury.errors import UserError

if TYPE_CHECKING:
    from recjury.agents.neural.training import Learned, Step
    from recjury.results import Findings


@app.command()
def train(
    name: Annotated[str, typer.Argument(help="kbrd, barcor or unicrs.")],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting, as key=value: corpus=redial, split=valid."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Train a neural system on a corpus, into a folder that `weights` of a campaign file names.

    Examples: recjury train kbrd; recjury train kbrd --set corpus=redial --set split=valid --set
    reply_epochs=0 --set out=my-kbrd.
    """
    from recjury import plugins
    from recjury.agents.neural import training
    from recjury.cli.show import show
    from recjury.mistakes import Mistake, made

    trainers = dict.fromkeys(("kbrd", "barcor", "unicrs"), training.Training)
    trainer = plugins.find("trainers", name, trainers).value
    try:
        asked = made(trainer, {"kind": name, **_settings(settings or ())})
    except Mistake as mistake:
        key = ".".join(map(str, mistake.keys))
        raise UserError(f"--set {key}: {mistake.message}") from None
    try:
        learned = training.train(asked, _progress())
    except KeyboardInterrupt:
        typer.echo("\nInterrupted: nothing is written.", err=True)
        raise typer.Exit(130) from None
    show(_findings(learned), as_json=json)


def _settings(given: Any) -> Mapping[str, Any]:
    """The settings by key; values are YAML. Raises UserError."""
    import yaml

    found = {}
    for setting in given:
        key, is_given, value = setting.partition("=")
        if not is_given:
            raise UserError(f"--set {setting}: expected key=value, such as corpus=sample")
        try:
            found[key] = yaml.safe_load(value)
        except yaml.YAMLError:
            found[key] = value
    return found


def _progress() -> Callable[["Step"], None]:
    """A line on standard error for each epoch; on a terminal, one that is written anew."""
    redraws = sys.stderr.isatty()

    def show(step: "Step") -> None:
        over = step.epoch == step.epochs
        line = f"{step.part}: epoch {step.epoch} of {step.epochs}, loss {step.loss:.3f}"
        sys.stderr.write(f"\r\x1b[K{line}" + ("\n" if over else "") if redraws else f"{line}\n")
        sys.stderr.flush()

    return show


def _findings(learned: "Learned") -> "Findings":
    import pandas as pd

    from recjury.results import Findings

    rows = [(f"Recall@{cut}", round(value, 3)) for cut, value in learned.recall.items()]
    return Findings(
        title=learned.folder.name,
        answer=f"Trained on {learned.recommendations:,} recommendations and {learned.replies:,} "
        f"replies. In a campaign file: weights: {learned.folder}",
        tables={
            f"{learned.tested:,} recommendations of the test split": pd.DataFrame(
                rows, columns=["measure", "value"]
            )
        }
        if learned.tested
        else {},
        data=learned._asdict() | {"folder": str(learned.folder)},
    )
