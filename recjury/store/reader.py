"""Read a store: the values are typed, and compared with their seals."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from sqlalchemy import Connection, Engine

from recjury.records import (
    CallRecord,
    ConversationLog,
    ConversationRecord,
    Debate,
    StageResult,
    Status,
)
from recjury.store.call_counts import CampaignCalls, read_call_counts
from recjury.store.calls import (
    CallReader,
    Spent,
    call_identities,
    read_spent,
    read_spent_by_unit,
)
from recjury.store.campaigns import Campaign, find_campaign, read_campaigns
from recjury.store.contents import WholeEvaluation, integrity, read_whole
from recjury.store.conversations import (
    PlannedConversation,
    conversation_ids,
    find_conversation,
    read_conversations,
)
from recjury.store.debate_lists import DebateSummary, debate_summaries, debated
from recjury.store.engine import one_line_errors
from recjury.store.evaluations import (
    StoredEvaluation,
    attempts_of,
    find_evaluation,
    ids_of_evaluations,
)
from recjury.store.evaluators import CampaignEvaluator, read_campaign_evaluators
from recjury.store.failures import (
    Failure,
    Unfinished,
    read_failures,
    read_unfinished,
    unfinished_conversations,
)
from recjury.store.logs import StoredLog, log_ids, log_ids_of, read_logs, read_record
from recjury.store.measurements import Measurement, read_measurements
from recjury.store.results import ConversationResult, read_results
from recjury.store.stage_results import DEBATE, read_stage_results, with_statuses
from recjury.store.stages import CONVERSE, check_stages, is_conversation, read_stages
from recjury.store.texts import text_of_hash


class StoreReader:
    """Typed readers over one store.

    Ids are those of rows, as lists and results show them. A `prefix` is the beginning of an id,
    long enough that only one id begins with it.
    """

    def __init__(self, path: Path, engine: Engine):
        """`path` is the store's file, and `engine` an engine on it."""
        self.path = path
        self._engine = engine
        self._calls = CallReader(engine)

    def measurements(self, kind: str) -> tuple[Measurement, ...]:
        """What was measured of models, the oldest first; raises StoreError for an altered row."""
        with self._reading() as connection:
            return read_measurements(connection, kind)

    def campaigns(self) -> tuple[Campaign, ...]:
        """All campaigns, the oldest first."""
        with self._reading() as connection:
            return read_campaigns(connection)

    def campaign(self, prefix: str) -> Campaign:
        """The only campaign whose id begins with `prefix`. Raises StoreError for none or
        several."""
        with self._reading() as connection:
            return find_campaign(connection, prefix)

    def spent(self, campaign: str) -> Spent:
        """The total of the calls made first for a campaign itself, its conversations and their
        evaluations.

        A call that another campaign reuses counts where it was first made.
        """
        with self._reading() as connection:
            return read_spent(connection, campaign)

    def spent_by_unit(self, campaign: str) -> dict[str, Spent]:
        """As `spent`, by the conversation or evaluation that the calls were made for."""
        with self._reading() as connection:
            return read_spent_by_unit(connection, campaign)

    def call_counts(self, campaign: str) -> CampaignCalls:
        """The calls that `spent` adds up, counted by stage and model."""
        with self._reading() as connection:
            return read_call_counts(connection, campaign)

    def evaluators(self, campaign: str | None = None) -> tuple[CampaignEvaluator, ...]:
        """A campaign's evaluators in order; with None, those of the whole store.

        Those of the whole store are the newest version of each name, then the older ones.
        """
        with self._reading() as connection:
            return read_campaign_evaluators(connection, campaign)

    def conversations(
        self, campaign: str | None = None, system: str | None = None
    ) -> tuple[PlannedConversation, ...]:
        """A campaign's conversations in the plan's order; with None, those of the whole store."""
        with self._reading() as connection:
            ids = conversation_ids(connection, campaign, system)
            return tuple(read_conversations(connection, ids).values())

    def conversation(self, prefix: str) -> PlannedConversation:
        """The only conversation whose id begins with `prefix`. Raises StoreError for none or
        several."""
        with self._reading() as connection:
            return find_conversation(connection, prefix)

    def log_ids(self, campaign: str) -> dict[str, str]:
        """The id of the log of each of a campaign's conversations that has one."""
        with self._reading() as connection:
            return log_ids(connection, campaign)

    def log_ids_of(self, conversations: Iterable[str]) -> dict[str, str]:
        """The id of the log of each of `conversations` that has one."""
        with self._reading() as connection:
            return log_ids_of(connection, conversations)

    def log(self, conversation: str) -> ConversationLog | None:
        """A conversation's log, or None. Raises StoreError if it was altered."""
        with self._reading() as connection:
            stored = _stored_log(connection, conversation)
            return None if stored is None else stored.log

    def record(self, conversation: str) -> ConversationRecord | None:
        """A conversation's log with the seconds and costs of its turns, or None; raises as
        `log`."""
        with self._reading() as connection:
            stored = _stored_log(connection, conversation)
            return None if stored is None else read_record(connection, stored)

    def find_evaluations(self, identities: Iterable[str]) -> dict[str, str]:
        """The id of the evaluation for each identity in the store: of its latest attempt."""
        with self._reading() as connection:
            return ids_of_evaluations(connection, identities)

    def evaluation_stages(self, evaluations: Iterable[str]) -> dict[str, set[str]]:
        """The finished stages of each evaluation that has any."""
        with self._reading() as connection:
            return read_stages(connection, evaluations)

    def attempts(self, evaluation: str) -> tuple[str, ...]:
        """The ids of all attempts at an evaluation, the oldest first; the last one counts."""
        with self._reading() as connection:
            return attempts_of(connection, evaluation)

    def evaluations_with(self, evaluations: Iterable[str], statuses: Iterable[Status]) -> set[str]:
        """Those of `evaluations` in which anything has one of these statuses; unchecked."""
        with self._reading() as connection:
            return with_statuses(connection, evaluations, statuses)

    def stage_results(self, evaluation: str) -> Mapping[str, StageResult]:
        """The result of each finished stage of an evaluation. Raises StoreError for altered
        rows."""
        with self._reading() as connection:
            return read_stage_results(connection, [evaluation])[evaluation]

    def evaluation(self, prefix: str) -> StoredEvaluation:
        """The only evaluation whose id begins with `prefix`. Raises StoreError for none or
        several."""
        with self._reading() as connection:
            return find_evaluation(connection, prefix)

    def debate(self, evaluation: str) -> Debate | None:
        """An evaluation's transcript and verdict, or None. Raises StoreError if they were
        altered."""
        debating = self.stage_results(evaluation).get(DEBATE)
        return None if debating is None else debating.debate

    def debates(self, campaign: str | None = None) -> tuple[DebateSummary, ...]:
        """One line per debate, in the plan's order; read without checking."""
        with self._reading() as connection:
            return debate_summaries(connection, campaign)

    def debated(self, campaign: str | None = None) -> tuple[str, ...]:
        """The evaluations that should have a debate, forks included; read without checking."""
        with self._reading() as connection:
            return debated(connection, campaign)

    def results(
        self,
        campaign: str | None = None,
        system: str | None = None,
        conversations: Sequence[str] | None = None,
    ) -> Iterator[ConversationResult]:
        """The result of each conversation, in the plan's order, or of `conversations`, in theirs.

        Raises StoreError for altered rows.
        """
        with one_line_errors(self.path):
            yield from read_results(self._engine, campaign, system, conversations)

    def failures(self, unit: str) -> tuple[Failure, ...]:
        """Everything that failed in a conversation or an evaluation, the oldest first."""
        with self._reading() as connection:
            return tuple(read_failures(connection, [unit]).get(unit, ()))

    def unfinished(self, conversation: str) -> Unfinished | None:
        """What was said until a conversation failed; None if it did not fail, or was held later.

        Raises StoreError if it was altered.
        """
        with self._reading() as connection:
            return read_unfinished(connection, [conversation]).get(conversation)

    def unfinished_conversations(self, campaign: str | None = None) -> tuple[str, ...]:
        """The conversations for which `unfinished` returns something, in the plan's order."""
        with self._reading() as connection:
            return unfinished_conversations(connection, campaign)

    def call(self, identity: str) -> CallRecord:
        """A recorded call with its prompt parts. Raises StoreError if it is missing or was
        altered."""
        return self._calls.call(identity)

    def calls(self, campaign: str | None = None) -> Iterator[CallRecord]:
        """All calls in order; with a campaign, those first made for it.

        These are calls for the campaign itself, its conversations and their evaluations. Calls of
        forks do not count.
        """
        with self._reading() as connection:
            identities = call_identities(connection, campaign)
        return map(self._calls.call, identities)

    def text(self, digest: str) -> str:
        """The text with a SHA-256 in hex. Raises StoreError if it is missing or was altered."""
        with self._reading() as connection:
            return text_of_hash(connection, digest)

    def integrity(self, unit: str) -> tuple[str, ...]:
        """The problems with the rows of a conversation or an evaluation and of its calls, a line
        each.

        It is empty if nothing was altered.
        """
        with self._reading() as connection:
            return integrity(connection, self._calls, unit)

    def whole(self, evaluations: Iterable[str]) -> dict[str, WholeEvaluation]:
        """All of `evaluations`, if `integrity` finds no problem in any of them, else none."""
        with self._reading() as connection:
            return read_whole(connection, self._calls, evaluations)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Connection]:
        with one_line_errors(self.path), self._engine.connect() as connection:
            yield connection


def _stored_log(connection: Connection, conversation: str) -> StoredLog | None:
    stored = read_logs(connection, [conversation]).get(conversation)
    seals = {} if stored is None else {CONVERSE: stored.seals}
    check_stages(connection, {conversation: seals}, concerned=is_conversation)
    return stored
