"""`recjury paireval`: the analyses of PairEval on rated replies, and a tournament of systems."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output, paireval_robustness, paireval_tournament
from recjury.cli.paireval_options import (
    Config,
    Data,
    Draws,
    DryRun,
    Models,
    PairEvalOptions,
    RowLimit,
    Seed,
    Sets,
    choose,
    is_dry,
    say_notes,
)

if TYPE_CHECKING:
    from recjury.judges.paireval.analyses import AnalysisRow, ExampleKind, PositionBias
    from recjury.judges.paireval.comparison import LlmPairJudge
    from recjury.records import JSON

app = typer.Typer(
    help="PairEval: responses compared in pairs, its analyses, and a tournament of systems.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def _commands() -> None:
    """PairEval: responses compared in pairs, its analyses, and a tournament of systems."""


app.command("robustness")(paireval_robustness.robustness)
app.command("scatter")(paireval_robustness.scatter)
app.command("tournament")(paireval_tournament.tournament)
app.command("adversaries")(paireval_tournament.adversaries)


@app.command()
def examples(
    config: Config,
    model: Models = None,
    data: Data = None,
    chosen_sets: Sets = None,
    limit: RowLimit = None,
    number: Annotated[int, typer.Option(min=1, help="The most comparison examples.")] = 3,
    draws: Draws = 5,
    seed: Seed = 0,
    budget: options.Budget = None,
    store: options.Store = options.DEFAULT_STORE,
    dry_run: DryRun = False,
    as_json: options.Json = False,
) -> None:
    """Correlations by number and kind of comparison examples (PairEval's Table 3).

    Examples come from DailyDialog's validation dialogues (random), or from the set itself (test).

    \b
    recjury paireval examples --config models.yaml --data DATA --model tuned
    """
    from recjury.judges.paireval.analyses import correlations_of_draws

    chosen = choose(
        config, model, data, chosen_sets, limit, draws, seed, store, budget, as_json=as_json
    )
    given, numbers = chosen.given, tuple(range(1, number + 1))
    kinds: tuple[ExampleKind, ...] = ("random", "test")
    calls = 2 * given.comparisons(kinds=len(kinds), number=number)
    if is_dry(chosen, calls, dry_run=dry_run):
        return

    async def analysis(judge: "LlmPairJudge") -> list["AnalysisRow"]:
        return await correlations_of_draws(
            judge,
            given.sets,
            given.pool,
            kinds=kinds,
            numbers=numbers,
            draws=given.draws,
            seed=given.seed,
        )

    _show("examples", chosen, {"number": number}, analysis)


@app.command()
def table(
    config: Config,
    model: Models = None,
    data: Data = None,
    chosen_sets: Sets = None,
    limit: RowLimit = None,
    draws: Draws = 5,
    seed: Seed = 0,
    budget: options.Budget = None,
    store: options.Store = options.DEFAULT_STORE,
    dry_run: DryRun = False,
    as_json: options.Json = False,
) -> None:
    """Correlations of DirectEval, and of PairEval with three examples (PairEval's Table 1).

    \b
    recjury paireval table --config examples/recipes/paireval.yaml --data DATA --model tuned
    """
    from recjury.judges.paireval.analyses import TABLE_EXAMPLES, table_rows

    chosen = choose(
        config, model, data, chosen_sets, limit, draws, seed, store, budget, as_json=as_json
    )
    given = chosen.given
    alone, calls = given.rows, 2 * given.comparisons(number=TABLE_EXAMPLES)
    if is_dry(chosen, calls, alone=alone, dry_run=dry_run):
        return

    async def analysis(judge: "LlmPairJudge") -> list["AnalysisRow"]:
        return await table_rows(judge, given.sets, given.pool, draws=given.draws, seed=given.seed)

    _show("table", chosen, {}, analysis)


@app.command()
def spread(
    config: Config,
    model: Models = None,
    data: Data = None,
    chosen_sets: Sets = None,
    limit: RowLimit = None,
    draws: Draws = 15,
    seed: Seed = 0,
    budget: options.Budget = None,
    store: options.Store = options.DEFAULT_STORE,
    dry_run: DryRun = False,
    as_json: options.Json = False,
) -> None:
    """How far correlations vary with the one example that is drawn (PairEval's Table 2).

    \b
    recjury paireval spread --config models.yaml --data DATA --model zero-shot --model tuned
    """
    _of_one_example(
        "spread",
        ("random",),
        choose(
            config, model, data, chosen_sets, limit, draws, seed, store, budget, as_json=as_json
        ),
        dry_run=dry_run,
    )


@app.command()
def negatives(
    config: Config,
    model: Models = None,
    data: Data = None,
    chosen_sets: Sets = None,
    limit: RowLimit = None,
    draws: Draws = 5,
    seed: Seed = 0,
    budget: options.Budget = None,
    store: options.Store = options.DEFAULT_STORE,
    dry_run: DryRun = False,
    as_json: options.Json = False,
) -> None:
    """Models trained with and without adversarial negatives (PairEval's Table 6).

    \b
    recjury paireval negatives --config models.yaml --data DATA --model hard --model random-only
    """
    _of_one_example(
        "negatives",
        ("random", "test"),
        choose(
            config, model, data, chosen_sets, limit, draws, seed, store, budget, as_json=as_json
        ),
        dry_run=dry_run,
    )


def _of_one_example(
    name: str, kinds: "tuple[ExampleKind, ...]", chosen: PairEvalOptions, *, dry_run: bool
) -> None:
    from recjury.judges.paireval.analyses import correlations_of_draws

    given = chosen.given
    if is_dry(chosen, 2 * given.comparisons(kinds=len(kinds)), dry_run=dry_run):
        return

    async def analysis(judge: "LlmPairJudge") -> list["AnalysisRow"]:
        return await correlations_of_draws(
            judge,
            given.sets,
            given.pool,
            kinds=kinds,
            numbers=(1,),
            draws=given.draws,
            seed=given.seed,
        )

    _show(name, chosen, {}, analysis)


@app.command()
def exhaustive(
    config: Config,
    model: Models = None,
    data: Data = None,
    chosen_sets: Sets = None,
    limit: RowLimit = None,
    budget: options.Budget = None,
    store: options.Store = options.DEFAULT_STORE,
    dry_run: DryRun = False,
    as_json: options.Json = False,
) -> None:
    """Each response against all others of its set (PairEval's Table 4): n (n - 1) calls.

    \b
    recjury paireval exhaustive --config models.yaml --data DATA --set convai2-usr --dry-run
    """
    from recjury.judges.paireval.analyses import exhaustive_rows

    chosen = choose(config, model, data, chosen_sets, limit, 1, 0, store, budget, as_json=as_json)
    if is_dry(chosen, 2 * chosen.given.exhaustive(), dry_run=dry_run):
        return

    async def analysis(judge: "LlmPairJudge") -> list["AnalysisRow"]:
        return await exhaustive_rows(judge, chosen.given.sets)

    _show("exhaustive", chosen, {}, analysis)


@app.command()
def position(
    config: Config,
    model: Models = None,
    data: Data = None,
    chosen_sets: Sets = None,
    limit: RowLimit = None,
    draws: Draws = 5,
    seed: Seed = 0,
    budget: options.Budget = None,
    store: options.Store = options.DEFAULT_STORE,
    dry_run: DryRun = False,
    as_json: options.Json = False,
) -> None:
    """The rated response shown first, second, and both (PairEval's Table 5).

    It also says how far a model prefers a place, whatever is shown there.

    \b
    recjury paireval position --config models.yaml --data DATA --model zero-shot --model tuned
    """
    from recjury.judges.paireval.analyses import position_rows

    chosen = choose(
        config, model, data, chosen_sets, limit, draws, seed, store, budget, as_json=as_json
    )
    given = chosen.given
    if is_dry(chosen, 2 * given.comparisons(), dry_run=dry_run):
        return
    biases: list[PositionBias] = []

    async def analysis(judge: "LlmPairJudge") -> list["AnalysisRow"]:
        rows, found = await position_rows(
            judge, given.sets, given.pool, draws=given.draws, seed=given.seed
        )
        biases.extend(found)
        return rows

    _show("position", chosen, {}, analysis, biases)


def _show(
    name: str,
    chosen: PairEvalOptions,
    more: "Mapping[str, JSON]",
    analysis: "Callable[[LlmPairJudge], Awaitable[list[AnalysisRow]]]",
    biases: "Sequence[PositionBias]" = (),
) -> None:
    """Do the analysis and print its rows."""
    from recjury.campaign.paireval import analyse
    from recjury.cli.async_work import await_work

    what = {**chosen.given.identity(), **more}
    found = await_work(analyse(name, chosen.config, chosen.store, chosen.models, what, analysis))
    every = (rows for rows in found.results.values() if isinstance(rows, list))
    rows: list[AnalysisRow] = [row for each in every for row in each]
    if chosen.as_json:
        output.emit_json(
            {
                "rows": [row.model_dump(mode="json") for row in rows],
                "position_bias": [each.model_dump(mode="json") for each in biases],
                "notes": {alias: note._asdict() for alias, note in found.notes.items()},
            }
        )
    else:
        _show_rows(rows)
        _show_biases(biases)
    say_notes(found.notes)


def _show_rows(rows: "Sequence[AnalysisRow]") -> None:
    output.show_table(
        ["set", "model", "examples", "shown", "n", "draws", "r", "rho", "unscored"],
        (
            [
                row.set,
                row.judge,
                f"{row.number} {row.kind}",
                row.position,
                str(row.n),
                str(row.draws),
                _with_spread(row.pearson, row.pearson_sd),
                _with_spread(row.spearman, row.spearman_sd),
                str(row.unscored),
            ]
            for row in rows
        ),
    )


def _with_spread(mean: float | None, spread: float | None) -> str:
    return output.number(mean, 3) + ("" if spread is None else f" (sd {spread:.3f})")


def _show_biases(biases: "Sequence[PositionBias]") -> None:
    if not biases:
        return
    output.show_table(
        ["set", "model", "comparisons", "probability of the first place", "winner changes"],
        (
            [
                each.set,
                each.judge,
                str(each.comparisons),
                f"{each.first:.3f}",
                f"{each.changed:.1%}",
            ]
            for each in biases
        ),
    )
