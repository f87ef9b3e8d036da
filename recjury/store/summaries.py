"""Summaries of finished stages: what tables add up, without the texts.

A summary is written in the transaction of its stage, and has that stage's seal. So tables of many
conversations are made without reading logs, rationales and debates. Most evaluations of a campaign
differ in their scores alone: all else that a stage has rated is its layout, which is stored once.
Every summary can be made again from the rows (`remake_page`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Column, Connection, and_, select

from recjury.errors import StoreError
from recjury.records import (
    ConversationLog,
    Ending,
    Level,
    Rating,
    Record,
    Role,
    StageResult,
    Status,
)
from recjury.store.column_types import Hex, PlainText, as_stored
from recjury.store.fetching import fetch
from recjury.store.sealed import Damaged, SealedTable, changed
from recjury.store.tables import StageRow, table_of
from recjury.store.texts import chunks, hashes_of_ids, texts_of_ids
from recjury.store.writer import Transaction


class Summary(Record):
    """What tables add up of a finished stage, which has the seal `stage_seal`.

    `body` has the values of a `LogSummary`; or the scores of a stage's ratings, and those of what
    was said in its debate, in the order of its `layout`.
    """

    stage_seal: str
    body: tuple[Any, ...]
    layout: Mapping[str, Any] | None = None


SUMMARIES = SealedTable(
    "summary",
    Summary,
    Column("unit", PlainText, primary_key=True),
    Column("stage", PlainText, primary_key=True),
    Column("stage_seal", Hex, nullable=False),
    named="the summary of stage {stage} of {unit}",
    without_rowid=True,
)


class LogSummary(NamedTuple):
    """What tables show of a conversation; the fields are those of `ConversationResult`.

    `acts` counts the declared acts that were dropped, and those that differ from the words.
    """

    log: str
    system: str
    scenario: str
    corpus: str
    pair: str
    target_seen: bool
    ending: Ending
    rounds: int
    has_list: bool
    items_linked: bool
    person: str
    acts: tuple[int, int]


class RatedAs(NamedTuple):
    """A rating without its score, its texts and its calls; the fields are those of `Rating`."""

    evaluator: str
    factor: str
    status: Status
    reason: str
    level: Level
    turn: int | None
    low: float
    high: float | None


class SpokenAs(NamedTuple):
    """Who said something in a debate, in which round (from 1)."""

    role: Role
    round: int
    speaker: str


@dataclass(frozen=True, eq=False)
class Layout:
    """What was rated, by whom and with which status, and who spoke: all but the scores.

    Equal layouts are one object, so that what is worked out for one is known for all.
    """

    ratings: tuple[RatedAs, ...] = ()
    said: tuple[SpokenAs, ...] = ()

    @cached_property
    def raters(self) -> frozenset[str]:
        """Who rated."""
        return frozenset(each.evaluator for each in self.ratings)

    @cached_property
    def unscored(self) -> tuple[RatedAs, ...]:
        """The ratings without a score."""
        return tuple(each for each in self.ratings if each.status is not Status.SCORED)

    @cached_property
    def as_json(self) -> dict[str, Any]:
        """As it is stored."""
        return {"ratings": list(map(tuple, self.ratings)), "said": list(map(tuple, self.said))}

    @cached_property
    def speakers(self) -> frozenset[str]:
        """Who spoke in the debate."""
        return frozenset(each.speaker for each in self.said)


class StageScores(NamedTuple):
    """The scores of a stage's ratings and of its debate, in the order of its layout; None where
    there is none."""

    layout: Layout
    ratings: tuple[float | None, ...] = ()
    said: tuple[float | None, ...] = ()


def scores_of_stage(result: StageResult) -> StageScores:
    """The scores of a stage's result."""
    debate = result.debate
    said = () if debate is None else debate.transcript.statements
    return StageScores(
        _layout(
            tuple(_rated_as(each) for each in result.ratings),
            tuple(SpokenAs(each.role, each.round, each.speaker) for each in said),
        ),
        tuple(each.score for each in result.ratings),
        tuple(each.score for each in said),
    )


def _rated_as(rating: Rating) -> RatedAs:
    return RatedAs(
        *(rating.evaluator, rating.factor, rating.status, rating.reason, rating.level, rating.turn),
        low=float(rating.low),
        high=None if rating.high is None else float(rating.high),
    )


@lru_cache(maxsize=10_000)
def _layout(ratings: tuple[RatedAs, ...], said: tuple[SpokenAs, ...]) -> Layout:
    return Layout(ratings, said)


NO_SCORES = StageScores(_layout((), ()))
"""Those of an evaluation without a finished stage."""


def _read_layout(text: str) -> Layout:
    stored = orjson.loads(text)
    rated = (
        RatedAs(evaluator, factor, Status(status), reason, Level(level), *rest)
        for evaluator, factor, status, reason, level, *rest in stored["ratings"]
    )
    said = (SpokenAs(Role(role), number, who) for role, number, who in stored["said"])
    return _layout(tuple(rated), tuple(said))


@lru_cache(maxsize=10_000)
def _joined(layouts: tuple[Layout, ...]) -> Layout:
    return _layout(
        tuple(each for own in layouts for each in own.ratings),
        tuple(each for own in layouts for each in own.said),
    )


