"""Results of the stages of evaluations: ratings, evidence, outputs, and debates.

All rows of a stage are written in one transaction, with the seal of the stage over theirs.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Column, Connection, ForeignKey, false, or_, select

from recjury.errors import UnitFailed
from recjury.records import (
    JSON,
    Debate,
    DebateTranscript,
    Evidence,
    Rating,
    Record,
    StageResult,
    Statement,
    Status,
    Verdict,
)
from recjury.store.column_types import Hex, PlainText, Whole
from recjury.store.evaluations import (
    PlannedEvaluation,
    add_attempt,
    add_evaluation,
    read_evaluations,
)
from recjury.store.sealed import Damaged, SealedTable, refuse
from recjury.store.stages import CONVERSE, Records, check_stages, finish_stage, read_stages
from recjury.store.summaries import scores_of_stage
from recjury.store.texts import chunks
from recjury.store.writer import Transaction

DEBATE = "debate"
"""The only stage that can have a debate."""

FORK = "fork"
"""The stage that stores what a fork has changed."""


class ForkedEvaluation(NamedTuple):
    """A changed copy of a debate.

    `original` is the id of the evaluation that held it, `spec` says what was changed, and
    `identity` is a digest of both.
    """

    identity: str
    original: str
    spec: Mapping[str, JSON]


class StageOutput(Record):
    """What a stage left for later ones, and the statuses of the parts that could not be had."""

    body: Mapping[str, JSON]
    lost: tuple[str, ...] = ()


class HeldDebate(Verdict):
    """A verdict, and how the debate was held: a transcript without its statements."""

    log: str
    max_rounds: int
    protocol: str
    judges: tuple[str, ...]


def _evaluation(**options: Any) -> Column[str]:
    return Column("evaluation", PlainText, ForeignKey("evaluation.id"), nullable=False, **options)


def _place() -> tuple[Column[Any], ...]:
    """The columns that say where in an evaluation a record belongs."""
    stage = Column("stage", PlainText, nullable=False)
    return (_evaluation(), stage, Column("position", Whole, nullable=False))


_IN_STAGE = ("evaluation", "stage", "position")
RATINGS = SealedTable(
    "rating",
    Rating,
    *_place(),
    named="the rating of {factor} of evaluation {evaluation}",
    order=_IN_STAGE,
)
EVIDENCE = SealedTable(
    "evidence",
    Evidence,
    *_place(),
    named="the evidence {position} of stage {stage} of evaluation {evaluation}",
    order=_IN_STAGE,
)
OUTPUTS = SealedTable(
    "stage_output",
    StageOutput,
    _evaluation(primary_key=True),
    Column("stage", PlainText, primary_key=True),
    named="the output of stage {stage} of evaluation {evaluation}",
)
DEBATES = SealedTable(
    "debate",
    HeldDebate,
    _evaluation(primary_key=True),
    Column("log", Hex(), nullable=False),
    named="the verdict of evaluation {evaluation}",
)
STATEMENTS = SealedTable(
    "statement",
    Statement,
    Column("evaluation", PlainText, ForeignKey("debate.evaluation"), nullable=False),
    Column("position", Whole, nullable=False),
    named="the statement of the {role} in round {round} of {evaluation}",
    order=("evaluation", "position"),
)


def _check(stage: str, result: StageResult) -> None:
    """Raise UnitFailed for a result that cannot be stored; a plugin may return such a result."""
    if stage == CONVERSE:
        raise UnitFailed(f"no stage of an evaluator can be called {CONVERSE!r}: rename it")
    if result.debate is not None and stage != DEBATE:
        raise UnitFailed(f"a debate can be stored only by the stage {DEBATE!r}")
    try:
        orjson.dumps(result.output)
    except TypeError as error:
        raise UnitFailed(f"what a stage stores must be plain JSON: {error}") from None


def write_stage(
    transaction: Transaction, planned: PlannedEvaluation, stage: str, result: StageResult
) -> None:
    """Finish a stage of an evaluation; the evaluation's row is added if it is missing.

    A finished stage is not overwritten. Raises UnitFailed for a result that cannot be stored:
    invalid JSON, or a debate of another stage than "debate".
    """
    _check(stage, result)
    _finish(transaction, add_evaluation(transaction, planned), stage, result)


def write_attempt(
    transaction: Transaction, planned: PlannedEvaluation, results: Mapping[str, StageResult]
) -> None:
    """Store another attempt at an evaluation that the store has; from then on it counts.

    `results` are those of all its stages, also of those that were not done again. The earlier
    attempts stay. Raises as `write_stage`.
    """
    for stage, result in results.items():
        _check(stage, result)
    evaluation = add_attempt(transaction, planned)
    for stage, result in results.items():
        _finish(transaction, evaluation, stage, result)


def write_fork(transaction: Transaction, fork: ForkedEvaluation, result: StageResult) -> None:
    """Store a changed copy of a debate: its stages "fork" and "debate".

    An existing fork is not changed. Raises as `write_stage`, and StoreError if the original is
    missing.
    """
    _check(DEBATE, result)
    about = read_evaluations(transaction.connection, [fork.original])[fork.original]
    planned = PlannedEvaluation(
        identity=fork.identity,
        log=about.log,
        evaluator=about.evaluator,
        judging=about.judging,
        data=about.data,
        sample=about.sample,
    )
    evaluation = add_evaluation(transaction, planned, fork.original)
    stages = {FORK: StageResult(output=dict(fork.spec)), DEBATE: result}
    for stage, stored in stages.items():
        _finish(transaction, evaluation, stage, stored)


def _finish(transaction: Transaction, evaluation: str, stage: str, result: StageResult) -> None:
    records = _records(evaluation, stage, result)
    finish_stage(transaction, evaluation, stage, records, scores_of_stage(result))


def _records(
    evaluation: str, stage: str, result: StageResult
) -> Iterator[tuple[SealedTable[Any], Records]]:
    """All records of a stage with their keys, by table. The stage's seal has this order."""
    place: dict[str, JSON] = {"evaluation": evaluation, "stage": stage}
    if result.debate is not None:
        transcript, verdict = result.debate
        about = transcript.model_dump(exclude={"statements"})
        held = HeldDebate(**verdict.model_dump(), **about)
        yield DEBATES, [(held, {"evaluation": evaluation})]
        said = enumerate(transcript.statements)
        yield STATEMENTS, [(each, {"evaluation": evaluation, "position": n}) for n, each in said]
    if result.output is not None:
        yield OUTPUTS, [(StageOutput(body=result.output, lost=result.lost), place)]
    yield RATINGS, [(each, {**place, "position": n}) for n, each in enumerate(result.ratings)]
    yield EVIDENCE, [(each, {**place, "position": n}) for n, each in enumerate(result.evidence)]


