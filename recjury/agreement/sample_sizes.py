"""How few conversations rank systems as all do (FACE, figure 4)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from recjury.agreement.label_sets import LabelSet
from recjury.agreement.pairs import Pairs
from recjury.agreement.scored_run import ScoredRun, by_conversation
from recjury.agreement.system_ranking import Sampled, sample_efficiency
from recjury.errors import DataError
from recjury.records import JSON

SIZES = (1, 2, 3, 5, 8, 10, 15, 20, 30, 40)
FEWEST = 3
"""Fewer systems have no rank correlation worth the name."""


class SampleCurve(NamedTuple):
    """How good rankings from few conversations are, for one metric.

    They are compared with the ranking of the systems by all labels of people, or, if
    `by_people` is False, by all of the metric's own scores; `Sampled.people` then repeats
    `Sampled.evaluator`. `smallest` is the number of conversations of the smallest system.
    """

    by_people: bool
    systems: int
    smallest: int
    sizes: tuple[Sampled, ...]

    def as_json(self) -> dict[str, JSON]:
        """The correlations by size; people's are there if the ranking is theirs."""
        names = ("mean", "low", "high")
        return {
            "ranking_by": "people" if self.by_people else "all scores",
            "systems": self.systems,
            "smallest_system": self.smallest,
            "sizes": [
                {
                    "size": each.size,
                    "evaluator": dict(zip(names, each.evaluator, strict=True)),
                    **(
                        {"people": dict(zip(names, each.people, strict=True))}
                        if self.by_people
                        else {}
                    ),
                }
                for each in self.sizes
            ],
        }


def sample_curves(
    run: ScoredRun,
    people: LabelSet | None = None,
    pairs: Mapping[str, str] | None = None,
    *,
    sizes: Sequence[int] = SIZES,
    draws: int = 1_000,
    seed: int = 0,
) -> dict[str, SampleCurve]:
    """By metric; `pairs` gives the aspect of people's labels that rank the systems.

    Conversations of each system are drawn on their own, without replacement. Scores and labels of
    turns are averaged within each conversation; only conversations that have both count. Sizes
    beyond the smallest system are left out, and metrics that fewer than three systems have. Raises
    DataError if no metric is left.
    """
    found: dict[str, SampleCurve] = {}
    too_few: list[str] = []
    for metric in run.scores:
        scores = by_conversation(run.oriented(metric))
        aspect = (pairs or {}).get(metric)
        by_people = people is not None and aspect is not None
        labels = scores
        if people is not None and aspect is not None:
            labels = by_conversation(people.labels[aspect])
        both = [name for name in scores if name in labels]
        systems = [run.systems[name] for name in both]
        if len(set(systems)) < FEWEST:
            too_few.append(
                f"{metric}: {len(set(systems))} systems have scores{' and labels' * by_people}, "
                f"and a rank correlation needs {FEWEST}"
            )
            continue
        columns = Pairs(
            np.array([scores[name] for name in both]),
            np.array([labels[name] for name in both]),
            np.array(systems),
            np.array(both),
        )
        found[metric] = SampleCurve(
            by_people,
            len(set(systems)),
            min(systems.count(name) for name in set(systems)),
            sample_efficiency(columns, sorted(set(sizes)), draws=draws, seed=seed),
        )
    if too_few and not found:
        raise DataError(too_few[0])
    return found
