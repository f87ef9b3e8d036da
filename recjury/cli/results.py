"""What `run` and `judge` print when they are done: the table of systems, or its JSON."""

from collections import Counter
from pathlib import Path

from recjury.campaign.running import RunResult
from recjury.cli import output
from recjury.records import JSON, Factor
from recjury.report import SystemSummary, summarise_systems, write_report
from recjury.stats import Summary
from recjury.store import Store

SOME_FAILED = 3
_SHOWN_REASONS = 5
_SHORT = {
    Factor.COHERENCE: "Coher",
    Factor.RECOVERABILITY: "Recov",
    Factor.PROACTIVENESS: "Proact",
    Factor.GRAMMATICAL_CORRECTNESS: "Gramm",
    Factor.NATURALNESS: "Natur",
    Factor.APPROPRIATENESS: "Approp",
    Factor.EFFECTIVENESS: "Effect",
    Factor.NOVELTY: "Novel",
    Factor.DIVERSITY: "Divers",
    Factor.SEMANTIC_RELEVANCE: "SemRel",
    Factor.EXPLAINABILITY: "Explain",
    Factor.GROUNDNESS: "Ground",
}


def finish(result: RunResult, url: str, *, report: Path | None, as_json: bool) -> None:
    """Print what came of a run, write its report, and end with the exit code that says it."""
    with Store.open(url, create=False) as store:
        outcomes = store.outcomes(result.campaign)
        systems = summarise_systems(each for each in outcomes if each.trial in result.trials)
        if report is not None:
            write_report(store, report, campaign=result.campaign)
        if as_json:
            failures = failure_reasons(store, result.campaign)
            output.emit_json(as_object(result, systems, failures))
        else:
            _show(result, systems, store)
    if report is not None:
        output.say(f"report: {report}")
    if result.failed:
        output.stop(SOME_FAILED)


def as_object(
    result: RunResult, systems: dict[str, SystemSummary], failures: Counter[str]
) -> dict[str, JSON]:
    """The object that scripts rely on; `failures` says how often each reason stands behind one."""
    return {
        "campaign": result.campaign,
        "trials": {"planned": result.planned, "done": result.done, "failed": result.failed},
        "systems": {name: summary.as_json() for name, summary in systems.items()},
        "set_aside": result.set_aside,
        "failures": dict(failures),
        "skipped": [skipped.model_dump() for skipped in result.skipped],
    }


def _show(result: RunResult, systems: dict[str, SystemSummary], store: Store) -> None:
    show_systems(systems)
    if result.skipped:
        output.say(f"{len(result.skipped)} records gave no scenario or lost a target:")
        for skipped in result.skipped[:_SHOWN_REASONS]:
            output.say(f"  {skipped.corpus} {skipped.record}: {skipped.reason}")
    if result.set_aside:
        output.say(
            f"{result.set_aside} trials of an earlier version of a system, rubric or data were set "
            "aside: they are in the store, and out of these tables"
        )
    if result.failed:
        output.say(f"{result.failed} of {result.planned} trials failed:")
        say_failures(store, result.campaign)
    output.say(f"campaign {result.campaign}")


def say_failures(store: Store, campaign: str) -> None:
    """The reasons that stand behind most failed trials, on standard error, a line each."""
    reasons = failure_reasons(store, campaign)
    for reason, count in reasons.most_common(_SHOWN_REASONS):
        output.say(f"  {count} x {reason}")
    if len(reasons) > _SHOWN_REASONS:
        output.say(f"  and {len(reasons) - _SHOWN_REASONS} more reasons: recjury report has them")


def failure_reasons(store: Store, campaign: str | None) -> Counter[str]:
    """How often each reason stands behind a failed trial."""
    return Counter(
        f"{stage}: {reason}"
        for outcome in store.outcomes(campaign)
        for stage, reason in outcome.failures.items()
    )


def show_systems(systems: dict[str, SystemSummary]) -> None:
    """A row per system: twelve factors (0-4), overall (0-100), recall, persuasiveness (0-2)."""
    headings = [
        "system",
        *_SHORT.values(),
        "Overall",
        "R@1",
        "R@5",
        "R@10",
        "R@10 new",
        "Persuasive",
        "Trials",
    ]
    output.show_table(headings, (_row(name, summary) for name, summary in systems.items()))
    raters = sorted({rater for summary in systems.values() for rater in summary.raters})
    output.say(
        "factors 0-4, overall 0-100, persuasive 0-2; R@k 0-1, new: where the history names no "
        "target; in brackets: the share (or n, the number) of trials with a score, where that is "
        "not all; -: none has"
    )
    output.say(f"rated and debated by: {', '.join(raters) or 'nobody yet'}")


def _row(name: str, summary: SystemSummary) -> list[str]:
    return [
        name,
        *(cell(summary.factors[factor]) for factor in _SHORT),
        cell(summary.overall, digits=1),
        *(cell(summary.recall[k], digits=3) for k in sorted(summary.recall)),
        _of_so_many(summary.new_recall[10]),
        cell(summary.persuasiveness),
        str(summary.trials - summary.failed),
    ]


def _of_so_many(summary: Summary) -> str:
    """A recall over some of the trials only, with their number where that is not all."""
    mean = output.number(summary.mean, 3)
    return mean if summary.scored in (0, summary.n) else f"{mean} (n={summary.scored})"


def cell(summary: Summary, *, digits: int = 2) -> str:
    """A mean, with its coverage where that is not full."""
    mean = output.number(summary.mean, digits)
    if summary.coverage == 1 or summary.mean is None:
        return mean
    return f"{mean} ({min(99, round(100 * summary.coverage))}%)"
