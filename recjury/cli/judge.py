"""`recjury judge`: score recorded conversations."""

from collections.abc import Coroutine
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from recjury.cli import options


class Form(StrEnum):
    """How recorded conversations are written."""

    CONCEPT = "concept"
    JSONL = "jsonl"


def judge(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files, plain or .gz.")],
    form: Annotated[Form, typer.Option("--format", help="How the files are written.")],
    store: options.Store = options.DEFAULT_STORE,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="At most N conversations per file.")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.yaml",
            help="Models, judges and debate; a campaign file will do. Without it: no model.",
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="The folder that holds ievalm/ (default: RECJURY_DATA)."),
    ] = None,
    concurrency: options.Concurrency = None,
    budget: options.Budget = None,
    report: options.Report = None,
    as_json: options.Json = False,
) -> None:
    """Score recorded conversations: twelve judges and a debate, without playing anything.

    \b
    recjury judge kbrd_redial.jsonl.gz barcor_redial.jsonl.gz --format concept --limit 50
    recjury judge mine.jsonl --format jsonl --config judges.yaml --report mine.html
    """
    from recjury.campaign.config import RatingConfig
    from recjury.campaign.progress import Progress
    from recjury.campaign.reading import read_raters
    from recjury.campaign.recorded import judge_recorded
    from recjury.campaign.running import RunResult
    from recjury.cli.results import finish
    from recjury.cli.running import drive
    from recjury.report import check_place

    base = RatingConfig(name=paths[0].name) if config is None else read_raters(config)
    changes = {"data": data, "concurrency": concurrency, "budget": budget}
    raters = base.model_copy(update={k: v for k, v in changes.items() if v is not None})

    if report is not None:
        check_place(report)

    def work(progress: Progress) -> Coroutine[None, None, RunResult]:
        return judge_recorded(paths, form.value, raters, store, limit=limit, progress=progress)

    finish(drive(work), store, report=report, as_json=as_json)
