"""What `recjury compare` shows of systems: tables, or their JSON."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from recjury.cli import output

if TYPE_CHECKING:
    from recjury.records import JSON
    from recjury.results import Comparison
    from recjury.results.noise import NoiseFloor, PassRate
    from recjury.stats import MeanDifference

INTERVAL = ["95 % low", "high", "p (Holm)", "n"]
_SHARES = (0.01, 0.02, 0.05, 0.1)  # of a scale, in the table of power

_Pair = tuple[str, str]


def comparisons_json(
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
        return {**{key: each for key, each in shown[0].items() if key not in ("a", "b")}, **more}
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


def show_comparison(
    title: str,
    result: "Comparison",
    noise: "Mapping[str, NoiseFloor]",
    repeats: float,
    *,
    details: bool,
) -> None:
    """The differences of two systems, with `details` or without, and how they were paired."""
    from recjury.results.scores import named

    rows = []
    for measure, gap in result.gaps.items():
        if not gap.difference.n or (gap.metric.detail and not details):
            continue
        row = [named(measure, gap.metric), *gap_cells(gap.difference), output.number(gap.effect.d)]
        if result.margin is not None:
            row.append(output.number(gap.equivalence, 4))
        if noise:
            floor = noise[measure].floor(gap.difference.n, repeats) if measure in noise else None
            row.append("-" if floor is None else f"±{floor:.2f}")
        rows.append(row)
    headings = [title, "difference", *INTERVAL, "effect"]
    if result.margin is not None:
        headings.append(f"p within ±{result.margin:g}")
    if rows:
        output.show_table([*headings, *(["noise floor"] if noise else [])], rows)
    else:
        output.say(f"{title}: none of these metrics has a score of both systems")
    if result.is_paired:
        alone = f"; {result.alone} that only one of them met are left out" if result.alone else ""
        scenarios = "scenario" if result.pairs == 1 else "scenarios"
        output.say(f"paired over {result.pairs} {scenarios} that both systems met{alone}")
    else:
        output.say("unpaired: the two systems have no scenario in common")
    if result.margin is not None:
        output.say(
            f"p within ±{result.margin:g} (Holm): below .05, the difference is shown to be smaller"
        )
    if noise:
        output.say(noise_line(noise))


def noise_line(noise: "Mapping[str, NoiseFloor]") -> str:
    """What the noise floors of a table mean, and what they are from."""
    from recjury.results.noise import noise_source

    return (
        "noise floor: how far two runs of one system differ (95 %), from "
        f"{noise_source(noise.values())}; a difference below it is noise"
    )


def show_power(title: str, result: "Comparison") -> None:
    """How many scenarios show which difference."""
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


def show_passed(good: str, passed: "Mapping[str, Sequence[PassRate]]") -> None:
    """How often all of k repeats are good."""
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


def gap_cells(gap: "MeanDifference") -> list[str]:
    """The cells of a difference: value, interval, p-value, n."""
    bounds = (output.number(value) for value in (gap.difference, gap.low, gap.high))
    return [*bounds, "tie" if gap.is_tie else output.number(gap.p, 4), str(gap.n)]


def with_interval(gap: "MeanDifference") -> str:
    """A difference with its interval, in one cell."""
    value, low, high = (output.number(each) for each in gap[:3])
    return value if gap.low is None else f"{value} [{low}, {high}]"
