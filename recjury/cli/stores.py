"""`recjury store verify` and `recjury store merge`."""

from pathlib import Path
from typing import Annotated

import typer

from recjury.cli.app import app
from recjury.cli.options import DEFAULT_STORE, CampaignOption, JsonOption, StoreOption
from recjury.errors import UserError

store_app = typer.Typer(
    help="Check stores, and merge them.", no_args_is_help=True, rich_markup_mode=None
)
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


@store_app.command()
def merge(
    stores: Annotated[list[str], typer.Argument(help="The stores to read: files or URLs.")],
    into: Annotated[str, typer.Option(help="The store to write, which may exist.")],
    json: JsonOption = False,
) -> None:
    """Merge the stores of a campaign's shards. What is there stays; a second time adds nothing.

    Example: recjury store merge one.db two.db --into all.db.
    """
    from recjury import store as stores_
    from recjury.cli.show import show
    from recjury.results import Findings

    lines, differing = [], list[str]()
    for each in stores:
        _check_is_another(each, into)
        with stores_.Store(each, readonly=True) as source, stores_.Store(into) as target:
            merged = stores_.merge(source, target)
        lines.append(
            f"{each}: {merged.conversations} conversations and {merged.evaluations} evaluations "
            "are new."
        )
        differing += (f"{each}: evaluation {id_} has other ratings" for id_ in merged.differing)
    show(
        Findings(
            title=into,
            answer="\n".join(lines),
            problems=tuple(differing),
            data={"into": into, "merged": lines, "differing": differing},
        ),
        as_json=json,
    )


def _check_is_another(source: str, target: str) -> None:
    """Raise UserError if a store would be merged into itself."""
    if source == target or (
        "://" not in source + target and Path(source).absolute() == Path(target).absolute()
    ):
        raise UserError(f"{source} cannot be merged into itself: name another store with --into")
