"""Plurality vote among several decompositions of one turn.

The first vote is about the segmentation, a list of words: the one that most samples have wins.
Among equals, the one that shares most words with the others wins, then the first. Then, for each
particle, act and feedback are decided by the samples that have a particle with these words; among
equals, the winner's own are used.
"""

import re
from collections import Counter
from collections.abc import Sequence

from recjury.records import DialogueAct, Particle

_MARKS = re.compile(r"[\W_]+")

Sample = Sequence[Particle]


def vote(samples: Sequence[Sample]) -> tuple[Particle, ...]:
    """The particles that the samples agree on most; `samples` must not be empty."""
    cuts = [tuple(folded(particle.mention) for particle in sample) for sample in samples]
    counts = Counter(cuts)
    shared = [_shared(number, cuts) for number in range(len(cuts))]
    best = max(range(len(cuts)), key=lambda n: (counts[cuts[n]], shared[n], -n))
    winner = samples[best]
    return tuple(
        _agreed(particle, cuts[best][:number].count(cuts[best][number]), samples)
        for number, particle in enumerate(winner)
    )


def folded(text: str) -> str:
    """Text without case and punctuation: two mentions with the same folded text are equal."""
    return _MARKS.sub(" ", text.casefold()).strip()


def _shared(number: int, cuts: Sequence[tuple[str, ...]]) -> float:
    """The mean overlap (Dice) of its words with each other sample's, 0 to 1."""
    own = Counter(cuts[number])
    overlaps = []
    for other in (*cuts[:number], *cuts[number + 1 :]):
        size = len(cuts[number]) + len(other)
        overlaps.append(2 * (own & Counter(other)).total() / size if size else 1.0)
    return sum(overlaps) / len(overlaps) if overlaps else 1.0


def _agreed(particle: Particle, earlier: int, samples: Sequence[Sample]) -> Particle:
    """The agreed particle; `earlier` particles of the same words are before this one in its
    turn."""
    words = folded(particle.mention)
    acts: Counter[DialogueAct] = Counter()
    feedbacks: Counter[str | None] = Counter()
    said: dict[str | None, str | None] = {_heard(particle.feedback): particle.feedback}
    for sample in samples:
        alike = [other for other in sample if folded(other.mention) == words]
        if len(alike) > earlier:
            same = alike[earlier]
            acts[same.act] += 1
            feedbacks[_heard(same.feedback)] += 1
            said.setdefault(_heard(same.feedback), same.feedback)
    act = max(acts, key=lambda a: (acts[a], a is particle.act))
    heard = max(feedbacks, key=lambda f: (feedbacks[f], f == _heard(particle.feedback)))
    return Particle(act=act, mention=particle.mention, feedback=said[heard])


def _heard(feedback: str | None) -> str | None:
    return None if feedback is None else folded(feedback)
