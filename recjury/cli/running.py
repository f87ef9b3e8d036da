"""`recjury run` and `recjury status`."""

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from recjury.cli.app import app
from recjury.cli.options import (
    DEFAULT_STORE,
    CampaignOption,
    FailedOption,
    FormatOption,
    JsonOption,
    LogOption,
    ScenariosOption,
    StoreOption,
    SystemsOption,
    UsersOption,
    WaitOption,
    WhereOption,
    campaign_of,
    selection,
)
from recjury.errors import UserError

if TYPE_CHECKING:
    from recjury.campaign import Choose, Config, Finished, Recorded, Shard
    from recjury.results import Findings, Selection
    from recjury.store import Store


@app.command()
def run(
    file: Annotated[Path, typer.Argument(help="The campaign file (YAML).")],
    store: StoreOption = DEFAULT_STORE,
    limit: Annotated[
        int | None, typer.Option(min=1, help="The first N scenarios of each corpus.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what is left to do and what it costs.")
    ] = False,
    retry: Annotated[bool, typer.Option(help="Play and rate again what failed.")] = True,
    fresh: Annotated[
        list[str] | None,
        typer.Option(help="A system that changed where recjury cannot see it: play it anew."),
    ] = None,
    systems: SystemsOption = None,
    users: UsersOption = None,
    scenarios: ScenariosOption = None,
    where: WhereOption = None,
    failed: FailedOption = False,
    shard: Annotated[
        str, typer.Option(help="I/N: the I-th of N parts, for N stores that are merged afterwards.")
    ] = "",
    executor: Annotated[
        Literal["local", "ray"], typer.Option(help="Where it is worked off: here, or by Ray.")
    ] = "local",
    address: Annotated[
        str, typer.Option(help="The Ray cluster: HOST:PORT or auto; by default this machine alone.")
    ] = "",
    workers: Annotated[
        int | None, typer.Option(min=1, help="Ray's workers; by default one for each CPU.")
    ] = None,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Go on with a run that another machine left.")
    ] = False,
    report: Annotated[
        Path | None, typer.Option(help="Afterwards, write a report to this file (HTML).")
    ] = None,
    wait: WaitOption = False,
    log: LogOption = None,
    json: JsonOption = False,
) -> None:
    """Play and rate what is left of a campaign. After an interruption, the same command goes on.

    Examples: recjury run campaign.yaml --dry-run; recjury run campaign.yaml --limit 5; recjury run
    campaign.yaml --fresh my-agent.
    """
    from recjury import campaign
    from recjury.cli.interrupts import run_until_interrupted
    from recjury.cli.progress import progress_line, say_what_waits
    from recjury.cli.reporting import write
    from recjury.cli.show import show
    from recjury.logs import report_events
    from recjury.results import summary
    from recjury.store import Store

    config = campaign.read_config(file)
    chosen = selection(systems, users, scenarios, where, failed)
    if report is not None:
        from recjury.view.report import check_file

        check_file(report)
    report_events(log)
    if dry_run:
        show(estimate(config, store, limit=limit, chosen=chosen), as_json=json)
        return
    if executor == "local" and (address or workers):
        raise UserError("--address and --workers are of --executor ray")
    cluster = campaign.Cluster(store, address, workers, limit)
    with Store(store) as opened:
        work = campaign.run(
            config,
            opened,
            limit=limit,
            retry=retry,
            fresh=fresh or (),
            shard=_shard(shard),
            choose=chooser(chosen, opened, config.name),
            executor=cluster if executor == "ray" else None,
            take_over=take_over,
            wait=say_what_waits if wait else None,
            progress=progress_line(),
        )
        finished = run_until_interrupted(work)
        say_what_was_done(finished, since=opened.runs(config.name)[-1].started_at)
        if report is not None:
            typer.echo(write(opened, report, config.name), err=True)
        found = summary(opened, config.name)
        problems = (*finished.waiting, *found.problems)
        show(replace(found, problems=problems), as_json=json)


def _shard(text: str) -> "Shard | None":
    """The part that `I/N` names. Raises UserError."""
    from recjury.campaign import Shard

    if not text:
        return None
    number, _, of = text.partition("/")
    if not (number.isascii() and number.isdecimal() and of.isascii() and of.isdecimal()):
        raise UserError(f"--shard {text}: expected I/N, such as 1/4")
    if not 1 <= int(number) <= int(of):
        raise UserError(f"--shard {text}: the first of {of} is 1/{of}, the last {of}/{of}")
    return Shard(int(number), int(of))


@app.command()
def status(
    store: StoreOption = DEFAULT_STORE,
    campaign: CampaignOption = "",
    form: FormatOption = "text",
    json: JsonOption = False,
) -> None:
    """What of a campaign is done, failed or left, what it cost, and its last runs."""
    from recjury import results
    from recjury.cli.show import show
    from recjury.store import Store

    with Store(store, readonly=True) as opened:
        show(results.status(opened, campaign_of(opened, campaign)), as_json=json, form=form)


def estimate(
    config: "Config",
    store: str,
    *,
    limit: int | None = None,
    conversations: "Recorded | None" = None,
    chosen: "Selection | None" = None,
) -> "Findings":
    """The dry run over what the store has."""
    import asyncio

    import pandas as pd

    from recjury import campaign
    from recjury.results import Findings
    from recjury.store import Store

    file = store.removeprefix("sqlite:///")
    is_new = "://" not in file and not Path(file).exists()
    with Store() if is_new else Store(store, readonly=True) as below:
        choose = chooser(chosen, below, config.name)
        found = asyncio.run(
            campaign.dry_run(config, below, limit=limit, conversations=conversations, choose=choose)
        )
    dollars = "unknown" if found.dollars is None else f"${found.dollars:.2f}"
    calls = pd.DataFrame(found.purposes.items(), columns=["purpose", "calls"])
    calls["calls"] = calls["calls"].round().astype(int)
    error = f" (± {found.error:,.0f})" if found.error >= 1 else ""
    return Findings(
        title=config.name,
        answer=f"{config.name}: {found.trials} conversations are left, about {found.calls:,.0f} "
        f"calls{error}, {found.tokens_in / 1e6:.2f} m tokens in and "
        f"{found.tokens_out / 1e6:.2f} m out. Price: {dollars}.",
        tables={"Calls": calls} if len(calls) else {},
        notes=tuple(_missing_keys(config)) if found.calls else (),
        data=found._asdict(),
    )


def _missing_keys(config: "Config") -> Iterator[str]:
    """One line for each variable with a key that a run would miss."""
    from recjury.llm import key_variable

    for variable in dict.fromkeys(filter(None, map(key_variable, config.models.values()))):
        if not os.environ.get(variable):
            yield f"the variable {variable} is not set: the run needs the key in it"


def chooser(chosen: "Selection | None", store: "Store", campaign: str) -> "Choose | None":
    """What chooses the conversations of a plan that a selection is about."""
    return partial(chosen.of_plan, store, campaign) if chosen else None


def say_what_was_done(finished: "Finished", since: str) -> None:
    """One line about what a run found and did."""
    if not finished.left_before:
        typer.echo(
            f"All {finished.planned} conversations were in the store already, since {since}; "
            "nothing was played. Has a system changed? Set its `version:`, or use --fresh NAME.",
            err=True,
        )
        return
    left = f", {finished.left} are unfinished" if finished.left else ""
    done, before = finished.left_before - finished.left, finished.planned - finished.left_before
    typer.echo(
        f"{done} of {finished.planned} conversations were finished, {before} had been before"
        f"{left}; {finished.sent:,} calls sent, {finished.reused:,} found in the store",
        err=True,
    )
