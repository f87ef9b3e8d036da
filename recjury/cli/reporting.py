"""`recjury report`: a campaign as one file, or as a folder of pages."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli.app import app
from recjury.cli.options import DEFAULT_STORE, CampaignOption, StoreOption, campaign_of
from recjury.errors import UserError

if TYPE_CHECKING:
    from recjury.store import Store


@app.command()
def report(
    out: Annotated[Path | None, typer.Option(help="The file; by default report.html.")] = None,
    bundle: Annotated[
        Path | None, typer.Option(help="Write all pages to this new folder, for a static host.")
    ] = None,
    conversation: Annotated[
        list[str] | None,
        typer.Option(help="A conversation to show, by id; may be repeated. By default, examples."),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    campaign: CampaignOption = "",
) -> None:
    """Write the campaign's page and some conversations to one file, or all pages to a folder.

    Examples: recjury report; recjury report --out spring.html --conversation 3f2a; recjury report
    --bundle site.
    """
    from recjury.store import Store

    if bundle and (out or conversation):
        raise UserError("--bundle has all conversations: leave out --out and --conversation")
    with Store(store, readonly=True) as opened:
        name = campaign_of(opened, campaign)
        if bundle:
            said = _bundle(opened, bundle, name)
        else:
            said = write(opened, out or Path("report.html"), name, conversation or ())
    typer.echo(said)


def write(store: "Store", out: Path, campaign: str = "", conversations: Sequence[str] = ()) -> str:
    """Write the report, and return a line about it."""
    from recjury.view.report import write_report

    done = write_report(store, out, campaign=campaign, conversations=conversations)
    size = f"{done.size / 1e6:.1f} MB"
    said = f"{done.campaign}: {out}, {done.conversations} conversations, {size}"
    left = f"; {done.left_out} more had no room: --bundle has all" if done.left_out else ""
    return said + left


def _bundle(store: "Store", folder: Path, campaign: str) -> str:
    from recjury.view.bundle import write_bundle

    done = write_bundle(store, folder, campaign=campaign)
    return f"{done.campaign}: {done.pages} pages in {folder}; begin with {folder / 'index.html'}"
