"""What stopping by pairs saves and gets wrong: campaigns replayed with known outcomes.

python -m benchmarks.stopping --data DATA [--store sqlite:///VERDICTS.db] [--replays 1000] [--json]

The campaign's own code (`recjury.campaign.stopping`) is asked before every conversation whether it
is needed, and gets its score: `stop: {pairs: 0.95, min_scenarios: 20}`, all pairs of systems,
scenarios in random order. The outcomes:

- `planted`: five systems whose true means are .4 apart; `planted ties`: two and two are equal.
  Every replay draws new scores.
- `redial`, `opendialkg`: CRSArena-Eval's overall labels of each system, in a new order in every
  replay; `... drawn`: 100 of them, with replacement.
- the verdicts of recorded conversations, by data set, in the same two ways: of the store that
  `recjury judge DATA/concept/*.jsonl.gz --limit 200` writes.
- `... equal`: every system's scores are drawn from those of all systems: nothing is to be decided.

`wrong` is the share of replays with a decision against the true means, or about two equal ones;
in `redial` and `opendialkg`, the truth is the mean of all labels. `saved` is the median share of
scenarios that were left when a pair was decided (0 if it was not), over pairs whose usual 95 %
interval over all outcomes excludes 0; `undecided` is the share of these that were not decided;
`conversations` is the mean share of conversations that were not needed.
"""

import argparse
import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.campaign.config import StopRule
from recjury.campaign.plan import Unit
from recjury.campaign.stopping import Stopped, Stopping
from recjury.corpora.crsarena import SUBSETS, read_crsarena, subset_of, system_of
from recjury.records import Metric, Rating, Scenario
from recjury.results.scores import scores_of
from recjury.store import ConversationResult, EvaluationResult, Store

_Floats = NDArray[np.float64]
_Scores = Mapping[str, _Floats]
_Found = dict[str, float]
_RULE = StopRule(pairs=0.95, min_scenarios=20)
_PLANTED = {"a": 2.2, "b": 1.8, "c": 1.4, "d": 1.0, "e": 0.6}
_TIES = {"a": 2.2, "b": 1.8, "c": 1.8, "d": 1.0, "e": 1.0}
_PLACES = 100


class Outcomes(NamedTuple):
    """How a replay's scores are drawn, between 0 and `high`; `means` are the true ones.

    `known` are all scores; None if a replay has its own.
    """

    high: float
    means: Mapping[str, float]
    known: _Scores | None
    draw: Callable[[np.random.Generator], _Scores]


