"""A campaign of judges without habits: its scores and its texts are drawn by a seed alone."""

from collections.abc import Mapping
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from recjury.agreement import Study
from recjury.results import Resampling, StoredCampaign

SCENARIOS, SYSTEMS, JUDGES, FACTORS = 30, ("popular", "other"), ("main", "second"), 2
TURNS = 4  # of a system


class Honest(StoredCampaign):
    """Scores and lengths differ by scenario and by system, and have nothing to do with each other.

    With a `spread` of 0 there is nothing to rate, and a judge cannot give a score again.
    `core` rates twice with two judges, of which one also runs a system; `face` rates turns;
    `paireval` compares with what is rated first, and second.
    """

    def __init__(self, seed: int, spread: float) -> None:
        self.name, self._known = "honest", {}
        self._seed, self._spread = seed, spread

    @cached_property
    def random(self) -> np.random.Generator:
        return np.random.default_rng([self._seed, 1])  # not the draws of the bootstrap

    @cached_property
    def quality(self) -> np.ndarray[Any, Any]:
        sizes = SCENARIOS, len(SYSTEMS)
        parts = [self.random.normal(2, self._spread, size) for size in sizes]
        return np.asarray(np.add.outer(*parts).ravel() / 2)

    @cached_property
    def trials(self) -> pd.DataFrame:
        rows = [
            (f"{system}-{number}", system, "user", "sample", str(number), 0)
            for number, system in product(range(SCENARIOS), SYSTEMS)
        ]
        names = ["conversation", "system", "user", "corpus", "scenario", "repeat"]
        return pd.DataFrame(rows, columns=names)

    def drawn(self, *, turn: float = -1, **about: Any) -> pd.DataFrame:
        """Scores from 0 to 4 of all trials: their quality, which all judges see, and noise."""
        noise = self.random.normal(0, 1, len(self.trials))
        score = np.clip(np.round(self.quality + noise), 0, 4)
        return self.trials.assign(
            **{"turn": turn, "status": "ok", "judging": 0, **about}, score=score
        )

    @cached_property
    def ratings(self) -> pd.DataFrame:
        core = [
            self.drawn(evaluator="core", kind="core", metric=f"f{n}", rater=judge, judging=judging)
            for n, judge, judging in product(range(FACTORS), JUDGES, (0, 1))
        ]
        face = {"evaluator": "face", "kind": "face", "metric": "relevance", "rater": "main"}
        of_turns = [self.drawn(turn=2 * n + 1, **face) for n in range(TURNS)]
        pairs = [
            self.drawn(evaluator=name, kind="paireval", metric="dialogue", rater="main")
            for name in ("first", "second")
        ]
        found = pd.concat([*core, *of_turns, *pairs], ignore_index=True)
        return found.assign(log=found["conversation"])

    @cached_property
    def turns(self) -> pd.DataFrame:
        level = np.repeat(self.random.normal(60, 15, SCENARIOS), len(SYSTEMS))
        words = np.maximum(5, level + self.random.normal(0, 15, len(self.trials))).astype(int)
        return self.trials.assign(speaker="system", text=["word " * n for n in words])

    @cached_property
    def config(self) -> Mapping[str, Any]:
        pairs = [{"kind": "paireval", "name": n, "position": n} for n in ("first", "second")]
        return {
            "systems": [{"kind": "popular"}, {"kind": "own:Other", "model": "main"}],
            "evaluators": pairs,
        }


def honest(seed: int, spread: float = 0.5) -> Study:
    return Study(Honest(seed, spread), resampling=Resampling(100, seed))
