"""`recjury compare`: systems against each other, or two evaluators."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output
from recjury.errors import ConfigError
from recjury.safe_text import printable

if TYPE_CHECKING:
    from recjury.records import JSON, Metric
    from recjury.results import Comparison, EvaluatorComparison
    from recjury.results.repeats import NoiseFloor, PassRate
    from recjury.stats import MeanDifference
    from recjury.store import ConversationResult, Store

_INTERVAL = ["95 % low", "high", "p (Holm)", "n"]
_SHARES = (0.01, 0.02, 0.05, 0.1)  # of a scale, in the table of power

_Pair = tuple[str, str]


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
    store: options.Store = options.DEFAULT_STORE,
    campaign: options.Campaign = None,
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 0,
    as_json: options.Json = False,
) -> None:
    """Compare systems, two by two: A minus B on the scenarios of both.

    Shown are the mean difference with its 95 % interval, the p-value of a permutation test,
    Holm-corrected over all that is shown, and the effect size (in standard deviations of the
    difference). If scenarios were repeated or conversations judged again, the noise floor says how
    far two runs of one system differ.

    With --evaluators, compare two evaluators on the conversations that both rated.

    \b
    recjury compare kbrd retrieval
    recjury compare kbrd retrieval popular --metric core.overall --margin 5
    recjury compare kbrd retrieval --power
    recjury compare kbrd retrieval --good outcome.recall@10=1
    recjury compare --evaluators core core@1a2b --metric overall
    """
    from recjury.results import ComparisonOptions, compare_all, compare_evaluators
    from recjury.store import Store

    _check(names, margin, evaluators=evaluators, more=bool(margin or power or good or force))
    with Store.open(store, create=False) as kept:
        chosen = kept.campaign(campaign).id if campaign else None
        if evaluators:
            a, b = names
            work = compare_evaluators(kept, a, b, campaign=chosen, metrics=metric or (), seed=seed)
            _end(f"{a} - {b}", work, as_json=as_json)
            return
        wanted = ComparisonOptions(metric or (), margin, force, seed)
        found = compare_all(kept, names, campaign=chosen, options=wanted)
        noise, repeats = _noise(kept, chosen, names)
        passed = None if good is None else _passed(kept, chosen, names, good)
    if as_json:
        output.emit_json(_as_json(found, noise, passed, power=power))
        return
    for (a, b), comparison in found.items():
        _show(printable(f"{a} - {b}"), comparison, noise, repeats)
        if power:
            _show_power(printable(f"{a} - {b}"), comparison)
    if passed is not None:
        _show_passed(good or "", passed)


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
        raise ConfigError("--margin, --power, --good and --force are for systems")


def _noise(
    store: "Store", campaign: str | None, names: Sequence[str]
) -> "tuple[dict[str, NoiseFloor], float]":
    """The noise floors of the newest campaign with these systems, and the repeats of a scenario."""
    from recjury.results.repeats import noise_floors

    results = _results(store, campaign, names)
    scenarios = {(each.system, each.pair or each.scenario) for each in results}
    return noise_floors(results), len(results) / max(1, len(scenarios))


def _results(
    store: "Store", campaign: str | None, names: Sequence[str]
) -> "list[ConversationResult]":
    """Those of the newest campaign that has all of these systems."""
    from recjury.results.choice import candidates

    for chosen in candidates(store, campaign):
        found = [each for each in store.results(chosen) if each.system in names]
        if {each.system for each in found} == set(names):
            return found
    return []


def _passed(
    store: "Store", campaign: str | None, names: Sequence[str], good: str
) -> "dict[str, tuple[PassRate, ...]]":
    from recjury.results.choice import candidates, require
    from recjury.results.repeats import pass_rates
    from recjury.results.scores import measures_of

    measure, equals, value = good.partition("=")
    try:
        threshold = float(value) if equals else math.nan
    except ValueError:
        threshold = math.nan
    if not math.isfinite(threshold):
        raise ConfigError(f"--good {good}: expected METRIC=VALUE (outcome.recall@10=1)")
    results = _results(store, campaign, names)
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
    numbers = output.number
    output.show_table(
        [printable(title), "difference", *_INTERVAL, "apart", "Spearman", "Pearson"],
        [
            [m, *_gap(e.difference), numbers(e.apart), numbers(e.spearman), numbers(e.pearson)]
            for m, e in result.agreements.items()
        ],
    )
    output.say(
        f"over {result.pairs} conversations that both rated; apart: mean absolute difference"
    )


def _as_json(
    found: "Mapping[_Pair, Comparison]",
    noise: "Mapping[str, NoiseFloor]",
    passed: "Mapping[str, Sequence[PassRate]] | None",
    *,
    power: bool,
) -> "dict[str, JSON]":
    """One comparison's own keys for two systems; a list of them for more."""
    more: dict[str, JSON] = {}
    if noise:
        more["noise"] = {measure: each.as_json() for measure, each in noise.items()}
    if passed is not None:
        more["pass"] = {
            system: [dict(rate._asdict()) for rate in rates] for system, rates in passed.items()
        }
    shown: list[dict[str, JSON]] = []
    for (a, b), comparison in found.items():
        own: dict[str, JSON] = {"a": a, "b": b, **comparison.as_json()}
        if power:
            own["power"] = _power(comparison)
        shown.append(own)
    if len(shown) == 1:
        return {**{key: each for key, each in shown[0].items() if key not in "ab"}, **more}
    return {"comparisons": shown, **more}


