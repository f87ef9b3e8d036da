"""`recjury tune`: change the limits of a campaign while it runs."""

from typing import Annotated

import typer

from recjury.cli import options, output

_PATIENCE = 10.0  # seconds until the running process has looked


def tune(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="The campaign's id, or its first digits.")
    ],
    settings: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=NUMBER...",
            help="concurrency (all calls), simulator, judges, systems (calls of that part; none "
            "removes the limit), or MODEL.concurrency (calls to that model).",
        ),
    ],
    store: options.Store = options.DEFAULT_STORE,
) -> None:
    """Change the limits of a campaign while it runs, from another terminal.

    The next run uses those of the campaign file again.

    \b
    recjury tune 3f2a concurrency=200
    recjury tune 3f2a judges=40 simulator=8
    recjury tune 3f2a judges=none main.concurrency=16
    """
    from recjury.campaign.tuning import parse_settings
    from recjury.store import Store

    with Store.open(store, create=False) as kept:
        campaign = kept.campaign(run)
        kept.running(campaign.id).ask(parse_settings(settings, campaign.setup.prices), _PATIENCE)
    output.say(f"campaign {campaign.id}: changed: {', '.join(settings)}")
