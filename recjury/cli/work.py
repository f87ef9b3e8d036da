"""Work on a campaign: begun, interrupted in order, said and summarised."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import pandas as pd
import typer

from recjury import campaign as campaigns
from recjury.campaign import Config, Finished, Recorded
from recjury.cli.options import DEFAULT_STORE, JsonOutput, Output, SelectionOptions, StoreOption
from recjury.cli.parameters import OptionsOf
from recjury.cli.progress import progress_line, say_what_waits
from recjury.errors import UserError
from recjury.llm import key_variable
from recjury.logs import report_events
from recjury.results import Findings, Selection, summary
from recjury.store import Store

T = TypeVar("T")

Begin: TypeAlias = Callable[..., Coroutine[Any, Any, Finished]]
"""`campaign.run` or `campaign.judge`, with all arguments but the store and those of `Work`."""

_INTERRUPTED = 130
_HIDDEN = (
    "{name} has the conversations of these files now. Those of earlier files are kept, and shown "
    "again if all files are named: what is rated costs nothing."
)


@dataclass(frozen=True)
class Work:
    """How a campaign is worked off: the options that `run` and `judge` have in common."""

    selection: SelectionOptions = field(default_factory=Selection)
    store: StoreOption = DEFAULT_STORE
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what is left to do and what it costs.")
    ] = False
    retry: Annotated[bool, typer.Option(help="Play and rate again what failed.")] = True
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Go on with a run that another machine left.")
    ] = False
    wait: Annotated[
        bool, typer.Option("--wait", help="Go on when batches of models have answered.")
    ] = False
    executor: Annotated[
        Literal["local", "ray"], typer.Option(help="Where it is worked off: here, or by Ray.")
    ] = "local"
    address: Annotated[
        str, typer.Option(help="The Ray cluster: HOST:PORT or auto; by default this machine alone.")
    ] = ""
    workers: Annotated[
        int | None, typer.Option(min=1, help="Ray's workers; by default one for each CPU.")
    ] = None
    log: Annotated[
        Path | None, typer.Option("--log", help="Append events to this file, as JSON lines.")
    ] = None
    output: JsonOutput = field(default_factory=Output)

    def carry_out(
        self,
        config: Config,
        begin: Begin,
        *,
        limit: int | None = None,
        conversations: Recorded | None = None,
        skipped: Sequence[str] = (),
    ) -> Findings:
        """Work off what is left, and return the summary with what waits or was `skipped`.

        A dry run begins nothing and returns what is left. Raises typer.Exit if it is interrupted.
        """
        cluster = self._cluster(limit)
        report_events(self.log)
        if self.dry_run:
            return self._estimate(config, limit, conversations)
        with Store(self.store) as store:
            before = store.counts(config.name).conversations.get("done", 0)
            work = begin(
                store=store,
                retry=self.retry,
                choose=self._choose(store, config.name),
                executor=cluster,
                take_over=self.take_over,
                wait=say_what_waits if self.wait else None,
                progress=progress_line(),
            )
            finished = run_until_interrupted(work)
            since = store.runs(config.name)[-1].started_at
            typer.echo(_what_was_done(finished, since, plays=conversations is None), err=True)
            shown = store.counts(config.name).conversations.get("done", 0)
            if conversations is not None and shown < before:
                typer.echo(_HIDDEN.format(name=config.name), err=True)
            found = summary(store, config.name)
        problems = (*finished.waiting, *skipped)
        data = {**found.data, "caveats": [*found.data["caveats"], *problems]}
        return replace(found, problems=(*problems, *found.problems), data=data)

    def _cluster(self, limit: int | None) -> campaigns.Cluster | None:
        if self.executor == "ray":
            return campaigns.Cluster(self.store, self.address, self.workers, limit)
        if self.address or self.workers:
            raise UserError("--address and --workers are of --executor ray")
        return None

    def _choose(self, store: Store, campaign: str) -> campaigns.Choose | None:
        return partial(self.selection.of_plan, store, campaign) if self.selection else None

    def _estimate(
        self, config: Config, limit: int | None, conversations: Recorded | None
    ) -> Findings:
        file = self.store.removeprefix("sqlite:///")
        is_new = "://" not in file and not Path(file).exists()
        with Store() if is_new else Store(self.store, readonly=True) as below:
            choose = self._choose(below, config.name)
            found = asyncio.run(
                campaigns.dry_run(
                    config, below, limit=limit, conversations=conversations, choose=choose
                )
            )
        dollars = _without_price(config) if found.dollars is None else f"${found.dollars:.2f}"
        calls = pd.DataFrame(found.purposes.items(), columns=["purpose", "calls"])
        calls["calls"] = calls["calls"].round().astype(int)
        error = f" (± {found.error:,.0f})" if found.error >= 1 else ""
        return Findings(
            title=config.name,
            answer=f"{config.name}: {_what_is_left(found)}, about "
            f"{found.calls:,.0f} calls{error}, {found.tokens_in / 1e6:.2f} m tokens in and "
            f"{found.tokens_out / 1e6:.2f} m out. Price: {dollars}.",
            tables={"Calls": calls} if len(calls) else {},
            notes=tuple(_missing_keys(config)) if found.calls else (),
            data=found._asdict(),
        )


WorkOptions: TypeAlias = Annotated[Work, OptionsOf(Work)]


def _missing_keys(config: Config) -> Iterator[str]:
    """One line for each variable with a key that a run would miss."""
    for variable in dict.fromkeys(filter(None, map(key_variable, config.models.values()))):
        if not os.environ.get(variable):
            yield f"the variable {variable} is not set: the run needs the key in it"


def _without_price(config: Config) -> str:
    models = (alias for alias, model in config.models.items() if model.cost(0, 0) is None)
    return f"unknown, for lack of `price_in` and `price_out` of the model {', '.join(models)}"


def _what_is_left(found: campaigns.Estimate) -> str:
    to_rate = found.trials - found.to_play
    if found.to_play and to_rate:
        return f"{found.to_play} conversations are left to play, {to_rate} to rate"
    return f"{found.trials} conversations are left to {'rate' if to_rate else 'play'}"


def _what_was_done(finished: Finished, since: str, *, plays: bool) -> str:
    planned, before = finished.planned, finished.planned - finished.left_before
    if not finished.left_before:
        if not plays:
            return f"All {planned} conversations were rated already."
        return (
            f"All {planned} conversations were in the store already, since {since}; nothing was "
            "played. Has a system changed? Set its `version:`, or use --fresh NAME."
        )
    said = f"{finished.left_before - finished.left} of {planned} conversations were finished"
    played = f", {finished.played} were played" if plays else ""
    why = "wait" if finished.waiting else "failed or lack a score"
    left = f", {finished.left} {why}" if finished.left else ""
    return (
        f"{said}{played}, {before} had been finished before{left}; {finished.sent:,} calls sent, "
        f"{finished.reused:,} found in the store"
    )


def run_until_interrupted(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`.

    What it prints goes to standard error. Ctrl-C or SIGTERM cancels it: what is finished is kept,
    open calls are waited for. A second one ends the program at once. Raises typer.Exit with code
    130 if it was interrupted.
    """

    async def main() -> T:
        task, loop = asyncio.ensure_future(work), asyncio.get_running_loop()

        def stop() -> None:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)
                signal.signal(number, signal.SIG_DFL)
            sys.stderr.write("\nrecjury: waiting for open calls; press Ctrl-C again to stop now\n")
            task.cancel()

        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop)
        return await task

    try:
        with contextlib.redirect_stdout(sys.stderr):  # what own code prints is no result
            return asyncio.run(main())
    except asyncio.CancelledError:
        sys.stderr.write("recjury: interrupted; the same command goes on\n")
        raise typer.Exit(_INTERRUPTED) from None
