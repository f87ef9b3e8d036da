"""A part of a campaign's conversations: of some systems, scenarios, settings, or a share of all."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple, Protocol, TypeVar

import orjson
from sqlalchemy import ColumnElement, Connection, exists, or_, select

from recjury.errors import StoreError
from recjury.mistakes import did_you_mean
from recjury.records import FAILED
from recjury.store.conversations import CONVERSATIONS
from recjury.store.evaluations import EVALUATIONS
from recjury.store.failures import FAILURES
from recjury.store.logs import LOGS
from recjury.store.places import PLACES
from recjury.store.stage_results import RATINGS
from recjury.store.stages import CONVERSE
from recjury.store.tables import StageRow, table_of
from recjury.store.texts import text_reader

T = TypeVar("T")

_STAGES = table_of(StageRow).c
_NAMED = 12  # values of a key that a message names
_COLUMNS = ("system", "scenario", "corpus", "repeat", "seed")


class NothingFailedError(StoreError):
    """What `--failed` selects is nothing, as if all was well."""


class Shard(NamedTuple):
    """One of `of` parts of a campaign; `number` counts from 1.

    Scenarios are dealt to the parts in turn, in the plan's order, with all systems and repeats: so
    two parts differ by one scenario at most, and equal logs are judged in one part.
    """

    number: int = 1
    of: int = 1

    def __str__(self) -> str:
        """As --shard takes it."""
        return f"{self.number}/{self.of}"

    def dealt(self) -> "Callable[[Described], bool]":
        """Whether a conversation is of this part: to be asked of all of a plan, in its order."""
        places: dict[str, int] = {}

        def place(planned: Described) -> int:
            return places.setdefault(_scenario_of(planned), len(places))

        return lambda planned: self.of == 1 or place(planned) % self.of == self.number - 1


class Selection(NamedTuple):
    """What is selected; each condition that is given must hold.

    `systems` and `scenarios` are names. `where` has values, as text, by key: corpus, repeat, seed,
    or a path in the settings ("user.user", "system.name"). With `failed`, the conversation or one
    of its evaluations failed, or lacks a score for a failure. `share` (above 0 to 1) takes
    scenarios by a hash of their ids: always the same ones, with all systems and repeats. `shard`
    is a part of the whole plan, whatever else is selected of it.
    """

    systems: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    where: Mapping[str, str] = {}
    failed: bool = False
    share: float = 1.0
    shard: Shard = Shard()

    @property
    def is_all(self) -> bool:
        """Whether everything is selected."""
        return self == Selection()

    def has(self, planned: "Described") -> bool:
        """Whether a conversation is selected, as far as its plan says."""
        return (
            (not self.systems or planned.system in self.systems)
            and (not self.scenarios or planned.scenario in self.scenarios)
            and all(_value(planned, key) == value for key, value in self.where.items())
            and (self.share == 1 or self._shares(_scenario_of(planned)))
        )

    def _shares(self, scenario: str) -> bool:
        digits = hashlib.sha256(scenario.encode()).digest()[8:16]
        return int.from_bytes(digits) < self.share * (1 << 64)

    def taken(
        self,
        found: Iterable[T],
        planned: Callable[[T], "Described"],
        is_own: "Callable[[Described], bool]" = lambda _: True,
    ) -> Iterator[T]:
        """Those of what is found whose planned conversation is selected.

        `is_own` is asked of each one, in order: what only a plan tells, such as `Shard.dealt`.
        Raises StoreError if there is none, which is no error of a shard, and names the system,
        scenario, key or value that no conversation has. It is NothingFailedError if none failed.
        """
        seen: dict[str, set[str]] = {"system": set(), "scenario": set()}
        values: dict[str, set[str]] = {key: set() for key in self.where}
        is_empty = True
        for one in found:
            each = planned(one)
            seen["system"].add(each.system)
            if self.scenarios:
                seen["scenario"].add(each.scenario)
            for key, own in values.items():
                value = _value(each, key)
                if value is not None and (len(own) < _NAMED or value == self.where[key]):
                    own.add(value)
            if is_own(each) and self.has(each):
                is_empty = False
                yield one
        self._check(seen | {"key": {key for key, own in values.items() if own}})
        for key, own in values.items():
            if self.where[key] not in own:
                some = ", ".join(sorted(own)) + ", ..." * (len(own) == _NAMED)
                raise StoreError(
                    f"--where {key}: no conversation has {self.where[key]}, but {some}"
                )
        if is_empty and self.failed:
            raise NothingFailedError("nothing of what is selected failed")
        if is_empty and self.shard.of == 1:
            raise StoreError("no conversation is selected: leave out one of the filters")

    def _check(self, seen: Mapping[str, Collection[str]]) -> None:
        asked = {"system": self.systems, "scenario": self.scenarios, "key": tuple(self.where)}
        for what, names in asked.items():
            for name in names:
                if name not in seen[what]:
                    near = did_you_mean(name, seen[what] or _COLUMNS)
                    raise StoreError(f"--{_OPTIONS[what]}: no conversation has {name}{near}")


_OPTIONS = {"system": "system", "scenario": "scenario", "key": "where"}


class Described(Protocol):
    """A conversation as it is planned."""

    @property
    def id(self) -> str:
        """The conversation's id."""

    @property
    def system(self) -> str:
        """The system's name."""

    @property
    def scenario(self) -> str:
        """The scenario's id."""

    @property
    def corpus(self) -> str:
        """The corpus, with its split."""

    @property
    def settings(self) -> Mapping[str, object]:
        """All that can change the conversation."""


