"""`recjury paireval robustness` and `scatter`: worsened replies, and scores against ratings."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output
from recjury.cli.paireval_options import (
    Config,
    Data,
    DryRun,
    Models,
    RowLimit,
    Seed,
    Sets,
    choose,
    is_dry,
    read_models,
    say_notes,
    show_comparisons,
)

if TYPE_CHECKING:
    from recjury.agreement.replies.robustness import AttackAccuracy
    from recjury.judges.paireval.comparison import LlmPairJudge
    from recjury.records import JSON

Direct = Annotated[
    bool, typer.Option("--direct", help="Ask about each response alone, as DirectEval does.")
]


def robustness(
    config: Config,
    model: Models = None,
    data: Data = None,
    pairs: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="A folder with robustness-pairs.jsonl, as `manipulate` writes it."
        ),
    ] = None,
    attack: Annotated[
        list[str] | None,
        typer.Option("--attack", metavar="NAME", help="Only this one; may be repeated."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only the first N pairs of each attack.")
    ] = None,
    direct: Direct = False,
    budget: options.Budget = None,
    store: options.Store = options.DEFAULT_STORE,
    dry_run: DryRun = False,
    as_json: options.Json = False,
) -> None:
    """How often a reply is preferred to a worse version of it (PairEval's Table 7).

    Both are in one prompt, in both orders. Pairs of two equal replies are left out; a tie and a
    pair without a result count against the model.

    \b
    recjury paireval robustness --config models.yaml --data DATA --limit 100
    recjury paireval robustness --config models.yaml --pairs own-pairs --direct
    """
    from recjury.agreement.replies.robustness import attack_accuracies, different
    from recjury.agreement.replies.scoring import margins
    from recjury.campaign.paireval import analyse, sets_folder
    from recjury.cli.async_work import await_work
    from recjury.corpora.dialogues import read_robustness_pairs
    from recjury.errors import DataError
    from recjury.judges.paireval.scorer import DirectEvalScorer, PairEvalScorer
    from recjury.llm import MAIN_MODEL
    from recjury.records import digest

    models = list(dict.fromkeys(model or [MAIN_MODEL]))
    read = read_models(config, models, budget)
    given = read_robustness_pairs(sets_folder(data) if pairs is None else pairs)
    wanted = [each for each in different(tuple(given)) if not attack or each.attack in attack]
    by_attack: dict[str, int] = {}
    chosen = []
    for each in wanted:
        by_attack[each.attack] = by_attack.get(each.attack, 0) + 1
        if limit is None or by_attack[each.attack] <= limit:
            chosen.append(each)
    if not chosen:
        of = f" of {', '.join(attack)}" if attack else " of two different replies"
        raise DataError(f"there is no pair{of}")
    if dry_run:
        alone, calls = (2 * len(chosen), 0) if direct else (0, 2 * len(chosen))
        show_comparisons(read, models, calls, alone=alone, as_json=as_json)
        return

    async def analysis(judge: "LlmPairJudge") -> "dict[str, AttackAccuracy]":
        scorer = DirectEvalScorer(judge) if direct else PairEvalScorer(judge, ())
        return attack_accuracies(chosen, await margins(scorer, chosen))

    what: dict[str, JSON] = {"pairs": digest([each.id for each in chosen]), "direct": direct}
    found = await_work(analyse("robustness", read, store, models, what, analysis))
    if as_json:
        output.emit_json(
            {
                "accuracy": {
                    alias: {name: each._asdict() for name, each in _accuracies(table).items()}
                    for alias, table in found.results.items()
                },
                "notes": {alias: note._asdict() for alias, note in found.notes.items()},
            }
        )
    else:
        for alias, table in found.results.items():
            _show_accuracies(alias, _accuracies(table))
    say_notes(found.notes)


def _accuracies(table: object) -> "dict[str, AttackAccuracy]":
    assert isinstance(table, dict)
    return table


def _show_accuracies(alias: str, table: "dict[str, AttackAccuracy]") -> None:
    mean = sum(each.accuracy for each in table.values()) / len(table)
    output.show_table(
        [alias, "n", "original preferred", "ties", "unscored"],
        [
            *(
                [name, str(each.n), f"{each.accuracy:.3f}", str(each.ties), str(each.unscored)]
                for name, each in table.items()
            ),
            ["mean over attacks", "", f"{mean:.3f}", "", ""],
        ],
    )


def scatter(
    config: Config,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the plots are written.")],
    model: Models = None,
    data: Data = None,
    chosen_sets: Sets = None,
    limit: RowLimit = None,
    number: Annotated[int, typer.Option(min=1, help="Comparison examples.")] = 3,
    direct: Direct = False,
    seed: Seed = 0,
    budget: options.Budget = None,
    store: options.Store = options.DEFAULT_STORE,
    dry_run: DryRun = False,
    as_json: options.Json = False,
) -> None:
    """Plot scores against people's ratings, a file for each set and model (PairEval's Figure 3).

    Ratings get a little noise (standard deviation .03), and the line is a linear regression.

    \b
    recjury paireval scatter --config models.yaml --data DATA --set dailydialog-grade --out plots
    """
    from recjury.agreement.replies.rows import RatedRow
    from recjury.agreement.replies.scatter import write_scatter_plots
    from recjury.campaign.paireval import analyse
    from recjury.cli.async_work import await_work
    from recjury.judges.paireval.examples import draw
    from recjury.judges.paireval.scorer import DirectEvalScorer, PairEvalScorer

    chosen = choose(
        config, model, data, chosen_sets, limit, 1, seed, store, budget, as_json=as_json
    )
    given = chosen.given
    alone, calls = (given.rows, 0) if direct else (0, 2 * given.comparisons(number=number))
    if is_dry(chosen, calls, alone=alone, dry_run=dry_run):
        return

    async def analysis(judge: "LlmPairJudge") -> list[float | None]:
        examples = draw(given.pool, number, seed)
        scorer = DirectEvalScorer(judge) if direct else PairEvalScorer(judge, examples)
        return [score for each in given.sets for score in await scorer.scores(each.responses)]

    what = {**given.identity(), "number": number, "direct": direct}
    found = await_work(analyse("scatter", chosen.config, store, chosen.models, what, analysis))
    rows = [
        RatedRow(
            row.response.id,
            each.name,
            (row.response,),
            row.target,
            row.response.system or "",
            row.human,
            row.group,
        )
        for each in given.sets
        for row in each.rows
    ]
    written = write_scatter_plots(rows, found.results, out, seed=seed)  # type: ignore[arg-type]
    if as_json:
        output.emit_json({"folder": str(out), "plots": written})
    else:
        output.say(f"{out}: {written} plots")
    say_notes(found.notes)
