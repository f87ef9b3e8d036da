"""`recjury train`: neural systems, FACE's instructions, and judges."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Annotated, Any

import pandas as pd
import typer
import yaml

from recjury import plugins
from recjury.agents.neural import training
from recjury.cli.options import JsonOutput, pairs
from recjury.cli.work import run_until_interrupted
from recjury.errors import UserError
from recjury.mistakes import Mistake, made
from recjury.papers.trainers import trained
from recjury.results import Findings


def train(
    *,
    name: Annotated[
        str, typer.Argument(help="kbrd, barcor, unicrs; face, paireval, dialogue-quality.")
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting, as key=value: corpus=redial, split=valid."),
    ] = None,
    output: JsonOutput,
) -> None:
    """Train a neural system on a corpus, or a judge on people's labels.

    `face` optimises FACE's instructions; an interrupted one goes on by the same command. `paireval`
    and `dialogue-quality` make a LoRA adapter of a model's folder. Examples: recjury train kbrd;
    recjury train face --set aspect=relevance --set labels=ab-redial:DATA/ab-redial --set
    config=judges.yaml; recjury train dialogue-quality --set model=FOLDER --set data=ReDial.txt
    --set out=adapter.
    """
    trainer = plugins.find("trainers", name).value
    try:
        asked = made(trainer, {"kind": name, **_settings(settings or ())})
    except Mistake as mistake:
        key = ".".join(map(str, mistake.keys))
        raise UserError(f"--set {key}: {mistake.message}") from None
    if not isinstance(asked, training.Training):
        said = run_until_interrupted(trained(asked, lambda line: typer.echo(line, err=True)))
        output.show(said)
        return
    try:
        learned = training.train(asked, lambda step: typer.echo(str(step), err=True))
    except KeyboardInterrupt:
        typer.echo("\nInterrupted: nothing is written.", err=True)
        raise typer.Exit(130) from None
    output.show(_findings(learned))


def _settings(given: Iterable[str]) -> Mapping[str, Any]:
    """The settings by key; values are YAML. Raises UserError."""
    found = dict[str, Any](pairs(given, "--set key=value"))
    for key, text in found.items():
        with suppress(yaml.YAMLError):
            found[key] = yaml.safe_load(text)
    return found


def _findings(learned: training.Learned) -> Findings:
    rows = [(f"Recall@{cut}", round(value, 3)) for cut, value in learned.recall.items()]
    heading = f"{learned.tested:,} recommendations of the test split"
    table = pd.DataFrame(rows, columns=["measure", "value"])
    return Findings(
        title=learned.folder.name,
        answer=f"Trained on {learned.recommendations:,} recommendations and {learned.replies:,} "
        f"replies. In a campaign file: weights: {learned.folder}",
        tables={heading: table} if learned.tested else {},
        data=learned._asdict() | {"folder": str(learned.folder)},
    )
