"""How many of the expected results of FACE a store has."""

from collections.abc import Iterable
from typing import NamedTuple

from recjury.papers.face.stored_scores import Scored
from recjury.records import Aspect


class AspectCoverage(NamedTuple):
    """How many of the expected results exist. Places are turns or dialogues."""

    places: int
    scored_places: int
    particles: int
    scored_particles: int
    samples: int
    read_samples: int


def coverage_of(scored: Iterable[Scored]) -> dict[Aspect, AspectCoverage]:
    """How many of the expected results exist, for each rated aspect."""
    totals: dict[Aspect, list[int]] = {}
    for each in scored:
        for rating in each.ratings:
            if rating.factor in set(Aspect):
                counts = totals.setdefault(Aspect(rating.factor), [0] * 6)
                counts[0] += 1
                counts[1] += rating.score is not None
        for aspect, scores in each.face.scores.items():
            counts = totals.setdefault(aspect, [0] * 6)
            for score in scores:
                counts[2] += 1
                counts[3] += score.score is not None
                counts[4] += sum(max(1, len(by.samples)) for by in score.by)
                counts[5] += sum(
                    len(by.samples) - by.samples.count(None)
                    if by.samples
                    else by.expectation is not None
                    for by in score.by
                )
    return {aspect: AspectCoverage(*totals[aspect]) for aspect in Aspect if aspect in totals}
