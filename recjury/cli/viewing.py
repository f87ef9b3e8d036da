"""`recjury view`: pages over the store."""

from typing import Annotated

import typer

from recjury.cli.app import app
from recjury.cli.options import DEFAULT_STORE, StoreOption


@app.command()
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
    import asyncio
    import secrets
    import webbrowser

    from recjury.store import Store
    from recjury.view.server import Server

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
    import os
    import sys

    return sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