Results = Mapping[str, StageResult]
"""The results of an evaluation's finished stages, by stage, sorted."""


def read_stage_results(
    connection: Connection, evaluations: Iterable[str], damaged: Damaged = refuse
) -> dict[str, Results]:
    """The results of each evaluation.

    `damaged` is called for each altered row, and for each stage that has lost or gained rows.
    """
    wanted = tuple(dict.fromkeys(evaluations))
    read = _Reading(connection, wanted, damaged)
    check_stages(connection, read.seals, damaged)
    done = read_stages(connection, wanted)
    return {
        each: {
            stage: read.results[each].get(stage, StageResult())
            for stage in sorted({*done.get(each, ()), *read.results[each]})
        }
        for each in wanted
    }


def stage_results(connection: Connection, evaluation: str) -> Results:
    """The results of one evaluation. Raises StoreError for altered rows."""
    return read_stage_results(connection, [evaluation])[evaluation]


def find_debate(connection: Connection, evaluation: str) -> Debate | None:
    """An evaluation's transcript and verdict, or None. Raises StoreError if they were altered."""
    return stage_results(connection, evaluation).get(DEBATE, StageResult()).debate


class _Reading:
    """The rows of evaluations, as results by evaluation and stage, and their seals in order."""

    def __init__(self, connection: Connection, wanted: Sequence[str], damaged: Damaged):
        self._connection, self._wanted, self._damaged = connection, wanted, damaged
        self.results: dict[str, dict[str, StageResult]] = {each: {} for each in wanted}
        self.seals: dict[str, dict[str, list[str]]] = {each: {} for each in wanted}
        self._read_debates()
        for row, output in OUTPUTS.read(connection, "evaluation", wanted, damaged):
            lost = tuple(map(Status, output.lost))
            self._add(row.evaluation, row.stage, [row.seal], output=output.body, lost=lost)
        for (evaluation, stage), (ratings, seals) in self._in_stages(RATINGS).items():
            self._add(evaluation, stage, seals, ratings=tuple(ratings))
        for (evaluation, stage), (evidence, seals) in self._in_stages(EVIDENCE).items():
            self._add(evaluation, stage, seals, evidence=tuple(evidence))

    def _read_debates(self) -> None:
        rows = STATEMENTS.read(self._connection, "evaluation", self._wanted, self._damaged)
        spoken: dict[str, list[Statement]] = defaultdict(list)
        seals: dict[str, list[str]] = defaultdict(list)
        for row, statement in rows:
            spoken[row.evaluation].append(statement)
            seals[row.evaluation].append(row.seal)
        for row, held in DEBATES.read(self._connection, "evaluation", self._wanted, self._damaged):
            values = held.model_dump()
            about = {name: values.pop(name) for name in HeldDebate.__annotations__}
            transcript = DebateTranscript(**about, statements=tuple(spoken[row.evaluation]))
            debate = Debate(transcript, Verdict(**values))
            own = [row.seal, *seals[row.evaluation]]
            self._add(row.evaluation, DEBATE, own, debate=debate)

    def _in_stages(
        self, table: SealedTable[Any]
    ) -> dict[tuple[str, str], tuple[list[Any], list[str]]]:
        """Records and seals by evaluation and stage."""
        found: dict[tuple[str, str], tuple[list[Any], list[str]]] = {}
        for row, record in table.read(self._connection, "evaluation", self._wanted, self._damaged):
            records, seals = found.setdefault((row.evaluation, row.stage), ([], []))
            records.append(record)
            seals.append(row.seal)
        return found

    def _add(self, evaluation: str, stage: str, seals: Iterable[str], **parts: Any) -> None:
        stages = self.results[evaluation]
        stages[stage] = stages.get(stage, StageResult())._replace(**parts)
        self.seals[evaluation].setdefault(stage, []).extend(seals)


