"""`recjury store verify`."""

import typer

from recjury.cli.app import app
from recjury.cli.options import DEFAULT_STORE, CampaignOption, JsonOption, StoreOption

store_app = typer.Typer(help="Check a store.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(store_app, name="store")


@store_app.command()
def verify(
    store: StoreOption = DEFAULT_STORE, campaign: CampaignOption = "", json: JsonOption = False
) -> None:
    """Check the file, all hashes and ids, and rate every evaluation again from stored replies.

    Nothing is sent and nothing is written. Example: recjury store verify --store runs.db.
    """
    import asyncio

    from recjury import campaign as campaigns
    from recjury.cli.show import show
    from recjury.results import Findings
    from recjury.store import Store

    with Store(store, readonly=True) as opened:
        problems = opened.check()
        equal = changed = 0
        for name in [opened.campaign(campaign)] if campaign else opened.campaigns():
            found = asyncio.run(campaigns.verify(opened, name))
            equal, changed = equal + found.equal, changed + found.changed
            problems += [
                f"{name}: evaluation {id_}: {what} differs" for id_, what in found.differing.items()
            ]
    not_tried = f"; {changed} not tried, their evaluator has changed" if changed else ""
    show(
        Findings(
            title=store,
            answer=f"{store}: {equal} evaluations came out equal, {len(problems)} problems"
            f"{not_tried}.",
            problems=tuple(problems),
            data={"equal": equal, "changed": changed, "problems": problems},
        ),
        as_json=json,
    )
