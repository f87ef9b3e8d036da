"""`recjury compare`: systems against each other, or two evaluators."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output
from recjury.cli.compare_tables import (
    INTERVAL,
    comparisons_json,
    gap_cells,
    show_comparison,
    show_passed,
    show_power,
    with_interval,
)
from recjury.cli.selecting import with_filters
from recjury.errors import ConfigError
from recjury.safe_text import printable

if TYPE_CHECKING:
    from recjury.records import Metric
    from recjury.results import EvaluatorComparison
    from recjury.results.noise import PassRate
    from recjury.store import ConversationResult, Selection, Store


@with_filters
def compare(
    names: Annotated[
        list[str], typer.Argument(metavar="A B...", help="Names of systems, at least two.")
    ],
    evaluators: Annotated[
        bool, typer.Option("--evaluators", help="A and B are evaluators, not systems.")
    ] = False,
    metric: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Only this metric; may be repeated.")
    ] = None,
    all_metrics: Annotated[
        bool,
        typer.Option("--all-metrics", help="Also rounds, time, cost, leaks and other details."),
    ] = False,
    margin: Annotated[
        float | None,
        typer.Option(
            metavar="D", help="Also test that the difference is smaller than this (TOST)."
        ),
    ] = None,
    power: Annotated[
        bool,
        typer.Option("--power", help="How many scenarios are needed to see a difference."),
    ] = False,
    good: Annotated[
        str | None,
        typer.Option(
            metavar="METRIC=VALUE",
            help="How often all repeats of a scenario reach this value (pass^k).",
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Compare what has other scenarios, or other versions of evaluators."
        ),
    ] = False,
    before: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="How one system changed since this campaign, and its judge."
        ),
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    campaign: options.Campaign = None,
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 0,
    as_json: options.Json = False,
    *,
    selection: "Selection",
) -> None:
    """Compare systems, two by two: A minus B on the scenarios of both.

    Shown are the mean difference with its 95 % interval, the p-value of a permutation test,
    Holm-corrected (the verdict over all pairs, other metrics together; "tie": no pair differs, so
    nothing is tested), and the effect size (in standard deviations of the difference). The verdict
    comes first; details are shown with --all-metrics, or if --metric names them. If scenarios were
    repeated or conversations judged again, the noise floor says how far two runs of one system
    differ.

    With --before, one system is compared with itself in an earlier campaign that the later judges
    have rated, too: how much of the change is the system's, and how much the judge's.

    With --evaluators, compare two evaluators on the conversations that both rated.

    \b
    recjury compare kbrd retrieval
    recjury compare kbrd retrieval popular --metric core.overall --margin 5
    recjury compare kbrd retrieval --power
    recjury compare kbrd retrieval --where corpus=redial/test --share .1
    recjury compare kbrd retrieval --good outcome.recall@10=1
    recjury compare mine --before 3f2a
    recjury compare --evaluators core core@1a2b --metric overall
    """
    from recjury.cli.result_tables import say_caveats
    from recjury.results import ComparisonOptions, compare_all, compare_evaluators
    from recjury.store import Store

    if before is not None:
        if len(names) > 1 or evaluators or margin or power or good or force or not selection.is_all:
            raise ConfigError("--before is for one system, with --metric, --campaign and --seed")
        _compare_change(names[0], before, store, campaign, metric or (), seed, as_json=as_json)
        return
    more = bool(margin or power or good or force or not selection.is_all)
    _check(names, margin, evaluators=evaluators, more=more)
    with Store.open(store, read_only=True) as kept:
        chosen = kept.campaign(campaign).id if campaign else None
        if evaluators:
            a, b = names
            work = compare_evaluators(kept, a, b, campaign=chosen, metrics=metric or (), seed=seed)
            _end(f"{a} - {b}", work, as_json=as_json)
            return
        wanted = ComparisonOptions(metric or (), margin, force, seed, selection)
        found = compare_all(kept, names, campaign=chosen, options=wanted)
        one = next(iter(found.values()))
        noise, repeats = one.noise, one.repeats
        passed = None
        if good is not None:
            results = _results(kept, chosen, names, selection)
            passed = _passed(kept, chosen, results, good)
    if as_json:
        output.emit_json(comparisons_json(found, noise, passed, power=power))
        return
    for (a, b), comparison in found.items():
        details = all_metrics or bool(metric)
        show_comparison(printable(f"{a} - {b}"), comparison, noise, repeats, details=details)
        if power:
            show_power(printable(f"{a} - {b}"), comparison)
    say_caveats(dict.fromkeys(caveat for each in found.values() for caveat in each.caveats))
    if passed is not None:
        show_passed(good or "", passed)


def _check(names: Sequence[str], margin: float | None, *, evaluators: bool, more: bool) -> None:
    if len(names) < 2 or (evaluators and len(names) > 2):
        expected = "two evaluators" if evaluators else "at least two systems"
        raise ConfigError(f"expected {expected}, got {len(names)}: {', '.join(names)}")
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise ConfigError(f"A and B must be two different names, got {twice} twice")
    if margin is not None and not (math.isfinite(margin) and margin > 0):
        raise ConfigError(f"--margin must be a number above 0, got {margin}")
    if evaluators and more:
        raise ConfigError("--margin, --power, --good, --force and filters are for systems")


def _compare_change(
    system: str,
    before: str,
    url: str,
    campaign: str | None,
    metrics: Sequence[str],
    seed: int,
    *,
    as_json: bool,
) -> None:
    from recjury.results import explain_change, newest_campaign
    from recjury.store import Store

    with Store.open(url, read_only=True) as kept:
        first = kept.campaign(before).id
        last = kept.campaign(campaign or newest_campaign(kept) or "").id
        if first == last:
            raise ConfigError(f"--before {before}: name a campaign before {last}")
        found = explain_change(kept, system, first, last, metrics=metrics, seed=seed)
    if as_json:
        output.emit_json(
            {
                "before": first,
                "after": last,
                "metrics": {name: each.as_json() for name, each in found.items()},
            }
        )
        return
    output.show_table(
        [printable(system), "change", "of the judge", "of the system", "n"],
        (
            [name, *map(with_interval, (own.total, own.judge, own.system)), str(own.total.n)]
            for name, own in found.items()
            if own.total.n
        ),
    )
    output.say(
        f"from campaign {first} to {last}, over scenarios of both. Of the judge: the same "
        "conversations by the later evaluator; of the system: by one evaluator. 95 % intervals"
    )


def _results(
    store: "Store", campaign: str | None, names: Sequence[str], selection: "Selection"
) -> "list[ConversationResult]":
    """Those of the newest campaign that has all of these systems."""
    from recjury.store.choice import candidates

    for chosen in candidates(store, campaign):
        if set(names) <= store.systems(chosen):
            ids = store.selected(chosen, selection)
            every = store.results(chosen, conversations=ids, whole=False)
            return [each for each in every if each.system in names]
    return []


def _passed(
    store: "Store", campaign: str | None, results: "Sequence[ConversationResult]", good: str
) -> "dict[str, tuple[PassRate, ...]]":
    from recjury.results.noise import pass_rates
    from recjury.results.scores import measures_of
    from recjury.store.choice import candidates, require

    measure, equals, value = good.partition("=")
    try:
        threshold = float(value) if equals else math.nan
    except ValueError:
        threshold = math.nan
    if not math.isfinite(threshold):
        raise ConfigError(f"--good {good}: expected METRIC=VALUE (outcome.recall@10=1)")
    known: dict[str, Metric] = {}
    for chosen in candidates(store, campaign):
        for each in measures_of(store.evaluators(chosen)):
            known.setdefault(each.id, each.metric)
    require("metric", [measure], known)
    return pass_rates(results, measure, known[measure], threshold)


def _end(title: str, result: "EvaluatorComparison", *, as_json: bool) -> None:
    if as_json:
        output.emit_json(result.as_json())
        return
    from recjury.results.scores import named

    numbers = output.number
    output.show_table(
        [printable(title), "difference", *INTERVAL, "apart", "Spearman", "Pearson"],
        [
            [
                named(m, e.metric),
                *gap_cells(e.difference),
                numbers(e.apart),
                numbers(e.spearman),
                numbers(e.pearson),
            ]
            for m, e in result.agreements.items()
        ],
    )
    output.say(
        f"over {result.pairs} conversations that both rated; apart: mean absolute difference"
    )
