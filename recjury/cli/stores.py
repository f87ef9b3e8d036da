"""`recjury store verify` and `recjury store merge`."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from recjury import campaign as campaigns
from recjury.cli.options import DEFAULT_STORE, CampaignOption, JsonOutput, StoreOption
from recjury.cli.parameters import expanded
from recjury.errors import Altered, UserError
from recjury.results import Findings
from recjury.store import Store
from recjury.store import merge as merge_stores

store = typer.Typer(
    help="Check stores, and merge them.", no_args_is_help=True, rich_markup_mode=None
)


@store.command()
@expanded
def verify(
    *, store: StoreOption = DEFAULT_STORE, campaign: CampaignOption = "", output: JsonOutput
) -> None:
    """Check the file, all hashes and ids, and rate every evaluation again from stored replies.

    Nothing is sent and nothing is written. Example: recjury store verify --store runs.db.
    """
    with Store(store, readonly=True) as opened:
        problems = opened.check()
        names = [opened.campaign(campaign)] if campaign else opened.campaigns()
        output.show(verification(opened, names, title=store, problems=problems))


def verification(
    store: Store,
    names: Sequence[str],
    *,
    title: str,
    conversation: str = "",
    problems: Sequence[str] = (),
) -> Findings:
    """Evaluations rated again from the stored replies: of campaigns, or of one conversation."""
    lines, differing, equal, changed = [*problems], dict[str, str](), 0, 0
    for name in names:
        try:
            found = asyncio.run(campaigns.verify(store, name, conversation=conversation))
        except UserError as error:
            if not (problems or isinstance(error, Altered)):
                raise
            lines.append(f"{name}: {error}")
            continue
        equal, changed = equal + found.equal, changed + found.changed
        differing |= found.differing
        lines += (
            f"{name}: evaluation {id_}: {what} differs" for id_, what in found.differing.items()
        )
    not_tried = f"; {changed} not tried, their evaluator has changed" if changed else ""
    return Findings(
        title=title,
        answer=f"{title}: {equal} evaluations came out equal, {len(lines)} problems{not_tried}.",
        problems=tuple(lines),
        data={"equal": equal, "differing": differing, "changed": changed, "problems": lines},
    )


@store.command()
@expanded
def merge(
    *,
    stores: Annotated[list[str], typer.Argument(help="The stores to read: files or URLs.")],
    into: Annotated[str, typer.Option(help="The store to write, which may exist.")],
    output: JsonOutput,
) -> None:
    """Merge the stores of a campaign's shards. What is there stays; a second time adds nothing.

    Example: recjury store merge one.db two.db --into all.db.
    """
    lines, differing = [], list[str]()
    for each in stores:
        _check_is_another(each, into)
        with Store(each, readonly=True) as source, Store(into) as target:
            merged = merge_stores(source, target)
        lines.append(
            f"{each}: {merged.conversations} conversations and {merged.evaluations} evaluations "
            "are new."
        )
        differing += (f"{each}: evaluation {id_} has other ratings" for id_ in merged.differing)
    output.show(
        Findings(
            title=into,
            answer="\n".join(lines),
            problems=tuple(differing),
            data={"into": into, "merged": lines, "differing": differing},
        ),
    )


def _check_is_another(source: str, target: str) -> None:
    """Raise UserError if a store would be merged into itself."""
    if source == target or (
        "://" not in source + target and Path(source).absolute() == Path(target).absolute()
    ):
        raise UserError(f"{source} cannot be merged into itself: name another store with --into")
