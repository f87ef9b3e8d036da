"""The store: all data of campaigns in one SQLite file, or one database of PostgreSQL."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from types import TracebackType
from typing import Self, TypeVar

from sqlalchemy import Connection

from recjury.errors import StoreError
from recjury.records import CallRecord
from recjury.store.call_counts import (
    call_identities,
    find_record,
    read_call_counts,
    read_spent,
    read_spent_by_unit,
)
from recjury.store.calls import read_call
from recjury.store.campaigns import begin_campaign, find_campaign, read_campaigns, write_learned
from recjury.store.column_types import WrongTypeError
from recjury.store.contents import integrity, read_whole
from recjury.store.conversations import (
    Placed,
    PlannedConversation,
    campaign_conversations,
    conversation_ids,
    corpora_of,
    find_conversation,
    read_conversations,
    systems_of,
    users_of,
    write_plan,
)
from recjury.store.counts import read_counts
from recjury.store.debate_lists import debate_summaries, debated
from recjury.store.engine import one_line_errors
from recjury.store.evaluations import (
    EvaluationHandle,
    PlannedEvaluation,
    add_evaluation,
    attempts_of,
    find_evaluation,
    find_handle,
    ids_of_evaluations,
)
from recjury.store.evaluators import read_campaign_evaluators, write_evaluators
from recjury.store.failures import (
    find_unfinished,
    unfinished_conversations,
    unit_failures,
    write_failure,
)
from recjury.store.location import StoreLocation
from recjury.store.logs import find_log, log_ids_of, write_log
from recjury.store.measurements import read_measurements, write_measurement
from recjury.store.methods import queues, reads, writes
from recjury.store.recorder import StoreRecorder
from recjury.store.remaking import KEYS, Remade, remake_page
from recjury.store.results import ConversationResult, read_results
from recjury.store.running import RunningCampaign, Worker
from recjury.store.schema import check_schema
from recjury.store.sealed import changed
from recjury.store.selection import selected
from recjury.store.stage_results import (
    find_debate,
    stage_results,
    with_statuses,
    write_attempt,
    write_fork,
    write_stage,
)
from recjury.store.stages import read_stages
from recjury.store.texts import chunks
from recjury.store.url import location_of
from recjury.store.verification import VerifiedStore, verify_store
from recjury.store.writer import Transaction, Writer, transactions, write_all

T = TypeVar("T")


def _each(transaction: Transaction, writes: Sequence[Callable[[Transaction], object]]) -> None:
    for write in writes:
        write(transaction)


class Store:
    """One store, open. Close it, or use it in a `with` statement.

    Its methods are the functions of the files beside this one. Those that read compare the values
    with their seals. Ids are those of rows, as lists and results show them; a `prefix` is the
    beginning of an id, long enough that only one id begins with it. The `save_*` methods are for
    many units at the same time. A finished stage is never overwritten.
    """

    def __init__(self, location: StoreLocation, *, read_only: bool = False):
        """Use `open` or `at` instead: they check the schema."""
        self.location = location
        self._engine = location.connect(read_only=read_only)
        self._writer = None if read_only else Writer(location, self._engine)

    @classmethod
    def open(cls, url: str, *, create: bool = True, read_only: bool = False) -> Self:
        """Open a store (`sqlite:///runs.db`, a path, or `postgresql://user@host/database`).

        With `create`, a missing one is made: a file with its folder, or tables in a database. With
        `read_only`, none is made, and none is changed: it may lie in a folder that cannot be
        written. Raises StoreError if there is no store and none is to be made, if it cannot be
        opened, if it has another schema than this version's, or if it is not a store.
        """
        location = location_of(url)
        if (read_only or not create) and not location.exists:
            raise StoreError(
                f"there is no store at {location}: run a campaign first, or name another"
            )
        store = cls(location, read_only=read_only)
        store.create()
        return store

    @classmethod
    def at(cls, url: str) -> Self:
        """Like `open`, but a store that does not exist is not made before `create` is called.

        Until then nothing can be read or written. Raises StoreError as `open`.
        """
        store = cls(location_of(url))
        if store.exists:
            store.create()
        return store

    @property
    def exists(self) -> bool:
        """Whether there is a store, and not only an empty file or database."""
        return self.location.exists

    def create(self) -> None:
        """Make the store if there is none, and check the schema. Raises StoreError."""
        try:
            with one_line_errors(self.location):
                self.location.make()
                with self._engine.connect() as connection:
                    with connection.begin():
                        check_schema(connection)
                    self.location.check(connection)
        except OSError as error:
            self._engine.dispose()
            raise StoreError(
                f"the store {self.location} cannot be made: {error.strerror}"
            ) from error
        except BaseException:
            self._engine.dispose()
            raise

    def close(self) -> None:
        """Commit everything submitted, and close the file."""
        if self._writer is not None:
            self._writer.close()
        self._engine.dispose()
        if self._writer is not None:
            self.location.close()

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
        return StoreRecorder(self.location, self._engine, self._queue)

    def working(self, campaign: str) -> contextlib.AbstractContextManager[Worker]:
        """This process as one that runs a campaign; others see it. Raises StoreError."""
        return Worker(self, campaign).registered()

    def running(self, campaign: str) -> RunningCampaign:
        """A campaign as running processes show it, and how to change their limits."""
        return RunningCampaign(self, campaign)

    campaigns = reads(read_campaigns)
    campaign = reads(find_campaign)
    evaluators = reads(read_campaign_evaluators)
    measurements = reads(read_measurements)

    conversations = reads(campaign_conversations)
    conversation = reads(find_conversation)
    systems = reads(systems_of)
    selected = reads(selected)
    corpora = reads(corpora_of)
    users = reads(users_of)
    log_ids_of = reads(log_ids_of)
    log = reads(find_log)
    record = reads(find_record)
    failures = reads(unit_failures)
    unfinished = reads(find_unfinished)
    unfinished_conversations = reads(unfinished_conversations)

    evaluation = reads(find_evaluation)
    attempts = reads(attempts_of)
    find_evaluations = reads(ids_of_evaluations)
    evaluations_with = reads(with_statuses)
    evaluation_stages = reads(read_stages)
    stage_results = reads(stage_results)
    debate = reads(find_debate)
    debates = reads(debate_summaries)
    debated = reads(debated)

    call = reads(read_call)
    spent = reads(read_spent)
    spent_by_unit = reads(read_spent_by_unit)
    call_counts = reads(read_call_counts)
    counts = reads(read_counts)
    _integrity = reads(integrity)
    whole = reads(read_whole)

    def integrity(self, unit: str) -> tuple[str, ...]:
        """As `store.contents.integrity`; a value of a wrong type is a problem, too."""
        try:
            return self._integrity(unit)
        except WrongTypeError as error:
            return (str(error),)

    def verify(self) -> VerifiedStore:
        """All rows, compared with their seals and hashes. Raises StoreError for an empty store."""
        return self.read(lambda connection: verify_store(connection, self.location))

    def calls(self, campaign: str | None = None) -> Iterator[CallRecord]:
        """All calls in order, or those made for a campaign; no transaction is open between two."""
        with self.reading() as connection:
            identities = call_identities(connection, campaign)
        return map(self.call, identities)

    def planned(
        self, campaign: str | None, conversations: Iterable[str] | None = None
    ) -> Iterator[PlannedConversation]:
        """A campaign's conversations as planned, in order, or those with these ids, in theirs."""
        if conversations is None:
            with self.reading() as connection:
                conversations = conversation_ids(connection, campaign)
        for some in chunks(conversations):
            with self.reading() as connection:
                found = read_conversations(connection, some)
            yield from found.values()

    def results(
        self,
        campaign: str | None = None,
        system: str | None = None,
        conversations: Iterable[str] | None = None,
        *,
        whole: bool = True,
    ) -> Iterator[ConversationResult]:
        """The result of each conversation, in the plan's order, or of `conversations`, in theirs.

        Without `whole`, they have what tables add up alone, which is twenty times faster. Raises
        StoreError for altered rows.
        """
        with one_line_errors(self.location):
            yield from read_results(self._engine, campaign, system, conversations, whole=whole)

    def summarise(self) -> Remade:
        """Make all summaries again from the rows. Raises StoreError for altered rows."""
        total = Remade()
        for key in KEYS:
            last = ""
            while page := self.write(partial(remake_page, key=key, last=last)):
                last, remade = page
                total = total.plus(remade)
        return total

    def plan(self, campaign: str, planned: Iterable[PlannedConversation | Placed]) -> int:
        """As `store.conversations.write_plan`, in transactions of its own. Raises StoreError."""
        with self._writing() as transaction:
            return write_plan(transaction, campaign, planned)

    begin = writes(begin_campaign)
    join = writes(write_evaluators)
    save_learned = writes(write_learned)
    save_measurement = writes(write_measurement)

    save_log = queues(write_log)
    save_stage = queues(write_stage)
    save_attempt = queues(write_attempt)
    save_fork = queues(write_fork)
    save_failure = queues(write_failure)
    _add_evaluation = queues(add_evaluation)

    async def get_or_create_evaluation(self, planned: PlannedEvaluation) -> EvaluationHandle:
        """The row of an evaluation, so that its calls count before a stage is done."""
        if (there := self._handle(planned.identity, is_new=False)) is not None:
            return there
        await self._add_evaluation(planned)
        there = self._handle(planned.identity, is_new=True)
        if there is None:  # a row with its id is of another evaluation
            raise changed(f"evaluation {planned.identity} in the store")
        return there

    _handle = reads(find_handle)

    @property
    def _queue(self) -> Writer:
        if self._writer is None:
            raise StoreError(f"the store {self.location} was opened for reading only")
        return self._writer

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection to read from. Raises StoreError for an error that the user can fix."""
        with one_line_errors(self.location), self._engine.connect() as connection:
            yield connection

    def read(self, read: Callable[[Connection], T]) -> T:
        """What `read` returns; it gets a connection of its own. Raises StoreError."""
        with self.reading() as connection:
            return read(connection)

    async def queue(self, write: Callable[[Transaction], object]) -> None:
        """Share a transaction of the writer thread; return when it is committed."""
        await self._queue.submit(_each, write)

    def write(self, write: Callable[[Transaction], T]) -> T:
        """What `write` returns, once it is committed; it gets a transaction of its own."""
        with self._writing() as transaction:
            return write_all(transaction, write)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Transaction]:
        with (
            one_line_errors(self.location),
            transactions(self.location, self._engine) as transaction,
        ):
            yield transaction
