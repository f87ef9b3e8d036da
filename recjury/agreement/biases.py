"""Length bias and self-bias of an evaluator (FACE, appendix D)."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from recjury.agreement.system_ranking import system_means
from recjury.records import ConversationLog, ScoreTarget
from recjury.stats.correlation import Correlation, correlate


class LengthBias(NamedTuple):
    """Correlations over systems of mean conversation length in words with mean scores, and labels.

    An evaluator that prefers length more than people do has the higher correlation with scores.
    """

    evaluator: Correlation
    people: Correlation
    words: Mapping[str, float]


class Preference(NamedTuple):
    """A person's response against a system's, by evaluator and people: the difference in score.

    A positive difference prefers the person's response. Equal scores prefer neither.
    """

    evaluator: float
    people: float


class SelfBias(NamedTuple):
    """How often the evaluator agrees with people, by what people prefer; None without such pairs.

    An evaluator with self-bias agrees more often where people prefer the system's response.
    """

    people_prefer_person: float | None
    people_prefer_system: float | None
    n_person: int
    n_system: int


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


def self_bias(pairs: Iterable[Preference]) -> SelfBias:
    """Agreement with people if they prefer the person's response, and if they prefer the system's.

    Pairs with equal labels are left out. An evaluator that prefers neither response disagrees.
    """
    person: list[bool] = []
    system: list[bool] = []
    for evaluator, people in pairs:
        if people > 0:
            person.append(evaluator > 0)
        elif people < 0:
            system.append(evaluator < 0)
    return SelfBias(_share(person), _share(system), len(person), len(system))


def _share(agreed: list[bool]) -> float | None:
    return sum(agreed) / len(agreed) if agreed else None