def main() -> None:
    """Replay all outcomes, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--store", help="with verdicts of recorded conversations")
    parser.add_argument("--replays", type=int, default=1_000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    outcomes = {"planted": planted(_PLANTED), "planted ties": planted(_TIES)}
    for name, labels in _crsarena(given.data).items():
        outcomes |= of_scores(name, labels, high=4)
    if given.store:
        for name, verdicts in _verdicts(given.store).items():
            outcomes |= of_scores(f"verdicts of {name}", verdicts, high=100)
    found = {name: replay(each, given.replays) for name, each in outcomes.items()}
    if given.json:
        print(json.dumps(found))
        return
    for name, own in found.items():
        print(name, ", ".join(f"{key} {value:.3g}" for key, value in own.items()))


def planted(means: Mapping[str, float]) -> Outcomes:
    """Grades from 0 to 4 around `means`, 100 of each system."""

    def draw(rng: np.random.Generator) -> _Scores:
        return {name: _grades(mean, rng) for name, mean in means.items()}

    return Outcomes(4, means, None, draw)


def of_scores(name: str, scores: _Scores, *, high: float) -> dict[str, Outcomes]:
    """Scores that systems have: in a new order, drawn with replacement, and of equal systems."""
    least = min(map(len, scores.values()))
    every = np.concatenate(list(scores.values()))
    means = {system: float(own.mean()) for system, own in scores.items()}

    def permuted(rng: np.random.Generator) -> _Scores:
        return {system: rng.permutation(own)[:least] for system, own in scores.items()}

    def drawn(rng: np.random.Generator) -> _Scores:
        return {system: rng.choice(own, _PLACES) for system, own in scores.items()}

    def equal(rng: np.random.Generator) -> _Scores:
        return {system: rng.choice(every, _PLACES) for system in scores}

    return {
        name: Outcomes(high, means, scores, permuted),
        f"{name}, drawn": Outcomes(high, means, scores, drawn),
        f"{name}, equal": Outcomes(high, dict.fromkeys(scores, 0.0), None, equal),
    }


def replay(outcomes: Outcomes, replays: int) -> _Found:
    """Run campaigns with these outcomes, each with its own draw."""
    rng = np.random.default_rng(0)
    wrong = decided = places = 0
    saved, not_needed = list[float](), list[float]()
    for _ in range(replays):
        scores = outcomes.draw(rng)
        places = len(next(iter(scores.values())))
        found = asyncio.run(_run(scores, outcomes.high))
        wrong += any(_is_wrong(each.a, each.b, each.better, outcomes) for each in found.decisions)
        decided += sum(each.better is not None for each in found.decisions)
        known = outcomes.known or scores
        saved += [
            0.0 if each.better is None else 1 - each.n / places
            for each in found.decisions
            if _is_clear(known[each.a], known[each.b])
        ]
        not_needed.append(found.not_needed / found.planned)
    one: _Found = {
        "places": places,
        "pairs": len(found.decisions),
        "decided": decided / replays,
        "wrong": wrong / replays,
        "conversations": float(np.mean(not_needed)),
    }
    if not saved:
        return one
    undecided = float(np.mean([each == 0 for each in saved]))
    return {
        **one,
        "clear": len(saved) / replays,
        "saved": float(np.median(saved)),
        "undecided": undecided,
    }


async def _run(scores: _Scores, high: float) -> Stopped:
    """One campaign, a scenario at a time."""
    scenarios = _units(tuple(scores), len(next(iter(scores.values()))))

    def read(ended: Sequence[str]) -> list[ConversationResult]:
        return [_result(each, scores, high) for each in ended]

    metric = Metric(id="overall", title="Overall", low=0, high=high)
    stopping = Stopping(_RULE, "core", metric, [*chain.from_iterable(scenarios)], read)
    for units in scenarios:
        stopping.take([unit.id for unit in units if await stopping.needs(unit)])
    return stopping.result()


@cache
def _units(systems: tuple[str, ...], places: int) -> list[list[Unit]]:
    """The conversations of each scenario."""
    found = []
    for place in range(places):
        scenario = Scenario(corpus="c", record=f"{place}")
        found.append([Unit(f"{each}/{place}", "c", each, 0, scenario) for each in systems])
    return found


def _result(unit: str, scores: _Scores, high: float) -> ConversationResult:
    system, _, place = unit.rpartition("/")
    evaluations = (_evaluation(float(scores[system][int(place)]), high),)
    return ConversationResult(
        conversation=unit, system=system, scenario=place, corpus="c", repeat=0,
        evaluations=evaluations,
    )  # fmt: skip


@cache
def _evaluation(score: float, high: float) -> EvaluationResult:
    rating = Rating(evaluator="debate", factor="Overall", score=score, low=0, high=high)
    return EvaluationResult(
        evaluation="e", label="core", judging=0, stages=frozenset(), failures={}, ratings=(rating,)
    )


def _is_wrong(a: str, b: str, better: str | None, outcomes: Outcomes) -> bool:
    if better is None:
        return False
    worse = b if better == a else a
    return outcomes.means[better] <= outcomes.means[worse]


def _is_clear(a: _Floats, b: _Floats) -> bool:
    """Whether the usual 95 % interval of two systems' difference excludes 0."""
    error = (a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b)) ** 0.5
    return bool(abs(a.mean() - b.mean()) > 1.96 * error)


def _grades(mean: float, rng: np.random.Generator) -> _Floats:
    return np.clip(np.round(mean + 1.1 * rng.normal(size=_PLACES)), 0, 4)


def _crsarena(data: Path) -> dict[str, _Scores]:
    """The overall labels of each system, by subset."""
    read = read_crsarena(data / "crsarena-eval" / "crs_arena_eval.json")
    found: dict[str, dict[str, list[float]]] = {subset: {} for subset in SUBSETS}
    for place, label in read.labels["dialogue_overall"].items():
        systems = found[subset_of(place.conversation)]
        systems.setdefault(system_of(place.conversation), []).append(label)
    return {subset: _arrays(systems) for subset, systems in found.items()}


def _verdicts(url: str) -> dict[str, _Scores]:
    """The verdicts of each system, by the data set at the end of its name."""
    found: dict[str, dict[str, list[float]]] = {}
    with Store.open(url, create=False) as store:
        (campaign,) = store.campaigns()
        for result in store.results(campaign.id):
            system, _, corpus = result.system.rpartition("_")
            verdict = scores_of(result).values.get("core.overall")
            if verdict is not None:
                found.setdefault(corpus, {}).setdefault(system, []).append(verdict)
    return {corpus: _arrays(systems) for corpus, systems in sorted(found.items())}


def _arrays(systems: Mapping[str, Sequence[float]]) -> _Scores:
    return {system: np.array(own, dtype=float) for system, own in sorted(systems.items())}


if __name__ == "__main__":
    main()