def _scenario_of(planned: Described) -> str:
    return f"{planned.corpus} {planned.scenario}"


def _value(planned: Described, key: str) -> str | None:
    """The value of a key as text; None if the conversation lacks it."""
    if key in _COLUMNS:
        return str(getattr(planned, key))
    value: object = planned.settings
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return None if value is None or isinstance(value, Mapping) else str(value)


class _Row(NamedTuple):
    id: str
    system: str
    scenario: str
    corpus: str
    repeat: int
    seed: int
    settings: Mapping[str, object]


def selected(connection: Connection, campaign: str, selection: Selection) -> tuple[str, ...] | None:
    """The ids of a campaign's conversations that are selected, in the plan's order; None for all.

    They are of all shards that the store has, which does not know what others were dealt. Raises
    StoreError if there is none, and for a system, scenario or key that none has.
    """
    if selection.is_all:
        return None
    table, links = CONVERSATIONS.c, PLACES.table
    ids = select(table.id).join(links, links.c.conversation == table.id)
    ids = ids.where(links.c.campaign == campaign, links.c.set_aside == 0)
    failed = set(connection.execute(ids.where(_has_failed())).scalars()) if selection.failed else ()
    read = text_reader(connection)
    settings = cache(lambda number: orjson.loads(read(number)))
    query = ids.with_only_columns(*(table[name] for name in _Row._fields))
    rows = connection.execute(query.order_by(links.c.ordinal, table.id))
    found = (_Row._make((*row[:-1], settings(row.settings))) for row in rows)
    taken = selection.taken(
        found, lambda each: each, lambda each: not selection.failed or each.id in failed
    )
    return tuple(each.id for each in taken)


def _has_failed() -> ColumnElement[bool]:
    """Whether a conversation failed, or an evaluation of it, or a rating for a failure."""
    ids, logs, failures, evaluations = CONVERSATIONS.c.id, LOGS.c, FAILURES.c, EVALUATIONS.c
    held = exists().where(logs.conversation == ids)
    broken = exists().where(failures.unit == ids, failures.stage == CONVERSE)
    later = exists().where(_STAGES.unit == failures.unit, _STAGES.stage == failures.stage)
    lost = exists().where(RATINGS.c.evaluation == evaluations.id, RATINGS.c.status.in_(FAILED))
    judged = exists().where(
        logs.conversation == ids,
        evaluations.log == logs.digest,
        evaluations.fork_of.is_(None),
        or_(exists().where(failures.unit == evaluations.id, ~later), lost),
    )
    return or_(broken & ~held, judged)
