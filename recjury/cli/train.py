"""`recjury train`: train the neural systems under test."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output
from recjury.cli.progress_line import duration, progress_line

if TYPE_CHECKING:
    from recjury.agents.training.report import EpochReport, TrainingProgress, TrainingReport
    from recjury.agents.training.systems import TrainingOptions

app = typer.Typer(help="Train a system under test.", no_args_is_help=True, rich_markup_mode=None)

_EVERY = 30.0  # seconds between lines if there is no terminal

Dataset = Annotated[
    str, typer.Option(metavar="NAME", help="redial, opendialkg, sample, sample-books, or a folder.")
]
Out = Annotated[Path, typer.Option(metavar="DIR", help="The checkpoint folder to write.")]
Data = Annotated[
    Path | None,
    typer.Option(envvar="RECJURY_DATA", metavar="DIR", help="The folder that holds ievalm/."),
]
Seed = Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of all random numbers.")]
Epochs = Annotated[
    int | None, typer.Option(min=1, help="The most epochs, of recommender and generator each.")
]
Half = Annotated[
    bool, typer.Option("--half", help="Store the weights in half precision: half the size.")
]
Bart = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME", help="A published BART to start from: a folder, or facebook/bart-base."
    ),
]
Pair = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KIND=NAME",
        help="A published gpt2 and roberta, whose weights stay frozen: folders or hub names.",
    ),
]


@app.callback()
def _systems() -> None:
    """Train a system under test: its recommender, then its generator.

    ReDial's train split is not public in this form: for ReDial it trains on the validation split
    and stops early on a tenth of its dialogues, and says so.

    Without --backbone, training starts from random weights, in a small configuration.
    """


@app.command()
def kbrd(
    dataset: Dataset,
    out: Out,
    data: Data = None,
    seed: Seed = 0,
    epochs: Epochs = None,
    generator: Annotated[
        bool, typer.Option(help="Without a generator, KBRD replies with templates.")
    ] = True,
    backbone: Bart = None,
    half: Half = False,
    as_json: options.Json = False,
) -> None:
    """Train KBRD: a graph convolution recommends, and a BART that reads its state speaks.

    \b
    recjury train kbrd --dataset opendialkg --data DATA --out checkpoints/kbrd-opendialkg
    recjury train kbrd --dataset sample --out checkpoints/kbrd-sample
    recjury train kbrd --dataset opendialkg --data DATA --out checkpoints/kbrd-bart \\
        --backbone facebook/bart-base
    """
    from recjury.agents.training.systems import TrainingOptions

    chosen = TrainingOptions(
        seed=seed, epochs=epochs, generator=generator, backbones=backbone or (), half=half
    )
    _train("kbrd", dataset, data, out, chosen, as_json=as_json)


@app.command()
def barcor(
    dataset: Dataset,
    out: Out,
    data: Data = None,
    seed: Seed = 0,
    epochs: Epochs = None,
    backbone: Bart = None,
    half: Half = False,
    as_json: options.Json = False,
) -> None:
    """Train BARCOR: one BART recommends, another speaks; both small, or from a published one.

    \b
    recjury train barcor --dataset opendialkg --data DATA --out checkpoints/barcor-opendialkg
    recjury train barcor --dataset opendialkg --data DATA --out checkpoints/barcor-bart \\
        --backbone models/bart-base
    """
    from recjury.agents.training.systems import TrainingOptions

    chosen = TrainingOptions(seed=seed, epochs=epochs, backbones=backbone or (), half=half)
    _train("barcor", dataset, data, out, chosen, as_json=as_json)


@app.command()
def unicrs(
    dataset: Dataset,
    out: Out,
    data: Data = None,
    seed: Seed = 0,
    epochs: Epochs = None,
    backbone: Pair = None,
    half: Half = False,
    as_json: options.Json = False,
) -> None:
    """Train UniCRS: a GPT-2 and a RoBERTa, prompted by words and entities.

    By default both are small and are trained, too. Published ones are frozen and not part of the
    checkpoint, which stores where they are.

    \b
    recjury train unicrs --dataset opendialkg --data DATA --out checkpoints/unicrs-opendialkg
    recjury train unicrs --dataset opendialkg --data DATA --out checkpoints/unicrs-published \\
        --backbone gpt2=microsoft/DialoGPT-small --backbone roberta=models/roberta-base
    """
    from recjury.agents.training.systems import TrainingOptions

    chosen = TrainingOptions(seed=seed, epochs=epochs, backbones=backbone or (), half=half)
    _train("unicrs", dataset, data, out, chosen, as_json=as_json)


def _train(
    system: str,
    dataset: str,
    data: Path | None,
    out: Path,
    chosen: "TrainingOptions",
    *,
    as_json: bool,
) -> None:
    from recjury.agents.training.systems import train
    from recjury.corpora import open_corpus

    corpus = open_corpus(dataset, data)
    with _show_progress() as progress:
        report = train(system, corpus, out, chosen, progress=progress)
    if as_json:
        output.emit_json(report.model_dump(mode="json"))
    else:
        _show(report)


@contextlib.contextmanager
def _show_progress() -> Iterator["TrainingProgress"]:
    """What counts the steps of a training; shown on standard error while the block runs."""
    from recjury.agents.training.report import TrainingProgress

    progress = TrainingProgress(_say_epoch)
    with progress_line(lambda: describe(progress), lambda: _share(progress), every=_EVERY):
        yield progress


def describe(progress: "TrainingProgress") -> str:
    """Part, epoch, batches, and the time left if all epochs are needed, in one line."""
    if not progress.steps:
        return "reading data"
    left = progress.seconds_left()
    batch = progress.done - (progress.epoch - 1) * progress.steps
    return (
        f"{progress.part}, epoch {progress.epoch} of {progress.epochs} at most: "
        f"{batch}/{progress.steps} batches"
    ) + (f" · {duration(left)} left" if left else "")


def _share(progress: "TrainingProgress") -> float:
    return progress.done / max(1, progress.epochs * progress.steps)


def _say_epoch(report: "EpochReport") -> None:
    figures = ", ".join(f"{name} {value:.3f}" for name, value in report.figures.items())
    output.say(
        f"{report.part}, epoch {report.epoch}: loss {report.loss:.3f}, validation {figures} "
        f"({report.seconds:.0f} s)"
    )


def _show(report: "TrainingReport") -> None:
    output.say(f"trained on {report.trained_on}, stopped on {report.stopped_on}")
    if report.test_instances:
        _show_recall(report)
    else:
        output.say("not evaluated: no test split names an item that is known")
    for part in report.parts:
        output.say(f"{part.part}: epoch {part.best_epoch} of {len(part.epochs)}")
    output.say(
        f"{report.folder}: {report.wall_seconds:.0f} s "
        f"({report.cpu_seconds:.0f} s of processor time)"
    )


def _show_recall(report: "TrainingReport") -> None:
    output.show_table(
        ["test turns", *(f"R@{recall.k}" for recall in report.test["all"])],
        (
            [
                f"{group} (n = {recalls[0].n}): {name}",
                *(f"{r.value:.3f} [{r.low:.3f}, {r.high:.3f}]" for r in recalls),
            ]
            for group in report.test
            for name, tested in ((report.system, report.test), *report.floors.items())
            if (recalls := tested[group])  # a group may be empty
        ),
    )
