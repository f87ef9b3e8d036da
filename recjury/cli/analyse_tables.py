"""The tables of `recjury analyse`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from recjury.cli import output
from recjury.safe_text import printable

if TYPE_CHECKING:
    from recjury.agreement.length_correlations import LengthCorrelations, MetricLengthBias
    from recjury.agreement.profiles import Mean
    from recjury.agreement.sample_sizes import SampleCurve
    from recjury.agreement.self_preference import SelfPreference
    from recjury.stats.clustered import BootstrapEstimate

_LENGTH = ["metric", "r", "rho", "r within systems", "r between systems", "n"]


def show_samples(found: "Mapping[str, SampleCurve]") -> None:
    """A row for each number of conversations, a column for each metric, and for people."""
    curves = dict(found)
    by_people = any(each.by_people for each in curves.values())
    columns = [(name, "evaluator") for name in curves]
    # Of one aspect, people's curve is the same beside every metric.
    columns += [(name, "people") for name, each in curves.items() if each.by_people]
    sizes = sorted({row.size for each in curves.values() for row in each.sizes})
    rows = []
    for size in sizes:
        cells = [str(size)]
        for name, who in columns:
            own = next((row for row in curves[name].sizes if row.size == size), None)
            cells.append("-" if own is None else _range(getattr(own, who)))
        rows.append(cells)
    output.show_table(
        [
            "conversations a system",
            *(n if who == "evaluator" else f"people, {n}" for n, who in columns),
        ],
        rows,
    )
    ranking = "all of people's labels" if by_people else "all of its own scores"
    first = next(iter(curves.values()))
    output.say(
        f"Spearman's rho with the ranking of {first.systems} systems by {ranking}: mean of the "
        f"draws, and the range of 95 % of them; the smallest system has {first.smallest} "
        "conversations"
    )


def _range(values: tuple[float, float, float]) -> str:
    mean, low, high = values
    return f"{mean:.2f} [{low:.2f}, {high:.2f}]"


def show_metrics(panels: "Mapping[str, Mapping[str, Mapping[str, Mean]]]") -> None:
    """A table for scores and one for people: a row for each metric, a column for each system."""
    for title, systems in panels.items():
        metrics = list(dict.fromkeys(name for row in systems.values() for name in row))
        output.show_table(
            [title, *systems],
            ([name, *(_mean(row.get(name)) for row in systems.values())] for name in metrics),
        )
    output.say("shares of the scales, from the worst end (0) to the best (1); 95 % intervals")


def show_turns(found: "Mapping[str, Mapping[str, Sequence[Mean]]]") -> None:
    """A table for each metric: a row for each system turn, a column for each system."""
    for metric, systems in found.items():
        longest = max((len(means) for means in systems.values()), default=0)
        output.show_table(
            [f"{printable(metric)}: system turn", *systems],
            (
                [
                    str(number + 1),
                    *(
                        _mean(means[number] if number < len(means) else None, counted=True)
                        for means in systems.values()
                    ),
                ]
                for number in range(longest)
            ),
        )
    output.say("means with 95 % intervals over scenarios, and the number of scenarios (n)")


def _mean(found: "Mean | None", *, counted: bool = False) -> str:
    if found is None:
        return "-"
    bounds = "" if found.low is None else f" [{found.low:.2f}, {found.high:.2f}]"
    return f"{found.value:.2f}{bounds}{f', n = {found.n}' if counted else ''}"


def show_length(found: "Mapping[str, MetricLengthBias]") -> None:
    """A row for each metric, and one for people's labels below it if there are any."""
    rows = []
    for name, each in found.items():
        rows.append([name, *_length(each.evaluator)])
        if each.people is not None:
            rows.append(["  people", *_length(each.people)])
    output.show_table(_LENGTH, rows)
    for name, each in found.items():
        if each.gap is not None:
            gap = each.gap
            output.say(
                printable(
                    f"{name}: r with length minus people's: {gap.value:+.3f} "
                    f"[{gap.low:+.3f}, {gap.high:+.3f}]"
                )
            )
    output.say(
        "correlations with words of the turn, or mean words of a conversation's system turns"
    )


def _length(found: "LengthCorrelations") -> list[str]:
    own, between = found.estimates, found.between
    return [
        *map(_estimate, (own.pearson, own.spearman, own.within_pearson)),
        output.number(between.pearson, 3),
        str(own.n),
    ]


def _estimate(found: "BootstrapEstimate") -> str:
    if found.value is None:
        return "-"
    if found.low is None or found.high is None:
        return f"{found.value:.3f}"
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


def show_self_bias(found: "Sequence[SelfPreference]") -> None:
    """A row for each judge and metric."""
    output.show_table(
        ["judge", "metric", "self-bias", "own systems", "other systems", "n own", "n others"],
        (
            [
                f"{each.judge} ({each.model})",
                each.metric,
                _estimate(each.bias),
                f"{each.own_gap:+.3f}",
                f"{each.other_gap:+.3f}",
                str(each.n_own),
                str(each.n_others),
            ]
            for each in found
        ),
    )
    for each in {each.judge: each for each in found}.values():
        prefer = (
            "" if each.is_neutral else ", which systems run, too: their preference is part of it"
        )
        output.say(
            printable(
                f"{each.judge}: systems {', '.join(each.own)} run its model; "
                f"against {', '.join(each.against)}{prefer}"
            )
        )
    output.say(
        "own and other systems: the judge's score minus that of the other judges; self-bias: the "
        "first minus the second, with its 95 % interval; all: mean over metrics, as share of scales"
    )