def joined(stages: Sequence[StageScores]) -> StageScores:
    """The scores of several stages as those of one."""
    if not stages:
        return NO_SCORES
    if len(stages) == 1:
        return stages[0]
    layouts, ratings, said = zip(*stages, strict=True)
    every = chain.from_iterable
    return StageScores(_joined(layouts), tuple(every(ratings)), tuple(every(said)))


def summary_of_log(digest: str, log: ConversationLog) -> LogSummary:
    """The summary of a log with this id."""
    return LogSummary(
        log=digest,
        system=log.system,
        scenario=log.scenario.id,
        corpus=log.scenario.corpus,
        pair=log.scenario.pair_id,
        target_seen=log.scenario.target_seen,
        ending=log.ending,
        rounds=len(log.system_turns),
        has_list=any(turn.items for turn in log.system_turns),
        items_linked=log.items_linked,
        person="" if log.person is None else log.person.described,
        acts=(log.acts_dropped, log.acts_differing),
    )


def write_summary(
    transaction: Transaction, unit: str, stage: str, about: LogSummary | StageScores, sealed: str
) -> None:
    """Store the summary of a stage that has just been finished, and has the seal `sealed`."""
    body: tuple[Any, ...] = about if isinstance(about, LogSummary) else about[1:]
    layout = None if isinstance(about, LogSummary) else about.layout.as_json
    summary = Summary(stage_seal=sealed, body=tuple(body), layout=layout)
    # One may be left of a stage that was removed.
    SUMMARIES.replace(transaction, [(summary, {"unit": unit, "stage": stage})])


_LAYOUT, _STAGES = SUMMARIES.c.keys().index("layout"), table_of(StageRow).c
_SAME = and_(
    SUMMARIES.c.unit == _STAGES.unit,
    SUMMARIES.c.stage == _STAGES.stage,
    SUMMARIES.c.stage_seal == _STAGES.seal,
)
_ROWS = select(*as_stored(table_of(StageRow))[:2], *as_stored(SUMMARIES.table)[2:]).select_from(
    table_of(StageRow).outerjoin(SUMMARIES.table, _SAME)
)


class SummaryReader:
    """Reads the summaries of one store; layouts are read once."""

    def __init__(self) -> None:
        """Nothing has been read yet."""
        self._layouts: dict[int, Layout] = {}
        self._hashes: dict[int, bytes] = {}

    def logs(self, connection: Connection, conversations: Iterable[str]) -> dict[str, LogSummary]:
        """The summary of each of the conversations that was held. Raises as `stages`."""
        rows = self._rows(connection, conversations)
        return {unit: _log_summary(body) for unit, _, _, body in rows}

    def stages(
        self, connection: Connection, evaluations: Iterable[str]
    ) -> dict[str, dict[str, StageScores]]:
        """The finished stages of each evaluation that has any, sorted.

        Raises StoreError for a summary that was altered, that is missing, or that is of another
        stage than that in the store.
        """
        found: dict[str, dict[str, StageScores]] = {}
        for unit, stage, layout, (ratings, said) in self._rows(connection, evaluations):
            scores = StageScores(self._layouts[layout], tuple(ratings), tuple(said))
            found.setdefault(unit, {})[stage] = scores
        return found

    def _rows(
        self, connection: Connection, units: Iterable[str]
    ) -> Iterator[tuple[str, str, int, Any]]:
        """The unit, the stage, the number of the layout and the body of each summary."""
        for some in chunks(units):
            rows = sorted(fetch(connection, _ROWS, _STAGES.unit, some), key=itemgetter(0, 1))
            self._read_layouts(connection, {row[_LAYOUT] for row in rows})
            for row in rows:
                unit, stage, _, body, layout, _ = row
                if body is None:
                    raise without_summary(unit, stage)
                SUMMARIES.check(row, self._hashes)
                yield unit, stage, layout, orjson.loads(body)

    def _read_layouts(self, connection: Connection, numbers: set[Any]) -> None:
        new = [n for n in numbers if isinstance(n, int) and n not in self._layouts]
        if new:
            self._hashes |= hashes_of_ids(connection, new)
            texts = texts_of_ids(connection, new)
            self._layouts |= {number: _read_layout(text) for number, text in texts.items()}


def check_summaries(connection: Connection, damaged: Damaged) -> None:
    """Call `damaged` for each finished stage without its summary, and each summary without its
    stage."""
    stages, own = table_of(StageRow), SUMMARIES.table
    for one, other, error in ((stages, own, without_summary), (own, stages, _without_stage)):
        query = select(one.c.unit, one.c.stage).select_from(one.outerjoin(other, _SAME))
        for unit, stage in connection.execute(query.where(other.c.unit.is_(None))):
            damaged(error(unit, stage))


def without_summary(unit: str, stage: str) -> StoreError:
    """The error for a finished stage whose summary is missing, or is of another one."""
    return StoreError(
        f"stage {stage} of {unit} in the store has no summary that fits it: `recjury store "
        "summarise` makes it again"
    )


def _without_stage(unit: str, stage: str) -> StoreError:
    return changed(f"stage {stage} of {unit} in the store")


def _log_summary(body: Sequence[Any]) -> LogSummary:
    *about, ending, rounds, has_list, linked, person, acts = body
    return LogSummary._make((*about, Ending(ending), rounds, has_list, linked, person, tuple(acts)))
