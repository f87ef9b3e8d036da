"""`recjury compare`: two systems against each other."""

from typing import Annotated

import typer

from recjury.cli import options, output
from recjury.cli.plain_text import printable


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="A system's name.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another system's name.")],
    store: options.Store = options.DEFAULT_STORE,
    campaign: options.Campaign = None,
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 0,
    as_json: options.Json = False,
) -> None:
    """Compare two systems: A minus B on what both met, with 95 % intervals and corrected p-values.

    \b
    recjury compare kbrd retrieval
    recjury compare kbrd_redial chatgpt_redial --store sqlite:///recorded.db --json
    """
    from recjury.report import compare_systems
    from recjury.store import Store

    with Store.open(store, create=False) as kept:
        chosen = kept.campaign(campaign).id if campaign else None
        result = compare_systems(kept, a, b, campaign=chosen, seed=seed)
    if as_json:
        output.emit_json(result.as_json())
        return
    output.show_table(
        [printable(f"{a} - {b}"), "difference", "95 % low", "high", "p (Holm)", "n"],
        (
            [
                name,
                output.number(gap.difference),
                output.number(gap.low),
                output.number(gap.high),
                output.number(gap.p, 4),
                str(gap.n),
            ]
            for name, gap in result.measures.items()
        ),
    )
    if result.is_paired:
        output.say(f"paired over {result.pairs} scenarios that both systems met")
    else:
        output.say("unpaired: the two systems have no scenario in common")
