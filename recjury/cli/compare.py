"""`recjury compare`: two systems, or two evaluators, against each other."""

from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output
from recjury.errors import ConfigError
from recjury.safe_text import printable

if TYPE_CHECKING:
    from recjury.results import Comparison, EvaluatorComparison
    from recjury.stats import MeanDifference

_INTERVAL = ["95 % low", "high", "p (Holm)", "n"]


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="A system's name.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another system's name.")],
    evaluators: Annotated[
        bool, typer.Option("--evaluators", help="A and B are evaluators, not systems.")
    ] = False,
    metric: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Only this metric; may be repeated.")
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    campaign: options.Campaign = None,
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 0,
    as_json: options.Json = False,
) -> None:
    """Compare two systems: A minus B on the scenarios of both, with 95 % intervals and p-values.

    With --evaluators, compare two evaluators on the conversations that both rated. P-values are
    Holm-corrected.

    \b
    recjury compare kbrd retrieval
    recjury compare kbrd_redial chatgpt_redial --store sqlite:///recorded.db --json
    recjury compare --evaluators core core@1a2b --metric overall
    """
    from recjury.results import compare_evaluators, compare_systems
    from recjury.store import Store

    if a == b:
        raise ConfigError(f"A and B must be two different names, got {a} twice")
    work = compare_evaluators if evaluators else compare_systems
    with Store.open(store, create=False) as kept:
        chosen = kept.campaign(campaign).id if campaign else None
        result = work(kept, a, b, campaign=chosen, metrics=metric or (), seed=seed)
    if as_json:
        output.emit_json(result.as_json())
    else:
        _show(printable(f"{a} - {b}"), result)


def _show(title: str, result: "Comparison | EvaluatorComparison") -> None:
    from recjury.results import Comparison

    if isinstance(result, Comparison):
        rows = [[m, *_gap(gap.difference)] for m, gap in result.gaps.items() if gap.difference.n]
        output.show_table([title, "difference", *_INTERVAL], rows)
        if result.is_paired:
            output.say(f"paired over {result.pairs} scenarios that both systems met")
        else:
            output.say("unpaired: the two systems have no scenario in common")
        return
    numbers = output.number
    output.show_table(
        [title, "difference", *_INTERVAL, "apart", "Spearman", "Pearson"],
        [
            [m, *_gap(e.difference), numbers(e.apart), numbers(e.spearman), numbers(e.pearson)]
            for m, e in result.agreements.items()
        ],
    )
    output.say(
        f"over {result.pairs} conversations that both rated; apart: mean absolute difference"
    )


def _gap(gap: "MeanDifference") -> list[str]:
    bounds = (output.number(value) for value in (gap.difference, gap.low, gap.high))
    return [*bounds, output.number(gap.p, 4), str(gap.n)]
