"""Scores held against people's labels, as `recjury align` shows them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from recjury.agreement.agreement import (
    RESAMPLES,
    Agreements,
    AspectAgreement,
    agreements,
)
from recjury.agreement.coefficient_columns import COEFFICIENTS, coefficient_cells
from recjury.agreement.label_sets import LabelSet
from recjury.agreement.metric_pairs import MetricDifference, metric_differences, pair_metrics
from recjury.agreement.predictors import CONSTANT, SYSTEM_MEAN
from recjury.agreement.score_files import Scores
from recjury.agreement.system_agreement import SystemAgreement, system_agreement
from recjury.errors import DataError
from recjury.records import JSON
from recjury.stats.score_table import FEWEST_SYSTEMS
from recjury.tables import Cell, Column, Table, table_of

_NAMED = 5  # ids in a line
_PLACE = (Column("subset"), Column("aspect"), Column("metric"))

Ranked = Mapping[tuple[str, str, str], SystemAgreement | None]
"""By subset, aspect and metric; None for fewer than three systems."""


class Alignment(NamedTuple):
    """Scores, labels, the aspect of each metric that is compared, and how far they agree."""

    predictions: Scores
    people: LabelSet
    pairs: Mapping[str, str]
    found: Agreements

    @classmethod
    def of(
        cls,
        predictions: Scores,
        people: LabelSet,
        chosen: Sequence[str] = (),
        *,
        resamples: int = RESAMPLES,
        seed: int = 0,
    ) -> "Alignment":
        """Hold scores, of which higher is better, against labels.

        `chosen` are pairs like "core.overall=overall". Raises UserError if nothing is paired, or if
        no conversation has both a score and a label.
        """
        pairs = pair_metrics(predictions, people.aspects, chosen)
        found = agreements(predictions, people, pairs, resamples=resamples, seed=seed)
        return cls(predictions, people, pairs, found)

    @property
    def aspects(self) -> Iterator[tuple[str, str, AspectAgreement]]:
        """Each subset and aspect, with what agrees with it."""
        for subset, aspects in self.found.items():
            for aspect, own in aspects.items():
                yield subset, aspect, own

    @property
    def unmatched(self) -> Iterator[str]:
        """A line for each kind of what could not be compared: conversations without a partner,
        aspects nobody predicts, and labels that do not vary.

        Only metrics that are compared count.
        """
        labels, aspects = self.people.labels, set(self.pairs.values())
        scored = {place.conversation for name in self.pairs for place in self.predictions[name]}
        labelled = {place.conversation for name in aspects for place in labels[name]}
        if alone := scored - labelled:
            yield f"{len(alone)} scored conversations have no label: {_some(alone)}"
        if alone := labelled - scored:
            yield f"{len(alone)} labelled conversations have no score: {_some(alone)}"
        if free := [name for name, own in labels.items() if own and name not in aspects]:
            yield f"aspects that no metric is compared with: {', '.join(free)}"
        for subset, aspect, _ in self.aspects:
            given = set(self.people.labels_of(aspect, subset).values())
            if len(given) == 1:
                yield f"{subset}, {aspect}: all labels are {given.pop():g}, so nothing correlates"

    def ranked(self, *, resamples: int, seed: int) -> Ranked:
        """Whether each metric puts systems in people's order.

        Raises DataError if no subset has three systems.
        """
        ranked = {
            (subset, aspect, metric): system_agreement(
                self.predictions[metric],
                self.people,
                aspect,
                subset,
                resamples=resamples,
                seed=seed,
            )
            for subset, aspect, own in self.aspects
            for metric in own.metrics
        }
        if not any(ranked.values()):
            raise DataError(
                f"a rank correlation of systems needs {FEWEST_SYSTEMS} of them: leave out --systems"
            )
        return ranked

    def table(self) -> Table:
        """A row for each metric and simple predictor; differences and ceilings are notes."""
        rows: list[dict[str, Cell]] = []
        for subset, aspect, agreement in self.aspects:
            for name, own in {**agreement.metrics, **agreement.predictors}.items():
                if name != CONSTANT:  # it never has a correlation
                    cells = coefficient_cells(own)
                    if name == SYSTEM_MEAN:  # within systems it falls as the own label rises
                        cells = {key: cell for key, cell in cells.items() if "within" not in key}
                    rows.append({"subset": subset, "aspect": aspect, "metric": name, **cells})
        read_nothing = "the last rows of an aspect read no words of the log"
        notes = [f"chance, and a constant, is 0; {read_nothing}", *self._gaps(), *self._ceilings()]
        return table_of("agreement", (*_PLACE, *COEFFICIENTS), rows, notes=notes)

    def as_json(self, ranked: Ranked) -> dict[str, JSON]:
        """By subset and aspect; a metric that is alone stands under its aspect itself."""
        shown: dict[str, dict[str, JSON]] = {}
        for subset, aspect, agreement in self.aspects:
            metrics = {name: own.as_json() for name, own in agreement.metrics.items()}
            for name, own in metrics.items():
                if (subset, aspect, name) in ranked:
                    systems = ranked[subset, aspect, name]
                    own["systems"] = systems and systems.as_json()
            first, *others = metrics.values()
            found: dict[str, JSON] = dict(metrics) if others else first
            predictors = {name: each.as_json() for name, each in agreement.predictors.items()}
            ceiling = agreement.ceiling and agreement.ceiling.as_json()
            found |= {"predictors": predictors, "ceiling": ceiling}
            if differences := self._differences(subset, aspect, agreement):
                found["differences"] = [each.as_json() for each in differences]
            shown.setdefault(subset, {})[aspect] = found
        return dict(shown)

    def _differences(
        self, subset: str, aspect: str, agreement: AspectAgreement
    ) -> tuple[MetricDifference, ...]:
        metrics = list(agreement.metrics)
        return metric_differences(self.predictions, self.people, metrics, aspect, subset)

    def _gaps(self) -> Iterator[str]:
        for place in self.aspects:
            for each in self._differences(*place):
                gap, (subset, aspect, _) = each.gap, place
                p = "" if each.williams is None else f", p = {each.williams.p:.3f} (Williams)"
                yield (
                    f"{subset}, {aspect}: r of {each.a} minus r of {each.b}: {gap.value:+.3f} "
                    f"[{gap.low:+.3f}, {gap.high:+.3f}]{p}, n = {each.n}"
                )

    def _ceilings(self) -> Iterator[str]:
        number = Column("", digits=3).text
        for subset, aspect, agreement in self.aspects:
            if (ceiling := agreement.ceiling) is not None:
                rest = number(ceiling.one_against_the_rest)
                alpha = f"people's alpha {number(ceiling.alpha)}"
                yield f"{subset}, {aspect}: {alpha}, one against the rest rho {rest}"


def ranking_table(ranked: Ranked) -> Table:
    """The coefficients of the systems' mean scores, by subset, aspect and metric."""
    rows: list[dict[str, Cell]] = [
        {"subset": names[0], "aspect": names[1], "metric": names[2], **own.cells()}
        for names, own in ranked.items()
        if own is not None
    ]
    few = dict.fromkeys(names[0] for names, own in ranked.items() if own is None)
    notes = [f"fewer than three systems, so no rank correlation: {', '.join(few)}"] if few else []
    return table_of("systems", (*_PLACE, *SystemAgreement.columns()), rows, notes=notes)


def _some(names: Iterable[str]) -> str:
    several = sorted(names)
    more = f" and {len(several) - _NAMED} more" if len(several) > _NAMED else ""
    return ", ".join(several[:_NAMED]) + more
