"""A report's section about agreement with people, from a campaign and labels."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from recjury.agreement.agreement import Agreements, AspectAgreement, Coefficients
from recjury.agreement.agreement_plots import agreement_plots
from recjury.agreement.alignment import Alignment
from recjury.agreement.label_forms import read_labels
from recjury.agreement.predictors import CONSTANT, SYSTEM_MEAN
from recjury.agreement.scored_run import run_of_store
from recjury.records import Estimate
from recjury.report.people import AgreementRow, AspectTable, PeopleSection
from recjury.store import Store
from recjury.tables import Figure, svg

_FIGURES = 24  # on a page: each has a point for each labelled place

_Figures = Mapping[tuple[str, str, str], Figure]


def people_section(
    store: Store,
    campaign: str,
    labels: str,
    pairs: Sequence[str] = (),
    *,
    resamples: int = 2_000,
    seed: int = 0,
) -> PeopleSection:
    """How far the metrics of a campaign agree with `labels`, as `recjury align` finds it.

    `labels` is like "annotations:labels.json", `pairs` like "core.overall=overall". At most 24
    figures are drawn. Raises UserError for labels that cannot be used, and if nothing is paired.
    """
    people = read_labels(labels)
    run = run_of_store(store, campaign, by_log=people.by_log, details=True)
    aligned = Alignment.of(run.all_oriented(), people, pairs, resamples=resamples, seed=seed)
    drawn = agreement_plots(_few(aligned), aligned.predictions, people, seed=seed)
    return PeopleSection(
        Path(labels.partition(":")[2]).name,
        tuple(_tables(aligned, drawn)),
        tuple(aligned.unmatched),
    )


def _few(aligned: Alignment) -> Agreements:
    """The first metrics, as many as there are figures."""
    left = _FIGURES
    kept: dict[str, dict[str, AspectAgreement]] = {}
    for subset, aspect, each in aligned.aspects:
        metrics = dict(list(each.metrics.items())[:left])
        left -= len(metrics)
        kept.setdefault(subset, {})[aspect] = each._replace(metrics=metrics)
    return kept


def _tables(aligned: Alignment, drawn: _Figures) -> Iterator[AspectTable]:
    for subset, aspect, each in aligned.aspects:
        figures = (drawn.get((subset, aspect, metric)) for metric in each.metrics)
        yield AspectTable(
            subset,
            aspect,
            tuple(_rows(each)),
            _ceiling(each),
            tuple(svg(figure) for figure in figures if figure is not None),
        )


def _rows(agreement: AspectAgreement) -> Iterator[AgreementRow]:
    for name, own in agreement.metrics.items():
        yield _row(name, own, is_metric=True)
    for name, own in agreement.predictors.items():
        if name != CONSTANT:  # it never has a correlation
            row = _row(name, own, is_metric=False)
            # Within systems it falls as the own label rises.
            yield row._replace(within_systems="–") if name == SYSTEM_MEAN else row


def _row(name: str, own: Coefficients, *, is_metric: bool) -> AgreementRow:
    found = own.estimates
    cells = ("–", "–", "–")
    if found is not None:
        cells = _text(found.pearson), _text(found.spearman), _text(found.within_pearson)
    return AgreementRow(name, is_metric, *cells, found.n if found else 0, f"{own.coverage:.0%}")


def _ceiling(agreement: AspectAgreement) -> str:
    if agreement.ceiling is None:
        return ""
    alpha, rest = agreement.ceiling.alpha, agreement.ceiling.one_against_the_rest
    said = ([] if alpha is None else [f"Krippendorff’s alpha {alpha:.2f}"]) + (
        [] if rest is None else [f"rho of one person with the others {rest:.2f}"]
    )
    return f"People with each other: {', '.join(said)}." if said else ""


def _text(found: Estimate) -> str:
    if found.value is None:
        return "–"
    if found.low is None or found.high is None:
        return f"{found.value:.2f}"
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"
