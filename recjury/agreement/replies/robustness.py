"""Whether scorers prefer a reply to worse versions of it (Park et al. 2024, table 7)."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from recjury.agreement.replies.registry import ScorerContext, ScorerEntry
from recjury.agreement.replies.scoring import ScoringStep, Watch, margins
from recjury.corpora.dialogues import RobustnessPair
from recjury.judges.surface import words

SHORTER = "shorter is better"


class AttackAccuracy(NamedTuple):
    """How often the original wins, 0 to 1, over `n` pairs; ties and the `unscored` do not win."""

    accuracy: float
    n: int
    ties: int
    unscored: int


class RobustnessTable(NamedTuple):
    """Accuracies by scorer and attack; `dropped` counts pairs of two equal replies by attack.

    Every scorer has its mean over the attacks in `means`.
    """

    scorers: Mapping[str, Mapping[str, AttackAccuracy]]
    means: Mapping[str, float]
    dropped: Mapping[str, int]


async def robustness_table(
    entries: Sequence[ScorerEntry],
    context: ScorerContext,
    pairs: Sequence[RobustnessPair],
    watch: Watch = lambda _: None,
) -> RobustnessTable:
    """The accuracy of each scorer that needs no reference, and of "the shorter one is better"."""
    kept = different(pairs)
    usable = [entry for entry in entries if not entry.by_reference]
    table: dict[str, Mapping[str, AttackAccuracy]] = {
        SHORTER: attack_accuracies(kept, [_shorter(pair) for pair in kept])
    }
    for number, entry in enumerate(usable):
        watch(ScoringStep(entry.name, "robustness pairs", number, len(usable)))
        table[entry.name] = attack_accuracies(kept, await margins(entry.make(context), kept))
    return RobustnessTable(
        table,
        {name: fmean(each.accuracy for each in own.values()) for name, own in table.items() if own},
        Counter(pair.attack for pair in pairs if is_same(pair)),
    )


def attack_accuracies(
    pairs: Sequence[RobustnessPair], margins_: Sequence[float | None]
) -> dict[str, AttackAccuracy]:
    """By attack: how often the margin of the original is above 0."""
    by_attack: dict[str, list[float | None]] = {}
    for pair, margin in zip(pairs, margins_, strict=True):
        by_attack.setdefault(pair.attack, []).append(margin)
    return {attack: _accuracy(own) for attack, own in by_attack.items()}


def different(pairs: Sequence[RobustnessPair]) -> tuple[RobustnessPair, ...]:
    """The pairs whose two versions differ."""
    return tuple(pair for pair in pairs if not is_same(pair))


def drawn(pairs: Sequence[RobustnessPair], most: int, seed: int) -> tuple[RobustnessPair, ...]:
    """At most `most` pairs of each attack that differ, drawn with the seed, and all that do not."""
    by_attack: dict[str, list[RobustnessPair]] = {}
    for pair in different(pairs):
        by_attack.setdefault(pair.attack, []).append(pair)
    lot = random.Random(seed)
    kept = {id(pair) for own in by_attack.values() for pair in lot.sample(own, min(most, len(own)))}
    return tuple(pair for pair in pairs if id(pair) in kept or is_same(pair))


def is_same(pair: RobustnessPair) -> bool:
    """Whether nothing was made worse."""
    return pair.original == pair.worse and pair.history == pair.worse_history


def _shorter(pair: RobustnessPair) -> float:
    return float(len(words(pair.worse)) - len(words(pair.original)))


def _accuracy(found: Sequence[float | None]) -> AttackAccuracy:
    known = [margin for margin in found if margin is not None]
    won = sum(margin > 0 for margin in known)
    return AttackAccuracy(
        won / len(found), len(found), sum(margin == 0 for margin in known), found.count(None)
    )