def calls_behind(results: Results) -> tuple[str, ...]:
    """The identities of the model calls that results are based on, without duplicates.

    Those of an output are under the keys `call` and `calls`, wherever in it.
    """
    calls: list[str] = []
    for result in results.values():
        statements = () if result.debate is None else result.debate.transcript.statements
        sources: tuple[Rating | Statement, ...] = (*result.ratings, *statements)
        calls += (call for source in sources for call in source.calls)
        calls += _calls_in(result.output)
    return tuple(dict.fromkeys(calls))


def _calls_in(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        call, calls = value.get("call"), value.get("calls")
        if isinstance(call, str):
            yield call
        if isinstance(calls, list):
            yield from (each for each in calls if isinstance(each, str))
    if isinstance(value, Mapping | list):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _calls_in(each)


def with_statuses(
    connection: Connection, evaluations: Iterable[str], statuses: Iterable[Status]
) -> set[str]:
    """Those of `evaluations` in which a rating, or a part of an output, has such a status."""
    wanted = tuple(status.value for status in statuses)
    is_lost = or_(false(), *(OUTPUTS.c.lost.contains(f'"{status}"') for status in wanted))
    found: set[str] = set()
    for some in chunks(evaluations):
        for table, condition in ((RATINGS, RATINGS.c.status.in_(wanted)), (OUTPUTS, is_lost)):
            query = select(table.c.evaluation).where(condition, table.c.evaluation.in_(some))
            found.update(connection.execute(query).scalars())
    return found
