"""FACE's table 2: whether the systems' mean scores are in the order of people's labels."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

from recjury.corpora.crsarena import SUBSETS, CrsArena, subset_of, system_of
from recjury.papers.face.face_scores import Scores, SystemsAnalysis, face_scores
from recjury.papers.face.system_means import RankedMeans, SystemMeans, distinct
from recjury.papers.published import in_one_cell, published
from recjury.records import Aspect, Level
from recjury.tables import AnalysisInput, Cell, Column, Findings, table_of

_ALL = "all"
_GRAMS = (3, 4)
_MEANS: Mapping[str, tuple[Aspect, ...]] = {
    "mean of turn aspects": tuple(each for each in Aspect if each.level is Level.TURN),
    "mean of dialogue aspects": tuple(each for each in Aspect if each.level is Level.DIALOGUE),
    "mean of all aspects": tuple(Aspect),
}
_COLUMNS = (
    Column("method"),
    Column("subset"),
    Column("aspect"),
    Column("pearson", "r", 3),
    Column("spearman", "rho", 3),
    Column("systems"),
    Column("published", "published: r; rho"),
)


class FaceTable2(SystemsAnalysis):
    """Systems ranked by FACE and by people: correlations of their mean scores and labels.

    By subset, and over the systems of both; intervals are over conversations, which are drawn
    within each system. Distinct-3 and -4 are those of the labelled conversations, the same in all
    draws; the paper took them, and Recall, from another study. Recall is as published.
    """

    source: ClassVar[str] = "FACE, table 2"

    async def run(self, given: AnalysisInput) -> Findings:
        """A row for each method and mean of aspects, and for each aspect of FACE."""
        found = face_scores(given, self.runs)
        rows: list[dict[str, Cell]] = []
        for subset in (_ALL, *SUBSETS):
            ranked = _Ranked.of(found.people, subset, self.resamples, self.seed)
            for n in _GRAMS:
                rows += ranked.rows(f"Distinct-{n}", ranked.distinct(n))
            for name, scores in found.others.items():
                rows += ranked.rows(name, ranked.by_aspect(scores))
            aspects = {str(aspect): (aspect,) for aspect in Aspect}
            rows += ranked.rows("FACE", ranked.by_aspect(found.scores), aspects)
        return Findings(tables=(table_of("table2", _COLUMNS, [*_only_published(rows), *rows]),))


class _Ranked(NamedTuple):
    """What people and methods say of the systems of a subset."""

    people: CrsArena
    subset: str
    means: SystemMeans

    @classmethod
    def of(cls, people: CrsArena, subset: str, resamples: int, seed: int) -> "_Ranked":
        systems = {
            name: system_of(name) for name in people.logs if subset in (_ALL, subset_of(name))
        }
        return cls(people, subset, SystemMeans.drawn(systems, resamples=resamples, seed=seed))

    def by_aspect(self, scores: Scores) -> dict[Aspect, RankedMeans]:
        """The systems' mean scores and labels on each aspect, over places that have both."""
        found = {}
        for aspect, own in scores.items():
            labels = self.people.labels[aspect]
            both = [place for place in labels if place in own and self.means.has(place)]
            if both:
                found[aspect] = RankedMeans(
                    *(
                        self.means.of({place: each[place] for place in both})
                        for each in (own, labels)
                    )
                )
        return found

    def distinct(self, n: int) -> dict[Aspect, RankedMeans]:
        """The systems' distinct n-grams, beside their mean labels on each aspect."""
        scores = self.means.by_system(self.people.logs, lambda logs: distinct(logs, n))
        return {
            aspect: RankedMeans(scores, own.labels)
            for aspect, own in self.by_aspect({a: self.people.labels[a] for a in Aspect}).items()
        }

    def rows(
        self,
        method: str,
        found: Mapping[Aspect, RankedMeans],
        aspects: Mapping[str, Sequence[Aspect]] = {},
    ) -> list[dict[str, Cell]]:
        """The rows of a method; the published figures are over all systems."""
        theirs = published("face")["table2"].get(method, {}) if self.subset == _ALL else {}
        rows: list[dict[str, Cell]] = []
        for name, some in {**aspects, **_MEANS}.items():
            own = self.means.correlation([found[each] for each in some if each in found])
            if own is not None:
                names = {"method": method, "subset": self.subset, "aspect": name}
                rows.append({**names, **own._asdict(), "published": in_one_cell(theirs.get(name))})
        return rows


def _only_published(computed: Sequence[Mapping[str, Cell]]) -> list[dict[str, Cell]]:
    """The rows of the paper that are not computed here."""
    known = {row["method"] for row in computed}
    return [
        {"method": method, "subset": _ALL, "aspect": name, "published": in_one_cell(pair)}
        for method, means in published("face")["table2"].items()
        if method not in known
        for name, pair in means.items()
    ]
