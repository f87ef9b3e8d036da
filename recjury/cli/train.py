"""`recjury train`: train the systems under test that are ours to train."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output

if TYPE_CHECKING:
    from recjury.agents.kbrd.training import EpochReport, TrainingReport

app = typer.Typer(help="Train a system under test.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _systems() -> None:
    """Train a system under test."""


@app.command()
def kbrd(
    dataset: Annotated[
        str, typer.Option(metavar="NAME", help="redial, opendialkg, sample, or a folder.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The checkpoint folder to write.")],
    data: Annotated[
        Path | None,
        typer.Option(envvar="RECJURY_DATA", metavar="DIR", help="The folder that holds ievalm/."),
    ] = None,
    seed: int = 0,
    epochs: Annotated[int | None, typer.Option(min=1, help="At most so many epochs.")] = None,
    as_json: options.Json = False,
) -> None:
    """Train KBRD's recommender: minutes on two cores, seconds on the sample.

    ReDial's train split is not public in this form: there it trains on the validation split and
    stops early on a tenth of its dialogues, and says so.

    \b
    recjury train kbrd --dataset opendialkg --data DATA --out checkpoints/kbrd-opendialkg
    recjury train kbrd --dataset sample --out checkpoints/kbrd-sample
    """
    from recjury.agents.kbrd.training import Hyperparameters, train_kbrd
    from recjury.corpora import open_corpus

    chosen = Hyperparameters() if epochs is None else Hyperparameters(epochs=epochs)
    report = train_kbrd(
        open_corpus(dataset, data), out, seed=seed, hyperparameters=chosen, progress=_say_epoch
    )
    if as_json:
        output.emit_json(report.model_dump(mode="json"))
    else:
        _show(report)


def _say_epoch(report: "EpochReport") -> None:
    output.say(
        f"epoch {report.epoch}: loss {report.loss:.3f}, "
        f"validation R@1 {report.recall_1:.3f}, R@10 {report.recall_10:.3f}"
    )


def _show(report: "TrainingReport") -> None:
    output.say(f"trained on {report.trained_on}, stopped on {report.stopped_on}")
    output.show_table(
        ["test turns", "n", "model", *(f"R@{recall.k}" for recall in report.test["all"])],
        (
            [
                group,
                str(recalls[0].n),
                name,
                *(f"{r.value:.3f} ({r.low:.3f} to {r.high:.3f})" for r in recalls),
            ]
            for group in report.test
            for name, tested in (("KBRD", report.test), ("popularity", report.popularity))
            if (recalls := tested[group])  # a group may be empty
        ),
    )
    output.say(f"{report.folder}: epoch {report.best_epoch} of {len(report.epochs)}")
    output.say(f"{report.wall_seconds:.0f} s ({report.cpu_seconds:.0f} s of processor time)")