def _power(comparison: "Comparison") -> "dict[str, JSON]":
    from recjury.stats.effects import detectable_difference, pairs_needed

    found: dict[str, JSON] = {}
    for measure, gap in comparison.gaps.items():
        sd, metric = gap.effect.sd, gap.metric
        if not sd or metric.detail or not comparison.is_paired:
            continue
        span = None if metric.high is None else metric.high - metric.low
        found[measure] = {
            "sd": sd,
            "detectable": detectable_difference(sd, gap.difference.n),
            "scenarios": {f"{share * span:g}": pairs_needed(sd, share * span) for share in _SHARES}
            if span
            else {},
        }
    return found


def _show(
    title: str,
    result: "Comparison",
    noise: "Mapping[str, NoiseFloor]",
    repeats: float,
) -> None:
    rows = []
    for measure, gap in result.gaps.items():
        if not gap.difference.n:
            continue
        row = [measure, *_gap(gap.difference), output.number(gap.effect.d)]
        if result.margin is not None:
            row.append(output.number(gap.equivalence, 4))
        if noise:
            floor = noise[measure].floor(gap.difference.n, repeats) if measure in noise else None
            row.append("-" if floor is None else f"±{floor:.2f}")
        rows.append(row)
    headings = [title, "difference", *_INTERVAL, "effect"]
    if result.margin is not None:
        headings.append(f"p within ±{result.margin:g}")
    output.show_table([*headings, *(["noise floor"] if noise else [])], rows)
    if result.is_paired:
        alone = f"; {result.alone} that only one of them met are left out" if result.alone else ""
        output.say(f"paired over {result.pairs} scenarios that both systems met{alone}")
    else:
        output.say("unpaired: the two systems have no scenario in common")
    if result.margin is not None:
        output.say(
            f"p within ±{result.margin:g} (Holm): below .05, the difference is shown to be smaller"
        )
    if noise:
        what = "repeats" if any(each.repeats for each in noise.values()) else "judgings alone"
        output.say(f"noise floor: how far two runs of one system differ (95 %), from {what}")


def _show_power(title: str, result: "Comparison") -> None:
    rows = []
    for measure, each in _power(result).items():
        assert isinstance(each, dict)
        needed = each["scenarios"]
        assert isinstance(needed, dict)
        rows.append(
            [
                measure,
                output.number(each["sd"]),
                output.number(each["detectable"]),
                *(f"{n} (d = {d})" for d, n in needed.items()),
                *(["-"] * (len(_SHARES) - len(needed))),
            ]
        )
    output.show_table(
        [title, "sd", "seen now", *(f"{share:.0%} of the scale" for share in _SHARES)], rows
    )
    output.say(
        "scenarios needed to see a difference of d, and the difference that is seen now, with 80 % "
        "power at p < .05 before Holm (paired t-test)"
    )


def _show_passed(good: str, passed: "Mapping[str, Sequence[PassRate]]") -> None:
    most = max((len(rates) for rates in passed.values()), default=0)
    output.show_table(
        [good.replace("=", " at "), *(f"pass^{k}" for k in range(1, most + 1)), "scenarios"],
        (
            [
                system,
                *(f"{each.rate:.3f}" for each in rates),
                *(["-"] * (most - len(rates))),
                str(rates[0].scenarios) if rates else "0",
            ]
            for system, rates in passed.items()
        ),
    )
    if most < 2:
        output.say("no scenario was repeated: set `repeats` in the campaign file")


def _gap(gap: "MeanDifference") -> list[str]:
    bounds = (output.number(value) for value in (gap.difference, gap.low, gap.high))
    return [*bounds, output.number(gap.p, 4), str(gap.n)]
