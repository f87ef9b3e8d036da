"""What `run` and `judge` print at the end: a table of systems per evaluator, or JSON."""

from collections import Counter
from collections.abc import Iterable, Mapping

from recjury.campaign import RunResult
from recjury.cli import output
from recjury.cli.compare_tables import noise_line
from recjury.records import FAILED, JSON
from recjury.report.table_cells import Cell, means_table
from recjury.results import CampaignSummary, Tally
from recjury.results.answer import answer
from recjury.results.caveats import Caveat, about_campaign
from recjury.results.unscored import merged_reasons
from recjury.safe_text import printable

_SHOWN_REASONS = 8
_KINDS = (  # whether they failed, and how many reasons are shown
    (True, "have no score because something failed, was refused or could not be read", 8),
    (False, "have no score because they do not apply or are not measured", 3),
)


def show_results(result: RunResult, summary: CampaignSummary, *, as_json: bool) -> None:
    """Print the results of a run: one JSON object, or tables and what failed."""
    if as_json:
        output.emit_json(as_object(result, summary))
    else:
        _show(result, summary)


def as_object(result: RunResult, summary: CampaignSummary) -> dict[str, JSON]:
    """The JSON object for scripts; `failures` counts the failures by reason, `unscored` the ratings
    without a score, `noise` has the noise floor of each metric that was repeated or judged again,
    `held_back` is what the budget did not cover, `stopped` what was decided
    about pairs of systems if the campaign may end early, and `items_linked` counts the
    conversations whose lists were made of the names in the texts."""
    return {
        "campaign": result.campaign,
        "conversations": summary.conversations._asdict(),
        "evaluations": {label: each.as_json() for label, each in summary.evaluations.items()},
        "systems": summary.systems_json(),
        "noise": summary.noise_json(),
        "set_aside": result.set_aside,
        "failures": dict(summary.failures),
        "verdicts": {label: each.as_json() for label, each in summary.verdicts.items()},
        "unscored": summary.unscored_json(),
        "skipped": [skipped.model_dump() for skipped in result.skipped],
        "held_back": None if result.held_back is None else result.held_back._asdict(),
        "stopped": None if result.stopped is None else result.stopped.as_json(),
        "items_linked": summary.items_linked,
        **conclusions_json(summary),
    }


def conclusions_json(summary: CampaignSummary) -> dict[str, JSON]:
    """The answer in two lines, and what a reader of the tables should know."""
    caveats = [each._asdict() for each in about_campaign(summary)]
    return {"answer": answer(summary).as_json(), "caveats": caveats}


def _show(result: RunResult, summary: CampaignSummary) -> None:
    show_answer(summary)
    show_systems(summary)
    if result.skipped:
        output.say(f"{len(result.skipped)} records gave no scenario or lost a target:")
        for skipped in result.skipped[:_SHOWN_REASONS]:
            output.say(f"  {skipped.corpus} {skipped.record}: {skipped.reason}")
    if result.set_aside:
        output.say(
            f"{result.set_aside} conversations of an earlier version of a system or of the data "
            "were set aside: they stay in the store, but not in these tables"
        )
    for label, counts in summary.evaluations.items():
        if counts.failed:
            output.say(f"{counts.failed} of {counts.planned} evaluations by {label} failed")
    say_reasons(summary.failures)
    for label, verdicts in summary.verdicts.items():
        missing = verdicts.planned - verdicts.scored
        if missing:
            output.say(f"{missing} of {verdicts.planned} verdicts by {label} are missing")
            say_reasons(verdicts.missing)
    _say_unscored(summary)
    held = [] if result.held_back is None else [result.held_back.text]
    for line in (*held, *(() if result.stopped is None else result.stopped.lines)):
        output.say(line)
    output.say(f"campaign {result.campaign}")


def _say_unscored(summary: CampaignSummary) -> None:
    """The ratings without a score by evaluator, those that failed first."""
    for label in summary.evaluations:
        for failed, kind, shown in _KINDS:
            reasons: Counter[str] = Counter()
            for each, count in summary.unscored.items():
                if each.evaluator == label and (each.status in FAILED) == failed:
                    reasons[each.why] += count
            if reasons:
                output.say(f"{reasons.total()} ratings by {label} {kind}")
                say_reasons(reasons, shown)


def say_reasons(reasons: Mapping[str, int], shown: int = _SHOWN_REASONS) -> None:
    """The most frequent reasons, a line each; those that differ only in numbers are one."""
    merged = merged_reasons(reasons)
    most = merged.most_common(shown)
    for reason, count in most:
        output.say(f"  {count} x {reason}")
    others = merged.total() - sum(count for _, count in most)
    if others:
        output.say(f"  {others} x other reasons: --json and recjury report have all")


def show_answer(summary: CampaignSummary) -> None:
    """Which system is best, and what could not be scored, in two lines."""
    output.print_text("".join(f"{printable(line)}\n" for line in (*answer(summary).lines, "")))


def say_caveats(caveats: Iterable[Caveat]) -> None:
    """What a reader of the tables should know, a line each."""
    for each in caveats:
        output.say(f"{each.heading}. {each.text}")


def show_systems(summary: CampaignSummary) -> None:
    """A table per evaluator, older versions last: a row per system, a column per metric."""
    noise = summary.noise()
    for label in summary.evaluations or [""]:
        measures = [
            each for each in summary.measures if each.evaluator == label and not each.metric.detail
        ]
        means = means_table(summary.systems, measures, noise)
        headings = (_plain(f"{each.name}\n{each.scale}") for each in means.columns)
        rows = [
            [row.system, *map(_cell, row.cells), _conversations(tally)]
            for row, tally in zip(means.rows, summary.systems.values(), strict=True)
        ]
        if means.floors:
            rows.append(["noise floor", *map(_plain, means.floors), ""])
        output.show_table(["system", *headings, "Conversations"], rows, title=label or None)
    if noise:
        output.say(noise_line(noise))
    output.say(
        "in brackets: the share (or n, the number) of conversations with a score, if not all have "
        "one; -: none has"
    )
    rated = (
        f"{label} by {', '.join(sorted(raters))}"
        for label, raters in summary.raters.items()
        if raters
    )
    output.say(f"rated: {'; '.join(rated) or 'nothing yet'}")
    say_caveats(about_campaign(summary))


def _conversations(tally: Tally) -> str:
    """How many conversations did not fail; of how many, if any did."""
    of = f" of {tally.conversations}" if tally.failed else ""
    return f"{tally.conversations - tally.failed}{of}"


def _cell(cell: Cell) -> str:
    """A mean, with its coverage if that is not full."""
    coverage = f" ({cell.coverage.replace(' %', '%').replace(' = ', '=')})" if cell.coverage else ""
    return _plain(cell.text) + coverage


def _plain(text: str) -> str:
    """The text of a page without its long dashes and soft hyphens."""
    return text.replace("–", "-").replace("\xad", "")
