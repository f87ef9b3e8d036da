"""CoRE's first question: how far factors move together."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import ClassVar, NamedTuple

import numpy as np
from pydantic import Field

from recjury.agreement.label_forms import read_labels
from recjury.agreement.label_sets import LabelSet
from recjury.agreement.scored_run import by_conversation
from recjury.errors import ConfigError
from recjury.papers.core.core_analysis import CoreAnalysis
from recjury.papers.core.factor_scores import OVERALL, FactorScores
from recjury.papers.published import published
from recjury.stats.coupling import Coupling, coupling
from recjury.tables import AnalysisInput, Cell, Column, Findings, Input, Table, table_of

_COLUMNS = (
    Column("who"),
    Column("mean", "mean r"),
    Column("below_0.2", "pairs under .2"),
    Column("at_least_0.5", "pairs of at least .5"),
    Column("pairs"),
    Column("halo", "general impression", 0, "%"),
    Column("n"),
)


class NamedCoupling(NamedTuple):
    """A coupling, and the names of its columns."""

    names: tuple[str, ...]
    coupling: Coupling


class Rq1(CoreAnalysis):
    """How far factors move together, for each judge and for people.

    The mean of Pearson's r over all pairs of factors, how many pairs are low and high, and the
    share of their variance that one general impression explains. The paper's figures are below,
    and in `pairs` for each pair that it names. The figure has the matrices. People's labels may be
    of any conversations; with `people_only`, no campaign is read.
    """

    source: ClassVar[str] = "CoRE, section 5, RQ1, and 7.1.1, figure 6"
    needs: ClassVar[tuple[Input, ...]] = ()
    takes: ClassVar[tuple[Input, ...]] = (Input.CAMPAIGN, Input.LABELS)

    people_only: bool = Field(False, description="only how people's labels move together")

    async def run(self, given: AnalysisInput) -> Findings:
        """A row for each judge, for people and for the paper; and all correlations."""
        from recjury.agreement.matrix_plot import matrix_plot

        if self.people_only and given.labels is None:
            raise ConfigError("people_only needs --labels")
        coupled: dict[str, NamedCoupling | None] = {}
        notes: tuple[str, ...] = ()
        if given.labels is not None:
            people = read_labels(given.labels)
            coupled |= {name: self._couple(own, people.clusters) for name, own in _people(people)}
        if not self.people_only:
            judged = self.judged(given)
            notes = self.too_few(judged.records)
            coupled |= {
                judge: self._couple(scores, judged.records)
                for judge, scores in judged.judges.items()
            }
        known = {name: each for name, each in coupled.items() if each is not None}
        pairs = [row for name, each in known.items() for row in _pairs(name, each)]
        columns = (Column("who"), Column("first"), Column("second"), Column("r", digits=3))
        rows = [*(_row(name, each.coupling) for name, each in known.items()), *_published()]
        return Findings(
            tables=(
                table_of("coupling", _COLUMNS, rows),
                _named_pairs(known),
                table_of("correlations", columns, pairs, detail=True),
            ),
            figures={
                "figure6": matrix_plot(
                    {name: (e.names, e.coupling.matrix) for name, e in known.items()}
                )
            },
            notes=notes,
        )

    def _couple(self, scores: FactorScores, clusters: Mapping[str, str]) -> NamedCoupling | None:
        return couple(scores, clusters, resamples=self.resamples, seed=self.seed)


def couple(
    scores: FactorScores, clusters: Mapping[str, str], *, resamples: int = 1_000, seed: int = 0
) -> NamedCoupling | None:
    """How factors or aspects move together; turns count by their conversation's mean.

    None if fewer than two have scores.
    """
    means = {name: by_conversation(own) for name, own in scores.items() if own}
    names = tuple(means)
    places = sorted({place for own in means.values() for place in own})
    if len(names) < 2:
        return None
    columns = np.array([[means[name].get(place, np.nan) for name in names] for place in places])
    groups = [clusters.get(place.conversation, place.conversation) for place in places]
    return NamedCoupling(names, coupling(columns, groups, resamples=resamples, seed=seed))


def _people(people: LabelSet) -> Iterator[tuple[str, FactorScores]]:
    """All labels but the overall score, which is no factor; then those of each subset."""
    factors = {name: own for name, own in people.labels.items() if name != OVERALL}
    yield "people", factors
    subsets = dict.fromkeys(people.subsets.values())
    for subset in subsets if len(subsets) > 1 else ():
        yield f"people, {subset}", {name: people.labels_of(name, subset) for name in factors}


def _row(name: str, found: Coupling) -> dict[str, Cell]:
    return {
        "who": name,
        "mean": found.mean,
        "below_0.2": found.low,
        "at_least_0.5": found.high,
        "pairs": found.pairs,
        "halo": found.halo,
        "n": found.n,
    }


def _pairs(name: str, found: NamedCoupling) -> Iterator[dict[str, Cell]]:
    for (i, first), (j, second) in combinations(enumerate(found.names), 2):
        r = float(found.coupling.matrix[i, j])
        yield {"who": name, "first": first, "second": second, "r": None if np.isnan(r) else r}


def _named_pairs(found: Mapping[str, NamedCoupling]) -> Table:
    """The pairs that section 7.1.1 names: r of each judge and of people, and the paper's."""
    paper = published("core")["coupling"]
    theirs = {f"paper, {who}": own["pairs"] for who, own in paper.items() if isinstance(own, dict)}
    rows: list[dict[str, Cell]] = []
    for pair in dict.fromkeys(pair for own in theirs.values() for pair in own):
        row: dict[str, Cell] = {"pair": pair, **{who: own.get(pair) for who, own in theirs.items()}}
        for who, each in found.items():
            wanted = {*pair.split(", ")}
            row[who] = next(
                (r["r"] for r in _pairs(who, each) if {r["first"], r["second"]} == wanted), None
            )
        rows.append(row)
    names = [*found, *(who for who, own in theirs.items() if own)]
    return table_of("pairs", [Column("pair"), *(Column(name, name) for name in names)], rows)


def _published() -> Iterator[dict[str, Cell]]:
    paper = published("core")["coupling"]
    for name, own in paper.items():
        if isinstance(own, dict):
            row = {key: own.get(key) for key in ("mean", "below_0.2", "at_least_0.5")}
            yield {"who": f"{name} (paper)", **row, "pairs": paper["pairs"], "n": 80}
