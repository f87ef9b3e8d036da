"""`recjury align`: an evaluator's scores held against people's labels."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recjury.cli import options, output
from recjury.safe_text import printable

if TYPE_CHECKING:
    from recjury.agreement.agreement import Agreements, AspectAgreement, Coefficients
    from recjury.agreement.label_sets import LabelSet
    from recjury.agreement.metric_pairs import MetricDifference
    from recjury.agreement.score_files import Scores
    from recjury.agreement.system_agreement import SystemAgreement
    from recjury.records import JSON
    from recjury.stats.clustered import BootstrapEstimate

_VOTES = "crsarena-votes"
_VOTE_RESAMPLES = 1_000  # a fit of strengths each
_HEADINGS = ["subset", "aspect", "metric", "r", "rho", "tau", "r within systems", "n", "coverage"]


def align(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[RUNFILE...]", help="Scores: run files, or CSV (default: the store's)."
        ),
    ] = None,
    labels: Annotated[
        str,
        typer.Option(
            metavar="FORM:PATH",
            help="crsarena-eval:FILE, ab-redial:FOLDER, uss:FOLDER, dialogue-eval:FOLDER, "
            "annotations:FILE (of `annotate import`), csv:FILE; or crsarena-votes:FOLDER.",
        ),
    ] = "",
    pair: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC=ASPECT", help="Compare a metric with this aspect; may be repeated."
        ),
    ] = None,
    systems: Annotated[
        bool, typer.Option("--systems", help="Also whether systems are in people's order.")
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write a plot of each metric there, with the ceiling."),
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    campaign: options.Campaign = None,
    resamples: Annotated[int, typer.Option(min=100, max=1_000_000, help="Of intervals.")] = 2_000,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of the resampling.")] = 0,
    as_json: options.Json = False,
) -> None:
    """Hold an evaluator's scores against people's labels.

    For each metric: Pearson's r, Spearman's rho and Kendall's tau with 95 % intervals over
    conversations, r within systems, and what predictors reach that read nothing (length, the
    system's mean, a constant).

    A metric is compared with the aspect of its name; --pair chooses another one. A CSV file of
    scores has the columns conversation, metric, score and may have turn; one of labels has
    conversation, aspect, label, and may have turn, rater, system, subset.

    \b
    recjury align face_run.json --labels crsarena-eval:crs_arena_eval.json
    recjury align --labels crsarena-eval:crs_arena_eval.json --pair core.overall=dialogue_overall
    recjury align mine.json face_run.json --labels crsarena-eval:crs_arena_eval.json
    recjury align scores.csv --labels csv:labels.csv --json
    recjury align --labels annotations:labels.json --systems --plot plots
    recjury align face_run.json --labels crsarena-votes:crsarena-dial
    """
    from recjury.agreement.agreement import agreements
    from recjury.agreement.label_forms import LABEL_FORMS, read_labels
    from recjury.agreement.metric_pairs import pair_metrics
    from recjury.agreement.unmatched import unmatched
    from recjury.errors import ConfigError

    if not labels:
        known = ", ".join(f"{form}:PATH" for form in LABEL_FORMS.names)
        raise ConfigError(f"--labels is missing: expected one of {known}")
    if runs and campaign is not None:
        raise ConfigError("--campaign is for the scores of a store: leave out RUNFILE")
    if labels.startswith(f"{_VOTES}:"):
        if pair or systems or plot is not None:
            raise ConfigError(f"--pair, --systems and --plot are not for {_VOTES}")
        _show_votes(
            _predictions(runs, store, campaign, by_log=False),
            Path(labels.partition(":")[2]),
            resamples,
            seed,
            as_json=as_json,
        )
        return
    people = read_labels(labels)
    predictions = _predictions(runs, store, campaign, by_log=people.by_log)
    pairs = pair_metrics(predictions, people.aspects, pair or ())
    found = agreements(predictions, people, pairs, resamples=resamples, seed=seed)
    differences = _differences(predictions, people, found)
    ranked = _ranked(predictions, people, found, resamples, seed) if systems else {}
    if plot is not None:
        from recjury.agreement.agreement_plots import write_agreement_plots

        paths = write_agreement_plots(found, predictions, people, plot, seed=seed)
        output.say(f"{plot}: {len(paths)} plots")
    for line in unmatched(predictions, people, pairs, found):
        output.say(line)
    if as_json:
        output.emit_json(_as_json(found, differences, ranked))
    else:
        _show(found, differences)
        _show_ranked(ranked)


def _predictions(
    runs: list[Path] | None, url: str, campaign: str | None, *, by_log: bool
) -> "Scores":
    """The scores of one file, of several under their names, or of a store."""
    from recjury.agreement.score_files import read_scores
    from recjury.agreement.scored_run import run_of_store
    from recjury.errors import ConfigError
    from recjury.store import Store

    if runs:
        read = {path.stem: read_scores(path).scores for path in runs}
        if len(read) < len(runs):
            raise ConfigError("two run files have the same name: rename one")
        if len(read) == 1:
            return read[runs[0].stem]
        return {
            f"{name}.{metric}": own for name, each in read.items() for metric, own in each.items()
        }
    with Store.open(url, read_only=True) as kept:
        chosen = kept.campaign(campaign).id if campaign else None
        return run_of_store(kept, chosen, by_log=by_log, details=True).all_oriented()


_Differences = dict[tuple[str, str], "tuple[MetricDifference, ...]"]


def _differences(predictions: "Scores", people: "LabelSet", found: "Agreements") -> _Differences:
    from recjury.agreement.metric_pairs import metric_differences

    return {
        (subset, aspect): metric_differences(
            predictions, people, list(agreement.metrics), aspect, subset
        )
        for subset, aspects in found.items()
        for aspect, agreement in aspects.items()
        if len(agreement.metrics) > 1
    }


_Ranked = dict[tuple[str, str, str], "SystemAgreement | None"]
"""By subset, aspect and metric."""


def _ranked(
    predictions: "Scores", people: "LabelSet", found: "Agreements", resamples: int, seed: int
) -> _Ranked:
    from recjury.agreement.system_agreement import system_agreement
    from recjury.errors import DataError
    from recjury.stats.score_table import FEWEST_SYSTEMS

    ranked = {
        (subset, aspect, metric): system_agreement(
            predictions[metric], people, aspect, subset, resamples=resamples, seed=seed
        )
        for subset, aspects in found.items()
        for aspect, agreement in aspects.items()
        for metric in agreement.metrics
    }
    if not any(ranked.values()):
        raise DataError(
            f"a rank correlation of systems needs {FEWEST_SYSTEMS} of them: leave out --systems"
        )
    return ranked


def _show_ranked(ranked: _Ranked) -> None:
    if not ranked:
        return
    output.show_table(
        ["subset", "aspect", "metric", "systems", "r of means", "rho", "tau"],
        (
            [*names, str(each.systems), *map(_estimate, each[:3])]
            for names, each in ranked.items()
            if each is not None
        ),
        title="systems",
    )
    few = dict.fromkeys(names[0] for names, each in ranked.items() if each is None)
    if few:
        output.say(printable(f"fewer than three systems, so no rank correlation: {', '.join(few)}"))


def _show_votes(
    predictions: "Scores", folder: Path, resamples: int, seed: int, *, as_json: bool
) -> None:
    from recjury.agreement.system_agreement import vote_agreement
    from recjury.corpora.crsarena_votes import read_votes
    from recjury.plugins.extras import require_ranking

    require_ranking(f"--labels {_VOTES}")
    votes = read_votes(folder)
    found = vote_agreement(predictions, votes, resamples=min(resamples, _VOTE_RESAMPLES), seed=seed)
    if as_json:
        output.emit_json({"votes": len(votes), **found.as_json()})
        return
    output.show_table(
        ["system", "strength", "95 % low", "high", "votes"],
        (
            [
                each.system,
                *map(output.number, (each.strength, each.low, each.high)),
                str(each.matches),
            ]
            for each in found.standings
        ),
    )
    output.show_table(
        ["metric", "systems", "r of means", "rho", "tau"],
        ([name, str(own.systems), *map(_estimate, own[:3])] for name, own in found.metrics.items()),
    )
    output.say(f"Bradley-Terry strengths from {len(votes)} votes; intervals over people")


def _as_json(found: "Agreements", differences: _Differences, ranked: _Ranked) -> "dict[str, JSON]":
    return {
        subset: {
            aspect: _aspect_json(
                agreement,
                differences.get((subset, aspect), ()),
                {
                    names[2]: own.as_json() if own else None
                    for names, own in ranked.items()
                    if names[:2] == (subset, aspect)
                },
            )
            for aspect, agreement in aspects.items()
        }
        for subset, aspects in found.items()
    }


def _aspect_json(
    agreement: "AspectAgreement",
    differences: "tuple[MetricDifference, ...]",
    ranked: "Mapping[str, JSON]",
) -> "dict[str, JSON]":
    metrics = {name: own.as_json() for name, own in agreement.metrics.items()}
    for name, systems in ranked.items():
        metrics[name]["systems"] = systems
    own: dict[str, JSON] = dict(metrics) if len(metrics) > 1 else next(iter(metrics.values()))
    own["predictors"] = {name: each.as_json() for name, each in agreement.predictors.items()}
    own["ceiling"] = agreement.ceiling.as_json() if agreement.ceiling else None
    if differences:
        own["differences"] = [each.as_json() for each in differences]
    return own


def _show(found: "Agreements", differences: _Differences) -> None:
    output.show_table(_HEADINGS, _rows(found))
    output.say("chance, and a constant, is 0; the last rows of an aspect read no words of the log")
    for (subset, aspect), pairs in differences.items():
        for each in pairs:
            gap = each.gap
            p = "" if each.williams is None else f", p = {each.williams.p:.3f} (Williams)"
            output.say(
                printable(
                    f"{subset}, {aspect}: r of {each.a} minus r of {each.b}: {gap.value:+.3f} "
                    f"[{gap.low:+.3f}, {gap.high:+.3f}]{p}, n = {each.n}"
                )
            )
    for subset, aspects in found.items():
        for aspect, agreement in aspects.items():
            if agreement.ceiling is not None:
                alpha = output.number(agreement.ceiling.alpha, 3)
                rest = output.number(agreement.ceiling.one_against_the_rest, 3)
                output.say(
                    printable(
                        f"{subset}, {aspect}: people's alpha {alpha}, "
                        f"one against the rest rho {rest}"
                    )
                )


def _rows(found: "Agreements") -> Iterator[list[str]]:
    from recjury.agreement.predictors import CONSTANT, SYSTEM_MEAN

    for subset, aspects in found.items():
        for aspect, agreement in aspects.items():
            for name, own in {**agreement.metrics, **agreement.predictors}.items():
                if name != CONSTANT:  # it never has a correlation
                    yield [subset, aspect, name, *_cells(own, within=name != SYSTEM_MEAN)]


def _cells(own: "Coefficients", *, within: bool) -> list[str]:
    found = own.estimates
    if found is None:
        return ["-", "-", "-", "-", "0", f"{own.coverage:.0%}"]
    return [
        *(_estimate(each) for each in (found.pearson, found.spearman, found.kendall)),
        _estimate(found.within_pearson) if within else "-",
        str(found.n),
        f"{own.coverage:.0%}",
    ]


def _estimate(found: "BootstrapEstimate | None") -> str:
    if found is None or found.value is None:
        return "-"
    if found.low is None or found.high is None:
        return f"{found.value:.3f}"
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"
