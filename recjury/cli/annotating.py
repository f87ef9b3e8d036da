"""`recjury annotate`: pages on which people rate, and their answers as labels."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from recjury import agreement
from recjury.cli.options import (
    DEFAULT_STORE,
    CampaignOption,
    JsonOutput,
    SelectionOptions,
    StoreOption,
    campaign_of,
)
from recjury.cli.parameters import expanded
from recjury.store import Store

annotate = typer.Typer(
    help="Let people rate conversations.", no_args_is_help=True, rich_markup_mode=None
)


@annotate.command("export")
@expanded
def export_(
    *,
    folder: Annotated[Path, typer.Argument(help="Where the pages are written.")],
    raters: Annotated[str, typer.Option(help="Their names, with commas: anna,ben.")],
    design: Annotated[
        Literal["core", "random"],
        typer.Option(help="Records with the conversations of all systems, or conversations."),
    ] = "core",
    number: Annotated[
        int, typer.Option(min=1, help="Records of each corpus, or conversations.")
    ] = 10,
    each: Annotated[int, typer.Option(min=1, help="So many raters get a conversation.")] = 2,
    seed: Annotated[int, typer.Option(help="Of the drawing.")] = 0,
    prompts: Annotated[
        str, typer.Option(help="The judges' pack with the guidelines: core, core-paper, a folder.")
    ] = "core",
    selection: SelectionOptions,
    store: StoreOption = DEFAULT_STORE,
    campaign: CampaignOption = "",
    output: JsonOutput,
) -> None:
    """Write a page for each rater, which needs no network, and a key, which raters do not get.

    Examples: recjury annotate export study --raters anna,ben; recjury annotate export study
    --raters anna,ben,carla --design random --number 30.
    """
    names = tuple(name.strip() for name in raters.split(","))
    with Store(store, readonly=True) as opened:
        found = agreement.export_pages(
            opened,
            folder,
            agreement.Drawing(names, design, number, each, seed),
            prompts=prompts,
            campaign=campaign_of(opened, campaign),
            selection=selection,
        )
    output.show(found)


@annotate.command("import")
@expanded
def import_(
    *,
    folder: Annotated[Path, typer.Argument(help="The folder of the export.")],
    files: Annotated[list[Path], typer.Argument(help="The files that raters have saved.")],
    output: JsonOutput,
) -> None:
    """Check and join raters' answers, as labels for `align` and `analyse`.

    Example: recjury annotate import study answers-anna.json answers-ben.json.
    """
    output.show(agreement.import_answers(folder, files))
