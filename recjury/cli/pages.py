"""`recjury view` and `report`: pages over the store, served or written."""

import asyncio
import os
import secrets
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from recjury.cli.options import DEFAULT_STORE, CampaignOption, StoreOption, campaign_of
from recjury.errors import UserError
from recjury.store import Store
from recjury.view.files import write_bundle, write_report
from recjury.view.server import Server


def view(
    store: StoreOption = DEFAULT_STORE,
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="The first port to try; 0: any free one.")
    ] = 8000,
    host: Annotated[
        str, typer.Option(help="Where to listen; other than this machine, a token is asked for.")
    ] = "127.0.0.1",
    browser: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the pages in a browser.")
    ] = True,
) -> None:
    """Look at campaigns, conversations and debates in a browser, also while they run. Ctrl-C ends.

    Examples: recjury view; recjury view --store runs.db --port 9000 --no-open.
    """
    with Store(store, readonly=True):
        pass  # a store that is not there is said now, and not in a page
    is_here = host in ("127.0.0.1", "localhost", "::1")
    server = Server(store, host=host, port=port, token="" if is_here else secrets.token_urlsafe())

    async def serve() -> None:
        async with server.open():
            taken = f" (port {port} is in use)" if port and server.port != port else ""
            typer.echo(f"{server.address}{taken}  Ctrl-C ends.")
            if browser and _has_screen():
                await asyncio.to_thread(webbrowser.open, server.address)
            await asyncio.Event().wait()

    try:
        asyncio.run(serve())
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def _has_screen() -> bool:
    """Whether a browser would have a window; without one, it would take the terminal."""
    return sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )


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
    if bundle and (out or conversation):
        raise UserError("--bundle has all conversations: leave out --out and --conversation")
    with Store(store, readonly=True) as opened:
        name = campaign_of(opened, campaign)
        if bundle:
            said = _bundle(opened, bundle, name)
        else:
            said = written_report(opened, out or Path("report.html"), name, conversation or ())
    typer.echo(said)


def written_report(
    store: Store, out: Path, campaign: str = "", conversations: Sequence[str] = ()
) -> str:
    """Write the report, and return a line about it."""
    done = write_report(store, out, campaign=campaign, conversations=conversations)
    size = f"{done.size / 1e6:.1f} MB"
    said = f"{done.campaign}: {out}, {done.conversations} conversations, {size}"
    left = f"; {done.left_out} more had no room: --bundle has all" if done.left_out else ""
    return said + left


def _bundle(store: Store, folder: Path, campaign: str) -> str:
    done = write_bundle(store, folder, campaign=campaign)
    return f"{done.campaign}: {done.pages} pages in {folder}; begin with {folder / 'index.html'}"
