"""`recjury quality`: dialogue quality by models, compared with people's ratings."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output
from recjury.cli.progress_line import progress_line

if TYPE_CHECKING:
    from recjury.campaign.quality_table import QualityRow
    from recjury.stats.satisfaction import ClassFigures

_EVERY = 10.0  # seconds between lines if there is no terminal
_SHOWN = 5  # reasons that are printed

app = typer.Typer(
    help="The quality of dialogues by models: compared with people's ratings.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def _commands() -> None:
    """The quality of dialogues by models: compared with people's ratings."""


@app.command()
def table(
    config: Annotated[
        Path,
        typer.Option(metavar="FILE.yaml", help="Models, and evaluators of kind dialogue-quality."),
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            envvar="RECJURY_DATA", metavar="DIR", help="The folder of USS, or one that holds uss/."
        ),
    ] = None,
    subset: Annotated[
        str, typer.Option(metavar="NAME", help="SGD, MWOZ, ReDial or CCPE.")
    ] = "ReDial",
    evaluator: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this evaluator of the file; may be repeated."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the split of the dialogues.")] = 0,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only N of the tested dialogues.")
    ] = None,
    budget: options.Budget = None,
    concurrency: options.Concurrency = None,
    store: options.Store = options.DEFAULT_STORE,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be asked, and what it may cost.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Rate a tenth of USS, and compare the scores with people's ratings.

    A row for each evaluator of the file: correlations, and precision, recall and F1 of defects
    (rated 3 or less) and of the others. Examples come from the other nine tenths. What the store
    has is not asked again, so the same command continues.

    \b
    recjury quality table --config quality.yaml --data DATA --subset ReDial --dry-run
    recjury quality table --config quality.yaml --data DATA --subset CCPE --json
    """
    from recjury.campaign.config_file import read_models
    from recjury.campaign.quality_table import quality_table, read_quality_table
    from recjury.cli.async_work import await_work
    from recjury.cli.dry_run import show_calls
    from recjury.errors import ConfigError

    if data is None:
        raise ConfigError("where is the data? Give --data or set RECJURY_DATA")
    changes = {"budget": budget, "concurrency": concurrency}
    base = read_models(config)
    base = base.model_copy(update={k: v for k, v in changes.items() if v is not None})
    asked = read_quality_table(
        base, data, subset, evaluators=evaluator or (), seed=seed, limit=limit
    )
    if dry_run:
        _ = asked.work  # what is wrong with models and examples is said here, too
        show_calls(asked.config, asked.expected, as_json=as_json)
        return
    progress = asked.progress
    with progress_line(
        lambda: f"rated {progress.done:,}/{progress.of:,}",
        lambda: progress.done / max(1, progress.of),
        every=_EVERY,
    ):
        rows = await_work(quality_table(asked, store))
    if as_json:
        output.emit_json({"subset": subset, "rows": [_as_json(row) for row in rows]})
    else:
        _show(rows)
    _say_losses(rows)


def _as_json(row: "QualityRow") -> dict[str, object]:
    found = row.found
    return {
        "evaluator": row.evaluator,
        "level": str(row.level),
        "test": None if found.figures is None else found.as_json(),
        "unscored": dict(found.unscored),
        "cut": found.cut,
        "left_out": found.left_out,
    }


def _show(rows: "Sequence[QualityRow]") -> None:
    classes = ("defect", "non-defect", "weighted", "macro")
    output.show_table(
        [
            "evaluator",
            "level",
            "n (dialogues)",
            "rho",
            "r",
            "accuracy",
            *(f"{each} P/R/F1" for each in classes),
        ],
        (
            [
                row.evaluator,
                str(row.level),
                f"{figures.n} ({row.found.dialogues})",
                _with_interval(figures.spearman, row.found.intervals["spearman"]),
                _with_interval(figures.pearson, row.found.intervals["pearson"]),
                output.number(figures.accuracy),
                *map(
                    _class_cell,
                    (figures.defect, figures.non_defect, figures.weighted, figures.macro),
                ),
            ]
            for row in rows
            if (figures := row.found.figures) is not None
        ),
    )


def _with_interval(value: float | None, interval: tuple[float | None, float | None]) -> str:
    low, high = interval
    return f"{output.number(value)} [{output.number(low)}, {output.number(high)}]"


def _class_cell(figures: "ClassFigures") -> str:
    return " ".join(output.number(each) for each in figures)


def _say_losses(rows: "Sequence[QualityRow]") -> None:
    """What has no score, and what was cut; ends with exit code 3 if calls failed."""
    for row in rows:
        name = f"{row.evaluator}, {row.level}s"
        if row.found.cut:
            output.say(
                f"{name}: {row.found.left_out} of the oldest turns were left out in "
                f"{row.found.cut} prompts, which were too long"
            )
        for reason, count in list(row.found.unscored.items())[:_SHOWN]:
            output.say(f"{name}: {count} without a score: {reason}")
    if any(row.found.failed for row in rows):
        output.say("recjury: run the same command again for the calls that failed")
        output.stop(output.SOME_FAILED)
