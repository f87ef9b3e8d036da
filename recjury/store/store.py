"""The store: all data of campaigns in one SQLite file."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from sqlalchemy import Engine

from recjury.errors import StoreError
from recjury.records import JSON, ConversationLog, StageResult
from recjury.store.campaigns import Campaign, begin_campaign, write_learned
from recjury.store.claim import claim
from recjury.store.conversations import PlannedConversation, write_plan
from recjury.store.engine import (
    connect,
    for_writing,
    one_line_errors,
    store_path,
)
from recjury.store.evaluations import (
    EvaluationHandle,
    PlannedEvaluation,
    find_handle,
    write_evaluations,
)
from recjury.store.evaluators import PlannedEvaluator, write_evaluators
from recjury.store.failures import FailedStage, Failure, write_failures
from recjury.store.forks import ForkedEvaluation, write_forks
from recjury.store.logs import FinishedLog, write_logs
from recjury.store.measurements import Measurement, write_measurement
from recjury.store.reader import StoreReader
from recjury.store.recorder import StoreRecorder
from recjury.store.running import RunningCampaign
from recjury.store.schema import check_schema, has_content, make_store
from recjury.store.stage_results import (
    DEBATE,
    FinishedStage,
    RepeatedEvaluation,
    check_stage,
    write_repeated,
    write_stages,
)
from recjury.store.texts import Interner
from recjury.store.writer import Transaction, Writer, write_all

T = TypeVar("T")


class Store(StoreReader):
    """Typed readers and writers over one store. Close it, or use it in a `with` statement.

    The `save_*` writers are for many units at the same time: they share the transactions of one
    writer thread, and return when their rows are committed. A finished stage is never overwritten.
    """

    def __init__(self, path: Path, engine: Engine):
        """Use `open` or `at` instead: they check the schema."""
        super().__init__(path, engine)
        self._writer = Writer(engine)

    @classmethod
    def open(cls, url: str, *, create: bool = True, read_only: bool = False) -> Self:
        """Open a store (`sqlite:///runs.db`, or a path).

        With `create`, a missing one is made with its folder. With `read_only`, none is made, and
        none is changed: it may lie in a folder that cannot be written. Raises StoreError if there
        is no store and none is to be made, if it cannot be opened, if it has another schema than
        this version's, or if the file is not a store.
        """
        path = _without_link(store_path(url))
        if (read_only or not create) and not has_content(path):
            raise StoreError(f"there is no store at {path}: run a campaign first, or name another")
        store = cls(path, connect(path, read_only=read_only))
        store.create()
        return store

    @classmethod
    def at(cls, url: str) -> Self:
        """Like `open`, but a store that does not exist is not made before `create` is called.

        Until then nothing can be read or written. Raises StoreError as `open`.
        """
        path = _without_link(store_path(url))
        store = cls(path, connect(path))
        if store.exists:
            store.create()
        return store

    @property
    def exists(self) -> bool:
        """Whether there is a store, and not only an empty file."""
        return has_content(self.path)

    def create(self) -> None:
        """Make the folder and the file if there are none, and check the schema.

        Raises StoreError.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"the store {self.path}: its folder cannot be made: {error}"
            ) from error
        try:
            with one_line_errors(self.path):
                make_store(self.path)
                with self._engine.connect() as connection, connection.begin():
                    check_schema(connection)
        except BaseException:
            self._engine.dispose()
            raise

    def close(self) -> None:
        """Commit everything submitted, and close the file."""
        self._writer.close()
        self._calls.close()
        self._engine.dispose()

    def __enter__(self) -> Self:
        """The store itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()

    def recorder(self) -> StoreRecorder:
        """The recorder of a gateway's model calls; `async with` waits until the last ones are
        written."""
        return StoreRecorder(self._engine, self._writer)

    @contextlib.contextmanager
    def claim(self, campaign: str) -> Iterator[None]:
        """Lock a campaign while it runs. Raises StoreError if another running process holds the
        lock."""
        with claim(self.path, campaign):
            self.running(campaign).forget()
            yield

    def running(self, campaign: str) -> RunningCampaign:
        """A campaign as a running process shows it, and how to change its limits."""
        return RunningCampaign(self.path, campaign)

    def begin(self, campaign: Campaign) -> None:
        """Add a campaign, or another run of the one with its id."""
        self._write(lambda transaction: begin_campaign(transaction, campaign))

    def save_learned(self, campaign: str, learned: Mapping[str, JSON]) -> None:
        """Keep what the campaign's current run has learned of its endpoints, by model."""
        self._write(lambda transaction: write_learned(transaction, campaign, learned))

    def save_measurement(self, measurement: Measurement) -> None:
        """Keep what was measured of a model."""
        self._write(lambda transaction: write_measurement(transaction, measurement))

    def plan(self, campaign: str, planned: Sequence[PlannedConversation]) -> int:
        """Add conversations to a campaign, in the plan's order.

        Those that the store has are used. Other conversations of the campaign with the same system,
        scenario and repeat as a planned one are set aside; returns how many.
        """
        return self._write(lambda transaction: write_plan(transaction, campaign, planned))

    def join(self, campaign: str, planned: Sequence[PlannedEvaluator]) -> None:
        """Make evaluators those of a campaign's conversations, in this order.

        A version that the campaign had before keeps the metrics it had.
        """
        self._write(lambda transaction: write_evaluators(transaction, campaign, planned))

    async def save_log(
        self,
        conversation: str,
        log: ConversationLog,
        seconds: Sequence[float | None] = (),
        costs: Sequence[float | None] = (),
    ) -> None:
        """Finish a conversation; `seconds` and `costs` (US dollars) are by system turn.

        They are used for turns without calls, and for turns whose calls the store does not have.
        """
        finished = FinishedLog(conversation, log, tuple(seconds), tuple(costs))
        await self._writer.submit(write_logs, finished)

    async def get_or_create_evaluation(self, planned: PlannedEvaluation) -> EvaluationHandle:
        """The row of an evaluation, so that its calls count before a stage is done."""
        if (there := self._find(planned, is_new=False)) is not None:
            return there
        await self._writer.submit(write_evaluations, planned)
        there = self._find(planned, is_new=True)
        assert there is not None
        return there

    async def save_stage(self, planned: PlannedEvaluation, stage: str, result: StageResult) -> None:
        """Finish a stage of an evaluation; the evaluation's row is added if it is missing.

        Raises UnitFailed for a result that cannot be stored: invalid JSON, or a debate of another
        stage than "debate".
        """
        check_stage(stage, result)
        await self._writer.submit(write_stages, FinishedStage(planned, stage, result))

    async def save_attempt(
        self, planned: PlannedEvaluation, results: Mapping[str, StageResult]
    ) -> None:
        """Store another attempt at an evaluation that the store has; from then on it counts.

        `results` are those of all its stages, also of those that were not done again. The earlier
        attempts stay (`attempts`). Raises as `save_stage`.
        """
        for stage, result in results.items():
            check_stage(stage, result)
        await self._writer.submit(write_repeated, RepeatedEvaluation(planned, results))

    async def save_fork(self, fork: ForkedEvaluation, result: StageResult) -> None:
        """Store a changed copy of a debate.

        Raises as `save_stage`, and StoreError if the original is missing.
        """
        check_stage(DEBATE, result)
        await self._writer.submit(write_forks, (fork, result))

    async def save_failure(
        self, unit: str, stage: str, reason: str, said: ConversationLog | None = None
    ) -> None:
        """Store why a stage of a conversation or an evaluation failed, and what was `said` until
        then.

        The stage can still be run again.
        """
        failure = Failure(unit, stage, reason, time.time())
        await self._writer.submit(write_failures, FailedStage(failure, said))

    def _find(self, planned: PlannedEvaluation, *, is_new: bool) -> EvaluationHandle | None:
        with self._reading() as connection:
            return find_handle(connection, planned.identity, is_new=is_new)

    def _write(self, write: Callable[[Transaction], T]) -> T:
        with one_line_errors(self.path), self._engine.connect() as connection:
            transaction = Transaction(for_writing(connection), Interner(self._engine))
            return write_all(transaction, write)


def _without_link(path: Path) -> Path:
    """The file that a symbolic link leads to: its locks and logs lie beside it, and not beside the
    link."""
    return path.resolve() if path.is_symlink() else path
