"""What `demo`, `run` and `judge` share: run, show the results, write the report, exit."""

from collections.abc import Callable, Coroutine
from pathlib import Path

from recjury.campaign import Progress, RunResult
from recjury.campaign.plan import ALL
from recjury.cli import output
from recjury.cli.async_work import await_work, show_progress
from recjury.cli.result_tables import show_results
from recjury.report import check_report_path, write_report
from recjury.results import summarise
from recjury.store import Selection, Store

Work = Callable[[Progress], Coroutine[None, None, RunResult]]


def run_and_show(
    work: Work,
    store: str,
    selection: Selection = ALL,
    *,
    report: Path | None,
    as_json: bool,
) -> None:
    """Do `work` in the store at the URL `store`, and show its progress and its results.

    `selection` is what it was done for.

    Writes the HTML report to `report`, unless that is None. Ends the command with `SOME_FAILED` if
    something failed, could not be read or was refused. Raises UserError.
    """
    if report is not None:
        check_report_path(report)
    progress = Progress()
    with show_progress(progress):
        result = await_work(work(progress))
    with Store.open(store, read_only=True) as opened:
        summary = summarise(opened, result.campaign, conversations=result.conversations)
        if report is not None:
            write_report(opened, report, campaign=result.campaign)
    if result.planned or as_json:
        show_results(result, summary, as_json=as_json)
    else:
        nothing = (
            "nothing failed" if selection.failed else f"no scenario is in part {selection.shard}"
        )
        output.say(f"{nothing}: there is nothing to do")
    if report is not None:
        output.say(f"report: {report}")
    if result.failed or result.held_back or summary.has_failures(result.evaluators):
        output.stop(output.SOME_FAILED)
