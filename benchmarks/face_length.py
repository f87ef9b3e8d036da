"""Length bias of an evaluator over systems (FACE, appendix D.1)."""

from collections.abc import Mapping
from typing import NamedTuple

from recjury.corpora.crsarena import system_of
from recjury.records import ConversationLog, ScoreTarget
from recjury.stats.correlation import Correlation, correlate


class LengthBias(NamedTuple):
    """Correlations over systems of mean conversation length in words with mean scores, and labels.

    An evaluator that prefers length more than people do has the higher correlation with scores.
    """

    evaluator: Correlation
    people: Correlation
    words: Mapping[str, float]


def length_bias(
    logs: Mapping[str, ConversationLog],
    scores: Mapping[ScoreTarget, float],
    labels: Mapping[ScoreTarget, int],
) -> LengthBias:
    """Correlate the systems' mean lengths with their mean scores and labels of dialogues.

    Words are separated by white space; the turns of both sides count.
    """
    words = system_means(
        {
            ScoreTarget(name): float(sum(len(turn.text.split()) for turn in log.interaction))
            for name, log in logs.items()
        }
    )
    scored, labelled = system_means(scores), system_means(labels)
    systems = [system for system in words if system in scored and system in labelled]
    lengths = [words[system] for system in systems]
    return LengthBias(
        correlate(lengths, [scored[system] for system in systems]),
        correlate(lengths, [labelled[system] for system in systems]),
        words,
    )


def system_means(values: Mapping[ScoreTarget, float]) -> dict[str, float]:
    """Each system's mean over all its places, by name in alphabetical order."""
    grouped: dict[str, list[float]] = {}
    for place, value in values.items():
        grouped.setdefault(system_of(place.conversation), []).append(value)
    return {system: sum(grouped[system]) / len(grouped[system]) for system in sorted(grouped)}
