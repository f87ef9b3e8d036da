"""`recjury demo`: a campaign without a model, key or network."""

from typing import Annotated

import typer

from recjury.cli.app import app
from recjury.cli.options import DEFAULT_STORE, JsonOption, StoreOption

_NEXT = {
    "recjury view": "all of it in a browser: conversations, and their debates, played",
    "recjury replay": "the conversations; with an id, one of them and its debate",
    "recjury compare": "who is ahead, and whether that is decided",
    "recjury status": "what is done",
    "recjury run my.yaml": "your own system: docs/how-to/systems.md, docs/reference/campaign.md",
    "recjury judge chats.jsonl": "recorded conversations: docs/how-to/logs.md",
}

_NEURAL = ("kbrd", "barcor", "unicrs")
_ABOUT_WEIGHTS = (
    "kbrd, barcor and unicrs play with tiny weights, trained on the sample's few dialogues: much "
    "of what they say means nothing, and rules do not notice it (docs/how-to/neural.md)."
)


@app.command()
def demo(
    limit: Annotated[int | None, typer.Option(min=1, help="The first N scenarios.")] = None,
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Systems over the sample, without a model: rules speak for user, judges and debaters.

    Example: recjury demo --limit 10.
    """
    from recjury import campaign
    from recjury.cli.interrupts import run_until_interrupted
    from recjury.cli.progress import progress_line
    from recjury.cli.running import say_what_was_done
    from recjury.cli.show import show
    from recjury.results import summary
    from recjury.store import Store

    systems = _systems()
    config = campaign.Config.model_validate({"name": "demo", "systems": systems})
    with Store(store) as opened:
        work = campaign.run(config, opened, limit=limit, progress=progress_line())
        finished = run_until_interrupted(work)
        say_what_was_done(finished, since=opened.runs("demo")[-1].started_at)
        show(summary(opened, "demo"), as_json=json)
    if not json:
        _say_what_is_next("" if store == DEFAULT_STORE else f" --store {store}")
        if _NEURAL[0] in systems:
            typer.echo(_ABOUT_WEIGHTS)


def _systems() -> list[str]:
    """Those that need nothing; with torch, also the neural ones with the weights that ship."""
    from recjury.agents.neural.settings import is_installed

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
