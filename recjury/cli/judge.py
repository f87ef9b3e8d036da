"""`recjury judge`: evaluate existing conversations, from files or from the store."""

from collections.abc import Coroutine
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options
from recjury.cli.selecting import Shard, with_filters, with_shard
from recjury.errors import ConfigError

if TYPE_CHECKING:
    from recjury.campaign import EvaluationConfig, Progress, Retry, RunResult
    from recjury.records import ConversationLog
    from recjury.store import Selection


@with_filters
def judge(
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE...]", help="Files, plain or .gz.")
    ] = None,
    campaign: Annotated[
        str | None,
        typer.Option("--campaign", metavar="ID", help="A campaign of the store, not files."),
    ] = None,
    evaluator: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Only this evaluator, of --config or built in; may be repeated."
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.yaml",
            help="Models and evaluators, such as a campaign file. Without it: no model.",
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORM",
            help="The form of the files: a name of `recjury list logs`, recjury, or an own "
            "module:function (default: detected).",
        ),
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="At most N conversations per file.")
    ] = None,
    link_items: Annotated[
        bool,
        typer.Option(
            "--link-items",
            help="Give conversations without lists the items that their texts name.",
        ),
    ] = False,
    data: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="The folder that holds ievalm/ (default: RECJURY_DATA)."),
    ] = None,
    concurrency: options.Concurrency = None,
    budget: options.Budget = None,
    retry: options.Retry = options.DEFAULT_RETRY,
    shard: Shard = None,
    report: options.Report = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be done, and what it may cost.")
    ] = False,
    as_json: options.Json = False,
    *,
    selection: "Selection",
) -> None:
    """Evaluate existing conversations; nothing is played.

    Files are recordings in one of the known formats, and become a campaign of their own. With
    --campaign the evaluations are added to those of a campaign in the store.

    \b
    recjury judge kbrd_redial.jsonl.gz barcor_redial.jsonl.gz --limit 50
    recjury judge mine.jsonl --config judges.yaml --report mine.html
    recjury judge crs_arena_eval.json --config model.yaml --evaluator face
    recjury judge chats.jsonl --link-items
    recjury judge chats.jsonl --system mine --share .1
    recjury judge --campaign 3f2a --config strict.yaml --evaluator core
    """
    from recjury.campaign import Retry, read_evaluators
    from recjury.cli.campaign_command import run_and_show
    from recjury.cli.dry_run import show_evaluations

    wanted = with_shard(selection, shard)
    source = _Source(tuple(paths or ()), campaign, form, limit, link_items, wanted)
    source.check()
    if campaign and not (evaluator or config):
        raise ConfigError("name what evaluates the campaign: --evaluator NAME or --config FILE")
    name = paths[0].name if paths and config is None else None
    changes = options.given(data=data, concurrency=concurrency, budget=budget, name=name)
    asked = read_evaluators(config, evaluator or ()).model_copy(update=changes)
    if dry_run:
        data_folder = source.data(asked)
        logs = source.logs(data_folder, store)
        show_evaluations(asked, logs, data_folder, as_json=as_json)
        return

    def work(progress: "Progress") -> "Coroutine[None, None, RunResult]":
        return source.judge(asked, store, Retry(retry), progress)

    run_and_show(work, store, wanted, report=report, as_json=as_json)


@dataclass(frozen=True)
class _Source:
    """Where the conversations are: in files, or in a campaign of the store."""

    paths: tuple[Path, ...]
    campaign: str | None
    form: str | None
    limit: int | None
    link_items: bool
    selection: "Selection"

    def check(self) -> None:
        """Raise ConfigError unless there is exactly one source, with options that fit it."""
        if self.paths and self.campaign:
            raise ConfigError("name files or --campaign, not both")
        if not (self.paths or self.campaign):
            raise ConfigError("name files to evaluate, or a campaign of the store with --campaign")
        if self.campaign and (self.form or self.limit or self.link_items):
            raise ConfigError(
                "--format, --limit and --link-items are about files: leave them out with --campaign"
            )
        if self.paths and self.selection.failed:
            raise ConfigError("--failed is about a campaign of the store: name it with --campaign")
        if self.campaign and self.selection.shard.of > 1:
            raise ConfigError("--shard is about files: run a campaign's shards with `recjury run`")

    async def judge(
        self, config: "EvaluationConfig", store: str, retry: "Retry", progress: "Progress"
    ) -> "RunResult":
        """Evaluate the conversations."""
        from recjury.campaign import judge_campaign, judge_files

        if self.campaign:
            return await judge_campaign(
                self.campaign,
                config,
                store,
                retry=retry,
                progress=progress,
                selection=self.selection,
            )
        return await judge_files(
            self.paths,
            config,
            store,
            form=self.form,
            limit=self.limit,
            link_items=self.link_items,
            retry=retry,
            progress=progress,
            selection=self.selection,
        )

    def logs(self, data: Path | None, store: str) -> "list[ConversationLog]":
        """The conversations; `data` is the folder of public data."""
        from recjury.campaign.judge_existing import selected_recordings
        from recjury.corpora import read_recordings
        from recjury.store import Store

        if not self.campaign:
            limit, linked = self.limit, self.link_items
            read = partial(
                read_recordings, self.paths, self.form, data=data, limit=limit, link_items=linked
            )
            return [each.log for each in selected_recordings(read, self.selection)]
        with Store.open(store, read_only=True) as kept:
            campaign = kept.campaign(self.campaign).id
            ids = kept.selected(campaign, self.selection)
            results = kept.results(campaign, conversations=ids)
            logs = (kept.log(result.conversation) for result in results)
            return [log for log in logs if log is not None]

    def data(self, config: "EvaluationConfig") -> Path | None:
        """The folder of public data, which may stand beside the files."""
        from recjury.corpora import data_beside

        return Path(config.data) if config.data else data_beside(self.paths)
