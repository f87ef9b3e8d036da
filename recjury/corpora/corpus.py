"""What every corpus offers: a catalogue, a graph, examples to train on, scenarios to start from."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from recjury.knowledge import Catalogue, KnowledgeGraph
from recjury.records import Scenario


class Unresolved(NamedTuple):
    """A record (its id in the split), and why it, or a part of it, could not be used."""

    record: str
    reason: str


@dataclass(frozen=True, slots=True)
class ScenarioSet:
    """The scenarios of one split, and what became of the records that gave none.

    `unresolved` are all records of the split without a scenario, whatever the limit: for an
    unlimited set, `len(scenarios) + len(unresolved)` is the number of records. `partial` are
    records that kept some of their targets, with the ones they lost.
    """

    scenarios: tuple[Scenario, ...]
    unresolved: tuple[Unresolved, ...] = ()
    partial: tuple[Unresolved, ...] = ()


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """One recommendation turn to train on, as the corpus has it.

    `context` are the utterances so far, even index = user, odd = system (an empty first one
    where the system opens); `entities` the names mentioned in it, in order, repeats kept;
    `targets` the names of the items that `response` recommends.
    """

    record: str
    dialogue: str
    context: tuple[str, ...]
    entities: tuple[str, ...]
    targets: tuple[str, ...]
    response: str


class Corpus(Protocol):
    """A corpus of conversations between people, with what is known of its items."""

    @property
    def name(self) -> str:
        """ "redial", "opendialkg", "sample", or the name of the user's folder."""

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that are there."""

    @property
    def catalogue(self) -> Catalogue:
        """The items."""

    @property
    def graph(self) -> KnowledgeGraph:
        """Entities and relations around the items."""

    def examples(self, split: str) -> list[TrainingExample]:
        """The examples of a split, in the order of the data. DataError for an unknown split."""

    def scenarios(
        self, split: str = "test", limit: int | None = None, seed: int = 0
    ) -> ScenarioSet:
        """The scenarios of a split: all, or a sample of `limit` drawn with `seed`."""


def sample_scenarios(
    scenarios: Sequence[Scenario], limit: int | None, seed: int
) -> tuple[Scenario, ...]:
    """At most `limit` of the scenarios, in their order.

    Each scenario has a lot, the SHA-256 of seed and scenario id, and the lowest lots are drawn.
    So a draw is the same on every machine, and a larger limit keeps what a smaller one drew.
    """
    if limit is None or limit >= len(scenarios):
        return tuple(scenarios)
    drawn = {s.id for s in sorted(scenarios, key=lambda s: _lot(s.id, seed))[: max(0, limit)]}
    return tuple(scenario for scenario in scenarios if scenario.id in drawn)


def _lot(identity: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}:{identity}".encode()).digest()


def resolved(found: Iterable[Scenario | Unresolved]) -> tuple[list[Scenario], list[Unresolved]]:
    """Separate the scenarios from the records that gave none."""
    scenarios: list[Scenario] = []
    unresolved: list[Unresolved] = []
    for one in found:
        if isinstance(one, Scenario):
            scenarios.append(one)
        else:
            unresolved.append(one)
    return scenarios, unresolved
