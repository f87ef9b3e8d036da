"""A ranking of systems from comparisons of two (Bradley and Terry, 1952), by `evalica`.

A system's strength is the logarithm of its Bradley-Terry score: the difference of two strengths is
the log-odds that the first system wins. Each pair of systems begins with half a comparison, won by
both alike, so that a system which never lost has a finite strength.
"""

import hashlib
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

PRIOR = 0.5
"""The comparisons that each pair of systems begins with; both win half of them."""

_RESAMPLES = 1_000
_APART = 1.96  # standard errors between neighbours
_ROUNDS, _TOLERANCE = 100_000, 1e-10

_Floats = NDArray[np.float64]


class Match(NamedTuple):
    """A comparison of two systems: the probability (0 to 1) that `one` is better.

    Matches of one `block` are not independent, such as those of one scenario.
    """

    one: str
    other: str
    score: float
    block: str


class Standing(NamedTuple):
    """A system in the ranking, with the 95 % interval of its strength (mean 0 over systems).

    `wins` is the mean probability that it beats another system, by strength; `matches` is their
    number. `above_next` is the share of resamples in which it is above the next system (None for
    the last one).
    """

    system: str
    strength: float
    low: float | None
    high: float | None
    wins: float
    matches: int
    above_next: float | None


def strengths(systems: Sequence[str], matches: Sequence[Match]) -> _Floats:
    """The strength of each system [k]; their mean is 0."""
    return _fitted(_won(systems, matches))


def standings(
    systems: Sequence[str],
    matches: Sequence[Match],
    *,
    resamples: int = _RESAMPLES,
    seed: int = 0,
) -> tuple[Standing, ...]:
    """The ranking, the best first; intervals by a bootstrap of blocks, None for fewer than two."""
    found = strengths(systems, matches)
    order = sorted(range(len(systems)), key=lambda place: (-found[place], systems[place]))
    drawn = _resampled(systems, matches, resamples, seed)
    played = {name: sum(name in (m.one, m.other) for m in matches) for name in systems}
    standing = []
    for rank, place in enumerate(order):
        low, high = (None, None) if drawn is None else np.quantile(drawn[:, place], (0.025, 0.975))
        following = order[rank + 1] if rank + 1 < len(order) else None
        above = (
            None
            if drawn is None or following is None
            else float((drawn[:, place] > drawn[:, following]).mean())
        )
        others = np.delete(found, place)
        standing.append(
            Standing(
                systems[place],
                float(found[place]),
                None if low is None else float(low),
                None if high is None else float(high),
                float(_wins(found[place] - others).mean()) if others.size else 0.5,
                played[systems[place]],
                above,
            )
        )
    return tuple(standing)


class Uncertainty:
    """How much is known of each difference of two strengths, and what more would teach.

    A comparison of two systems whose chances are p and 1 - p adds p (1 - p) to the Fisher
    information of their difference. The gain of one more is the logarithm of the factor by which
    the volume of the confidence ellipsoid shrinks (D-optimality): it is large for pairs of which
    little is known and whose outcome is open. It does not depend on the outcome, so several
    comparisons can be planned at once.
    """

    def __init__(self, systems: Sequence[str], matches: Sequence[Match]):
        """Fit the strengths, and add up the information of the matches."""
        self._place = {name: number for number, name in enumerate(systems)}
        self.strength = strengths(systems, matches)
        size = len(systems)
        # The mean of the strengths is fixed: information about it keeps the matrix invertible.
        self._information = np.full((size, size), 1.0 / size)
        for one, other in combinations(systems, 2):
            self._add(one, other, PRIOR)
        for match in matches:
            self._add(match.one, match.other, 1.0)
        self._covariance = np.linalg.inv(self._information)

    def add(self, one: str, other: str) -> None:
        """Count one more comparison of the two, whatever its outcome."""
        self._add(one, other, 1.0)
        self._covariance = np.linalg.inv(self._information)

    def gain(self, one: str, other: str) -> float:
        """What one more comparison of the two would teach."""
        return float(np.log1p(self._open(one, other) * self.variance(one, other)))

    def variance(self, one: str, other: str) -> float:
        """The variance of the difference of the two strengths."""
        a, b = self._place[one], self._place[other]
        c = self._covariance
        return float(c[a, a] + c[b, b] - 2 * c[a, b])

    def are_apart(self) -> bool:
        """Whether all neighbours in the ranking are 1.96 standard errors apart."""
        order = sorted(self._place, key=lambda name: -self.strength[self._place[name]])
        return all(
            self._gap(one, other) >= _APART * np.sqrt(self.variance(one, other))
            for one, other in pairwise(order)
        )

    def _gap(self, one: str, other: str) -> float:
        return float(self.strength[self._place[one]] - self.strength[self._place[other]])

    def _open(self, one: str, other: str) -> float:
        chance = float(_wins(np.array(self._gap(one, other))))
        return chance * (1 - chance)

    def _add(self, one: str, other: str, weight: float) -> None:
        a, b = self._place[one], self._place[other]
        row = np.zeros(len(self._place))
        row[a], row[b] = 1.0, -1.0
        self._information += weight * self._open(one, other) * np.outer(row, row)


def lot(seed: int, *names: object) -> str:
    """A place in a random order that is the same on every machine."""
    return hashlib.sha256(repr((seed, *names)).encode()).hexdigest()


def _won(systems: Sequence[str], matches: Sequence[Match]) -> _Floats:
    """How often each system won against each other one, [k, k]."""
    place = {name: number for number, name in enumerate(systems)}
    won = np.zeros((len(systems), len(systems)))
    for match in matches:
        won[place[match.one], place[match.other]] += match.score
        won[place[match.other], place[match.one]] += 1 - match.score
    return won


def _fitted(won: _Floats) -> _Floats:
    from evalica import Winner, bradley_terry

    size = len(won)
    if size < 2:
        return np.zeros(size)
    given = won + PRIOR / 2 * (1 - np.eye(size))
    pairs = [(a, b) for a in range(size) for b in range(size) if a != b]
    result = bradley_terry(
        [a for a, _ in pairs],
        [b for _, b in pairs],
        [Winner.X] * len(pairs),
        weights=[float(given[a, b]) for a, b in pairs],
        limit=_ROUNDS,
        tolerance=_TOLERANCE,
    )
    scores: Mapping[int, float] = result.scores.to_dict()
    logs = np.log([scores[number] for number in range(size)])
    return np.asarray(logs - logs.mean(), dtype=float)


def _resampled(
    systems: Sequence[str], matches: Sequence[Match], resamples: int, seed: int
) -> _Floats | None:
    """Strengths of resampled blocks, [resamples, k]; None for fewer than two blocks."""
    blocks: dict[str, list[Match]] = {}
    for match in matches:
        blocks.setdefault(match.block, []).append(match)
    if len(blocks) < 2:
        return None
    won = np.stack([_won(systems, own) for own in blocks.values()])
    counts = np.random.default_rng(seed).multinomial(
        len(blocks), np.full(len(blocks), 1 / len(blocks)), size=resamples
    )
    return np.stack([_fitted(np.tensordot(row, won, 1)) for row in counts])


def _wins(gap: _Floats) -> _Floats:
    return np.asarray(1 / (1 + np.exp(-gap)), dtype=float)
