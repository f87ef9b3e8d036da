"""The `Corpus` protocol: a catalogue, a graph, training examples and scenarios."""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from recjury.errors import DataError
from recjury.knowledge import Catalogue, KnowledgeGraph
from recjury.records import Scenario


class Unresolved(NamedTuple):
    """A record (its id in the split), and the reason why all or a part of it is not used."""

    record: str
    reason: str


@dataclass(frozen=True, slots=True)
class ScenarioSet:
    """The scenarios of one split, and the records that gave no scenario.

    `unresolved` has all records of the split without a scenario, regardless of the limit. Without
    a limit, `len(scenarios) + len(unresolved)` is the number of records. `partial` has the
    records that kept only some of their targets, with the targets that were lost.
    """

    scenarios: tuple[Scenario, ...]
    unresolved: tuple[Unresolved, ...] = ()
    partial: tuple[Unresolved, ...] = ()


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """One recommendation turn to train on, unchanged from the corpus.

    `context` has the utterances so far: even indices are the user's, odd ones the system's. If
    the system opens, the first utterance is empty. `entities` are the names mentioned in the
    context, in order, with repeats. `targets` are the names of the items that `response`
    recommends.
    """

    record: str
    dialogue: str
    context: tuple[str, ...]
    entities: tuple[str, ...]
    targets: tuple[str, ...]
    response: str


class Corpus(Protocol):
    """A corpus of conversations between people, with the attributes of its items.

    One may also have `paths`, the files that it reads: a run keeps their checksums.
    """

    @property
    def name(self) -> str:
        """ "redial", "opendialkg", "sample", or the name of the user's folder."""

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits whose data are present."""

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


class WithoutSplits:
    """A corpus as a system under test gets it: without the splits that its campaign plays."""

    def __init__(self, corpus: Corpus, played: Collection[str]):
        """`played` are the names of the splits that are left out."""
        self._corpus, self._played = corpus, played

    @property
    def name(self) -> str:
        """The corpus's name."""
        return self._corpus.name

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that are not played."""
        return tuple(split for split in self._corpus.splits if split not in self._played)

    @property
    def catalogue(self) -> Catalogue:
        """The items."""
        return self._corpus.catalogue

    @property
    def graph(self) -> KnowledgeGraph:
        """Entities and relations around the items."""
        return self._corpus.graph

    def examples(self, split: str) -> list[TrainingExample]:
        """Those of the corpus. Raises DataError for a split that is played."""
        self._refuse_played(split)
        return self._corpus.examples(split)

    def scenarios(
        self, split: str = "test", limit: int | None = None, seed: int = 0
    ) -> ScenarioSet:
        """Those of the corpus. Raises DataError for a split that is played."""
        self._refuse_played(split)
        return self._corpus.scenarios(split, limit, seed)

    def _refuse_played(self, split: str) -> None:
        if split in self._played:
            raise DataError(
                f"the campaign plays the split {split!r} of {self.name}: no system may learn from "
                "it or see its targets"
            )


def sample_scenarios(
    scenarios: Sequence[Scenario], limit: int | None, seed: int
) -> tuple[Scenario, ...]:
    """At most `limit` of the scenarios, in their order.

    The scenarios are ranked by the SHA-256 of seed and scenario id, and the lowest are drawn. The
    sample is therefore the same on every machine, and a larger limit only adds scenarios.
    """
    if limit is None or limit >= len(scenarios):
        return tuple(scenarios)
    drawn = {s.id for s in sorted(scenarios, key=lambda s: _lot(s.id, seed))[: max(0, limit)]}
    return tuple(scenario for scenario in scenarios if scenario.id in drawn)


def _lot(identity: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}:{identity}".encode()).digest()


def resolved(found: Iterable[Scenario | Unresolved]) -> tuple[list[Scenario], list[Unresolved]]:
    """Separate the scenarios from the records that gave no scenario."""
    scenarios: list[Scenario] = []
    unresolved: list[Unresolved] = []
    for one in found:
        if isinstance(one, Scenario):
            scenarios.append(one)
        else:
            unresolved.append(one)
    return scenarios, unresolved
