"""What is left to do of units, as the store says."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from recjury.campaign.evaluate import ActiveEvaluator
from recjury.campaign.plan import Unit
from recjury.campaign.retry import Retry
from recjury.store import Store


class EvaluationKey(NamedTuple):
    """One of the evaluations of a unit."""

    unit: str
    label: str
    judging: int


class Left(NamedTuple):
    """A unit, and what the store has of it: whether it is held, the rows of its evaluations, and
    those that are complete."""

    unit: Unit
    is_held: bool
    rows: Mapping[EvaluationKey, str]
    complete: frozenset[EvaluationKey]


class LookUp:
    """Looks units up in the store, some at a time."""

    def __init__(
        self, store: Store, evaluators: Mapping[str, Sequence[ActiveEvaluator]], retry: Retry
    ):
        """`evaluators` are by corpus; `retry` says what of earlier runs is asked for again."""
        self._store, self._evaluators, self._retry = store, evaluators, retry

    def looked_up(self, page: Sequence[Unit]) -> list[Left]:
        """Some units, with what the store has of them."""
        held = self._store.log_ids_of(unit.id for unit in page)
        rows, complete = self._finished(page, held)
        return [
            Left(
                unit,
                unit.id in held,
                {key: rows[key] for key in self.keys_of(unit) if key in rows},
                frozenset(key for key in self.keys_of(unit) if key in complete),
            )
            for unit in page
        ]

    def is_whole(self, left: Left) -> bool:
        """Whether nothing is left to do."""
        return left.is_held and len(left.complete) == sum(
            each.judgings for each in self._evaluators[left.unit.corpus]
        )

    def keys_of(self, unit: Unit) -> Iterator[EvaluationKey]:
        """All evaluations of a unit."""
        for active in self._evaluators[unit.corpus]:
            for judging in range(active.judgings):
                yield EvaluationKey(unit.id, active.label, judging)

    def _finished(
        self, units: Iterable[Unit], held: Mapping[str, str]
    ) -> tuple[Mapping[EvaluationKey, str], set[EvaluationKey]]:
        """The rows of evaluations, and those that are complete, with nothing that is asked for
        again."""
        planned = [
            (
                EvaluationKey(unit.id, active.label, evaluation.judging),
                active.stages,
                evaluation.identity,
            )
            for unit in units
            if unit.id in held
            for active in self._evaluators[unit.corpus]
            for evaluation in active.evaluations(held[unit.id])
        ]
        rows = self._store.find_evaluations(identity for _, _, identity in planned)
        stages = self._store.evaluation_stages(rows.values())
        repeated = self._store.evaluations_with(rows.values(), self._retry.statuses)
        complete = {
            key
            for key, wanted, identity in planned
            if identity in rows
            and wanted <= stages.get(rows[identity], set())
            and rows[identity] not in repeated
        }
        return {key: rows[identity] for key, _, identity in planned if identity in rows}, complete
