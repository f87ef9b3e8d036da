"""The numbers of one trial: all that tables need, so that no log has to stay in memory."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from recjury.records import PERSUASIVENESS, Factor
from recjury.report.headline import headline
from recjury.store import RECALL_AT, TrialOutcome

OVERALL = "Overall"
ROUNDS = "Rounds"


def recall(k: int) -> str:
    """The name of Recall@k over the session list."""
    return f"Recall@{k}"


def last_recall(k: int) -> str:
    """The name of Recall@k over the last turn's list."""
    return f"Recall@{k} of the last turn"


def new_recall(k: int) -> str:
    """The name of Recall@k over the scenarios whose history does not name a target already."""
    return f"Recall@{k} of new targets"


FACTORS = tuple(factor.value for factor in Factor)
COMPARED = (OVERALL, *FACTORS, PERSUASIVENESS, recall(10))
"""What systems are compared on."""


class TrialScores(NamedTuple):
    """One trial's numbers. `measures` holds None for what is not scored or not there.

    `pair` says which trials of two systems form a pair.
    """

    trial: str
    system: str
    corpus: str
    pair: str
    failed: bool
    measures: Mapping[str, float | None]
    leaks_caught: int
    leaks_through: int
    raters: frozenset[str]


def scores_of(outcome: TrialOutcome) -> TrialScores:
    """The numbers of `outcome`; of several ratings of a factor, the one tables show."""
    shown = headline(outcome.ratings)
    measures: dict[str, float | None] = dict.fromkeys((*FACTORS, PERSUASIVENESS))
    measures |= {factor: rating.score for factor, rating in shown.items()}
    measures[OVERALL] = outcome.overall
    measures[ROUNDS] = outcome.rounds if outcome.log else None
    for k in RECALL_AT:
        measures[recall(k)] = outcome.recall.get(k)
        measures[last_recall(k)] = outcome.last_turn_recall.get(k)
        measures[new_recall(k)] = None if outcome.target_seen else outcome.recall.get(k)
    return TrialScores(
        trial=outcome.trial,
        system=outcome.system,
        corpus=outcome.corpus,
        pair=outcome.pair or outcome.scenario,
        failed=bool(outcome.failures),
        measures=measures,
        leaks_caught=outcome.leaks_caught,
        leaks_through=outcome.leaks_through,
        raters=frozenset(rating.evaluator for rating in shown.values()) | outcome.debaters,
    )


def scored(scores: TrialScores, names: tuple[str, ...]) -> Iterator[tuple[str, float]]:
    """The measures among `names` that have a score."""
    for name in names:
        value = scores.measures.get(name)
        if value is not None:
            yield name, value
