"""`recjury meta-evaluate`: scorers of replies compared with people, on the published sets."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output
from recjury.cli.progress_line import duration, progress_line

if TYPE_CHECKING:
    from recjury.agreement.replies.agreement import AgreementTable
    from recjury.agreement.replies.evaluation import MetaEvaluation
    from recjury.agreement.replies.robustness import RobustnessTable
    from recjury.agreement.replies.scoring import ScoringStep
    from recjury.stats.clustered import BootstrapEstimate

_EVERY = 10.0  # seconds between lines if there is no terminal


def meta_evaluate(
    data: Annotated[
        Path | None,
        typer.Option(
            envvar="RECJURY_DATA",
            metavar="DIR",
            help="The folder of the sets, or the one that holds dialogue-eval/.",
        ),
    ] = None,
    chosen_sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME", help="Only this set; may be repeated."),
    ] = None,
    scorer: Annotated[
        list[str] | None,
        typer.Option("--scorer", metavar="NAME", help="Only this scorer; may be repeated."),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A causal language model, for FED and FULL."),
    ] = None,
    replies: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="A judge of replies that `train paireval` made, for `learned`."
        ),
    ] = None,
    robustness: Annotated[
        bool, typer.Option(help="Also compare replies with worse versions of them.")
    ] = True,
    pairs: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="A folder with robustness-pairs.jsonl, as `manipulate` writes it."
        ),
    ] = None,
    pairs_each: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="At most N pairs of each kind, drawn by seed."),
    ] = None,
    scatter: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write a scatter plot of each set and scorer there."),
    ] = None,
    resamples: Annotated[
        int, typer.Option(min=2, metavar="N", help="Resamples behind the intervals.")
    ] = 1_000,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the resamples, and of pairs that are drawn.")
    ] = 0,
    as_json: options.Json = False,
) -> None:
    """Compare scorers that need no LLM with people's ratings of replies and dialogues.

    Pearson's r and Spearman's rho by set, over all rows and over what models wrote, with 95 %
    intervals from a bootstrap of dialogues; and how often each scorer prefers a reply to a worse
    version of it.

    \b
    recjury meta-evaluate --data DATA
    recjury meta-evaluate --data DATA --set fed-turn --scorer length --scorer cosine-last
    recjury meta-evaluate --data DATA --model models/DialoGPT-large --scorer fed --json
    """
    from recjury.agreement.replies.evaluation import MetaEvaluationPlan
    from recjury.agreement.replies.evaluation import meta_evaluate as evaluate
    from recjury.agreement.replies.rows import SETS
    from recjury.cli.async_work import await_work
    from recjury.corpora.writing import check_writable
    from recjury.errors import ConfigError

    if data is None:
        raise ConfigError("where is the data? Give --data or set RECJURY_DATA")
    plan = MetaEvaluationPlan(
        data,
        tuple(dict.fromkeys(chosen_sets or SETS)),
        scorer or None,
        model,
        replies,
        robustness=robustness,
        pairs=pairs,
        pairs_each=pairs_each,
        resamples=resamples,
        seed=seed,
    )
    if scatter is not None:
        check_writable(scatter / "plot.svg")
    progress = _ScoringProgress()
    with progress_line(progress.line, progress.share, every=_EVERY):
        found = await_work(evaluate(plan, progress))
    if scatter is not None:
        _write_plots(found, scatter)
    if as_json:
        output.emit_json(found.as_json())
        return
    _show_agreement(found.agreement)
    if found.context is not None:
        _show_agreement(found.context, "Maintains Context, ")
    if found.robustness is not None:
        _show_robustness(found.robustness)
    if found.cut:
        output.say(f"{found.cut} texts were too long for the model and lost their oldest tokens")
    output.say(", ".join(f"{name} {duration(each.wall)}" for name, each in found.took.items()))


class _ScoringProgress:
    """The current step, in one line."""

    def __init__(self) -> None:
        self._step: ScoringStep | None = None

    def __call__(self, step: "ScoringStep") -> None:
        self._step = step

    def line(self) -> str:
        """What is scored now."""
        step = self._step
        if step is None:
            return "reading the sets"
        return f"{step.scorer}: {step.what} ({step.done + 1}/{step.of})"

    def share(self) -> float:
        """What part of the current work is done, 0 to 1."""
        return self._step.done / max(1, self._step.of) if self._step else 0.0


def _show_agreement(table: "AgreementTable", rating: str = "") -> None:
    for name in dict.fromkeys(subset.set for subset in table.subsets):
        subsets = [subset for subset in table.subsets if subset.set == name]
        scorers = list(table.subsets[subsets[0]])
        output.show_table(
            [
                f"{rating}{name}",
                *(f"{subset.name} (n = {table.rows[subset]}): r; rho" for subset in subsets),
            ],
            (
                [
                    scorer,
                    *(
                        _pair(
                            table.subsets[subset][scorer].pearson,
                            table.subsets[subset][scorer].spearman,
                        )
                        for subset in subsets
                    ),
                ]
                for scorer in scorers
            ),
        )
    for name, row in table.averages.items():
        output.show_table(
            [f"mean over {name}", "r; rho"],
            ([scorer, _pair(each.pearson, each.spearman)] for scorer, each in row.items()),
        )


def _pair(r: "BootstrapEstimate", rho: "BootstrapEstimate") -> str:
    return f"{_estimate(r)}; {_estimate(rho)}"


def _estimate(found: "BootstrapEstimate") -> str:
    if found.value is None:
        return "-"
    return f"{found.value:.3f} [{output.number(found.low)}, {output.number(found.high)}]"


def _show_robustness(table: "RobustnessTable") -> None:
    attacks = list(next(iter(table.scorers.values())))
    output.show_table(
        ["original preferred", *attacks, "mean"],
        (
            [name, *(f"{row[attack].accuracy:.3f}" for attack in attacks), f"{mean:.3f}"]
            for (name, row), mean in zip(table.scorers.items(), table.means.values(), strict=True)
        ),
    )


def _write_plots(found: "MetaEvaluation", folder: Path) -> None:
    from recjury.agreement.replies.scatter import write_scatter_plots

    written = write_scatter_plots(found.rows, found.scores, folder)
    output.say(f"{folder}: {written} plots")
