"""`recjury demo`: a campaign without a model, key or network."""

from functools import partial
from typing import Annotated

import typer

from recjury import campaign
from recjury.agents.neural.settings import is_installed
from recjury.cli.options import DEFAULT_STORE, JsonOutput, StoreOption
from recjury.cli.work import Work

_NEXT = {
    "recjury view": "all of it in a browser: conversations, and their debates, played",
    "recjury replay": "the conversations; with an id, one of them and its debate",
    "recjury compare": "who is ahead, and whether that is decided",
    "recjury status": "what is done",
    "recjury run my.yaml": "your own system: docs/how-to/systems.md, docs/how-to/campaigns.md",
    "recjury judge chats.jsonl": "recorded conversations: docs/how-to/logs.md",
}

_NEURAL = ("kbrd", "barcor", "unicrs")
_ABOUT_WEIGHTS = (
    "kbrd, barcor and unicrs play with tiny weights, trained on the sample's few dialogues: much "
    "of what they say means nothing, and rules do not notice it (docs/how-to/neural.md)."
)


def demo(
    *,
    limit: Annotated[int | None, typer.Option(min=1, help="The first N scenarios.")] = None,
    store: StoreOption = DEFAULT_STORE,
    output: JsonOutput,
) -> None:
    """Systems over the sample, without a model: rules speak for user, judges and debaters.

    Example: recjury demo --limit 10.
    """
    systems = _systems()
    config = campaign.Config.model_validate({"name": "demo", "systems": systems})
    output.show(Work(store=store).carry_out(config, partial(campaign.run, config, limit=limit)))
    if not output.json:
        _say_what_is_next("" if store == DEFAULT_STORE else f" --store {store}")
        if _NEURAL[0] in systems:
            typer.echo(_ABOUT_WEIGHTS)


def _systems() -> list[str]:
    """Those that need nothing; with torch, also the neural ones with the weights that ship."""
    if is_installed():
        return ["retrieval", *_NEURAL, "popular", "random"]
    typer.echo(f"Without {', '.join(_NEURAL)}: pip install 'recjury[neural]' adds them.", err=True)
    return ["retrieval", "popular", "random"]


def _say_what_is_next(store: str) -> None:
    commands = {f"{command}{store}": purpose for command, purpose in _NEXT.items()}
    width = max(map(len, commands))
    typer.echo("\nNext:")
    for command, purpose in commands.items():
        typer.echo(f"  {command:{width}}  {purpose}")
    page = "docs/explanation/without-a-model.md"
    typer.echo(f"User, judges and debaters of the demo are rules, and no model: {page}.")
