"""Instructions held against labels: the scores of particles, and how far they go with people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import NamedTuple

from scipy import stats

from recjury.errors import CallFailed
from recjury.judges import Criterion, Face
from recjury.llm import Ask, gather
from recjury.papers.optimise.examples import Piece, Place
from recjury.records import Status

_FEWEST = 0.5  # of the places; over fewer, a correlation is of what was easy to score


class Measurement(NamedTuple):
    """The correlation with labels (None: undefined), and each place's score (None: it has none)."""

    correlation: float | None
    scores: tuple[float | None, ...]


@dataclass
class Scorer:
    """Scores particles of one aspect; each particle once under each instruction."""

    face: Face
    criterion: Criterion
    ask: Ask
    correlation: str
    _known: dict[tuple[str, str], float | None] = field(default_factory=dict)

    async def score(self, instruction: str, piece: Piece) -> float | None:
        """E(I, p) of equation 1, or None if no reply can be read. Raises CallFailed and Stop."""
        key = (instruction, piece.name)
        if key not in self._known:
            said = await self.face.score(
                self.criterion, piece.turn, piece.particle, instruction, self.ask
            )
            if said.status is Status.CALL_FAILED:
                raise CallFailed(said.reason)
            self._known[key] = said.value.score if said.value else None
        return self._known[key]

    async def scores(self, instruction: str, pieces: Sequence[Piece]) -> list[float | None]:
        """The scores of some particles."""
        return await gather(self.score(instruction, piece) for piece in pieces)

    async def reward(self, instruction: str, pieces: Sequence[Piece]) -> float | None:
        """The correlation over single particles with the labels of their places (algorithm 2)."""
        found = await self.scores(instruction, pieces)
        return self.correlated(found, [piece.label for piece in pieces])

    async def measured(self, instruction: str, places: Sequence[Place]) -> Measurement:
        """The correlation of the places' mean scores, over those that have one."""
        every = await gather(self.scores(instruction, place.pieces) for place in places)
        return self.of([mean(scores) for scores in every], places)

    def of(self, scores: Sequence[float | None], places: Sequence[Place]) -> Measurement:
        """The correlation of scores; undefined if fewer than half of the places have one."""
        known = sum(score is not None for score in scores)
        found = self.correlated(scores, [place.label for place in places])
        return Measurement(found if known >= _FEWEST * len(places) else None, tuple(scores))

    def correlated(self, scores: Sequence[float | None], labels: Sequence[float]) -> float | None:
        """Spearman's rho or Pearson's r; None if scores or labels do not vary."""
        pairs = [(s, label) for s, label in zip(scores, labels, strict=True) if s is not None]
        if any(len(set(side)) < 2 for side in ((p[0] for p in pairs), (p[1] for p in pairs))):
            return None
        x, y = zip(*pairs, strict=True)
        rank = self.correlation == "spearman"
        found = stats.spearmanr(x, y) if rank else stats.pearsonr(x, y)
        return round(float(found.statistic), 9)


def mean(scores: Sequence[float | None]) -> float | None:
    """The mean of those that are known; rounded, so that equal means are equal."""
    known = [score for score in scores if score is not None]
    return round(fmean(known), 9) if known else None


def best(measured: Mapping[str, Measurement], number: int) -> list[str]:
    """The names with the highest correlations; undefined ones last, ties in their order."""

    def key(name: str) -> tuple[bool, float]:
        value = measured[name].correlation
        return value is None, -(value or 0.0)

    return sorted(measured, key=key)[:number]
