"""FACE's appendix D.1: whether the systems that say more get higher scores."""

from typing import ClassVar

from recjury.corpora.crsarena import system_of
from recjury.papers.face.face_scores import SystemsAnalysis, face_scores
from recjury.papers.face.system_means import RankedMeans, SystemMeans
from recjury.papers.published import published
from recjury.records import Aspect, ScoreTarget
from recjury.tables import AnalysisInput, Cell, Column, Findings, table_of

_COLUMNS = (
    Column("who"),
    Column("pearson", "r", 3),
    Column("spearman", "rho", 3),
    Column("systems"),
    Column("published", "published r", 3),
)


class FaceLength(SystemsAnalysis):
    """How far the systems' mean overall scores, and labels, follow the length of conversations.

    Words are separated by white space; both sides count. `judge.length` asks the same within and
    between the systems of any run, of the system's words.
    """

    source: ClassVar[str] = "FACE, appendix D.1"

    async def run(self, given: AnalysisInput) -> Findings:
        """A row for FACE, people, and the other evaluators of the store."""
        found = face_scores(given, self.runs)
        systems = {name: system_of(name) for name in found.people.logs}
        means = SystemMeans.drawn(systems, resamples=self.resamples, seed=self.seed)
        words = means.of(
            {
                ScoreTarget(name): sum(len(turn.text.split()) for turn in log.interaction)
                for name, log in found.people.logs.items()
            }
        )
        everyone = {
            "FACE": found.scores.get(Aspect.DIALOGUE_OVERALL, {}),
            "people": found.people.labels[Aspect.DIALOGUE_OVERALL],
            **{name: own.get(Aspect.DIALOGUE_OVERALL, {}) for name, own in found.others.items()},
        }
        theirs = published("face")["length"]
        rows: list[dict[str, Cell]] = []
        for who, values in everyone.items():
            own = {place: value for place, value in values.items() if means.has(place)}
            ranked = means.correlation([RankedMeans(words, means.of(own))] if own else [])
            if ranked is not None:
                rows.append({"who": who, **ranked._asdict(), "published": theirs.get(who)})
        return Findings(tables=(table_of("length", _COLUMNS, rows),))
