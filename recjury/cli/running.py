"""`recjury run`: a campaign file is played and rated."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from recjury import campaign
from recjury.cli.pages import written_report
from recjury.cli.work import WorkOptions
from recjury.errors import UserError
from recjury.store import Store
from recjury.view.files import check_file


def run(
    *,
    file: Annotated[Path, typer.Argument(help="The campaign file (YAML).")],
    limit: Annotated[
        int | None, typer.Option(min=1, help="The first N scenarios of each corpus.")
    ] = None,
    fresh: Annotated[
        list[str] | None,
        typer.Option(help="A system that changed where recjury cannot see it: play it anew."),
    ] = None,
    shard: Annotated[
        str, typer.Option(help="I/N: the I-th of N parts, for N stores that are merged afterwards.")
    ] = "",
    report: Annotated[
        Path | None, typer.Option(help="Afterwards, write a report to this file (HTML).")
    ] = None,
    work: WorkOptions,
) -> None:
    """Play and rate what is left of a campaign. After an interruption, the same command goes on.

    Examples: recjury run campaign.yaml --dry-run; recjury run campaign.yaml --limit 5; recjury run
    campaign.yaml --fresh my-agent.
    """
    config = campaign.read_config(file)
    if report is not None:
        check_file(report)
    _say_what_lies_beside(file, work.store)
    begin = partial(campaign.run, config, limit=limit, fresh=fresh or (), shard=_shard(shard))
    found = work.carry_out(config, begin, limit=limit)
    if report is not None and not work.dry_run:
        with Store(work.store, readonly=True) as opened:
            typer.echo(written_report(opened, report, config.name), err=True)
    work.output.show(found)


def _say_what_lies_beside(file: Path, store: str) -> None:
    """A new store pays for everything anew: a line, if there is one of its name beside the file."""
    beside = file.parent / store
    if "://" not in store and beside.exists() and not Path(store).exists():
        typer.echo(
            f"{store} is new here. To go on with the one there is: --store {beside}", err=True
        )


def _shard(text: str) -> campaign.Shard | None:
    """The part that `I/N` names. Raises UserError."""
    if not text:
        return None
    number, _, of = text.partition("/")
    if not (number.isascii() and number.isdecimal() and of.isascii() and of.isdecimal()):
        raise UserError(f"--shard {text}: expected I/N, such as 1/4")
    if not 1 <= int(number) <= int(of):
        raise UserError(f"--shard {text}: the first of {of} is 1/{of}, the last {of}/{of}")
    return campaign.Shard(int(number), int(of))
