"""Reading a store: typed, and checked against what was written."""

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from sqlalchemy import Connection, Engine

from recjury.records import CallRecord, ConversationLog, ConversationRecord, Debate, StageResult
from recjury.store.calls import CallReader, Spent, call_identities, read_spent
from recjury.store.campaigns import Campaign, find_campaign, find_id, read_campaigns
from recjury.store.contents import integrity, read_contents, stage_results
from recjury.store.conversations import (
    StoredConversation,
    conversation_ids,
    find_conversation,
    read_conversations,
)
from recjury.store.debate_lists import DebateSummary, debate_summaries, debated
from recjury.store.engine import one_line_errors
from recjury.store.evaluations import StoredEvaluation, find_evaluation, ids_of_evaluations
from recjury.store.evaluators import CampaignEvaluator, read_campaign_evaluators
from recjury.store.face import StoredFace
from recjury.store.failures import (
    Failure,
    Unfinished,
    read_failures,
    read_unfinished,
    unfinished_conversations,
)
from recjury.store.logs import StoredLog, held, logs_of_identities, read_logs, read_record
from recjury.store.results import ConversationResult, read_results
from recjury.store.stages import CONVERSE, check_stages, is_conversation, read_stages
from recjury.store.texts import text_of_hash


class StoreReader:
    """Typed readers over one store.

    Ids are those of rows: what lists and results name. Where a reader is given a prefix, the
    first digits of an id that tell it apart will do.
    """

    def __init__(self, path: Path, engine: Engine):
        """The file, and an engine on it."""
        self.path = path
        self._engine = engine
        self._calls = CallReader(engine)

    def campaigns(self) -> tuple[Campaign, ...]:
        """All campaigns, the oldest first."""
        with self._reading() as connection:
            return read_campaigns(connection)

    def campaign(self, prefix: str) -> Campaign:
        """The one campaign whose id begins so; StoreError if there is none, or several."""
        with self._reading() as connection:
            return find_campaign(connection, prefix)

    def campaign_id(self, identity: str) -> str:
        """What the campaign of this id, or else the newest of this identity, is called; the
        identity, as it will be called, where there is none."""
        with self._reading() as connection:
            return find_id(connection, identity) or identity

    def spent(self, campaign: str) -> Spent:
        """What the calls made first for a campaign itself, its conversations and their
        evaluations have cost so far, whichever campaign of the store asked."""
        with self._reading() as connection:
            return read_spent(connection, campaign)

    def evaluators(self, campaign: str | None = None) -> tuple[CampaignEvaluator, ...]:
        """A campaign's evaluators in order, or those of the whole store: the newest version of
        each name, then the older ones."""
        with self._reading() as connection:
            return read_campaign_evaluators(connection, campaign)

    def conversations(
        self, campaign: str | None = None, system: str | None = None
    ) -> tuple[StoredConversation, ...]:
        """A campaign's conversations in the plan's order, or those of the whole store."""
        with self._reading() as connection:
            ids = conversation_ids(connection, campaign, system)
            return tuple(read_conversations(connection, ids).values())

    def conversation(self, prefix: str) -> StoredConversation:
        """The one conversation whose id begins so; StoreError if there is none, or several."""
        with self._reading() as connection:
            return find_conversation(connection, prefix)

    def held(self, campaign: str) -> dict[str, str]:
        """The log's id of each of a campaign's conversations that has a log."""
        with self._reading() as connection:
            return held(connection, campaign)

    def logs_of(self, identities: Iterable[str]) -> dict[str, str]:
        """The log's id of each of these identities of which a conversation was held."""
        with self._reading() as connection:
            return logs_of_identities(connection, identities)

    def log(self, conversation: str) -> ConversationLog | None:
        """A conversation's log, or None; StoreError if it is not as it was written."""
        with self._reading() as connection:
            stored = _stored_log(connection, conversation)
            return None if stored is None else stored.log

    def record(self, conversation: str) -> ConversationRecord | None:
        """A conversation's log with what its system turns took, or None; raises as `log`."""
        with self._reading() as connection:
            stored = _stored_log(connection, conversation)
            return None if stored is None else read_record(connection, stored)

    def find_evaluations(self, identities: Iterable[str]) -> dict[str, str]:
        """The ids of those evaluations that are there, by identity: of several, the one of which
        a stage was finished last."""
        with self._reading() as connection:
            return ids_of_evaluations(connection, identities)

    def evaluation_stages(self, evaluations: Iterable[str]) -> dict[str, set[str]]:
        """The finished stages of each of `evaluations` that has any."""
        with self._reading() as connection:
            found = read_stages(connection, evaluations)
        # In a store that was migrated, a conversation may be called the same.
        done = {each: stages - {CONVERSE} for each, stages in found.items()}
        return {each: stages for each, stages in done.items() if stages}

    def stage_results(self, evaluation: str) -> dict[str, StageResult]:
        """What each finished stage of an evaluation gave; StoreError for altered rows."""
        with self._reading() as connection:
            return stage_results(connection, evaluation)

    def evaluation(self, prefix: str) -> StoredEvaluation:
        """The one evaluation whose id begins so; StoreError if there is none, or several."""
        with self._reading() as connection:
            return find_evaluation(connection, prefix)

    def debate(self, evaluation: str) -> Debate | None:
        """An evaluation's transcript and verdict, or None; StoreError if not as it was written."""
        with self._reading() as connection:
            stored = read_contents(connection, [evaluation])[evaluation].debate
            return None if stored is None else stored.debate

    def debates(self, campaign: str | None = None) -> tuple[DebateSummary, ...]:
        """A line per debate, in the plan's order; read without checking."""
        with self._reading() as connection:
            return debate_summaries(connection, campaign)

    def debated(self, campaign: str | None = None) -> tuple[str, ...]:
        """The evaluations that must have a debate, forks included, by all that is left of them;
        without checking."""
        with self._reading() as connection:
            return debated(connection, campaign)

    def face(self, evaluation: str) -> StoredFace:
        """An evaluation's particles and their scores; StoreError if not as they were written."""
        with self._reading() as connection:
            return read_contents(connection, [evaluation])[evaluation].face

    def results(
        self, campaign: str | None = None, system: str | None = None
    ) -> Iterator[ConversationResult]:
        """What came of each conversation, in the plan's order; StoreError for altered rows."""
        with one_line_errors(self.path):
            yield from read_results(self._engine, campaign, system)

    def failures(self, unit: str) -> tuple[Failure, ...]:
        """Everything that failed in a conversation or an evaluation, the oldest first."""
        with self._reading() as connection:
            return tuple(read_failures(connection, [unit]).get(unit, ()))

    def unfinished(self, conversation: str) -> Unfinished | None:
        """What was said until a conversation failed; None where it did not, or was held since.
        StoreError if it is not as it was written."""
        with self._reading() as connection:
            return read_unfinished(connection, conversation)

    def unfinished_conversations(self, campaign: str | None = None) -> tuple[str, ...]:
        """The conversations of which `unfinished` has something, in the plan's order."""
        with self._reading() as connection:
            return unfinished_conversations(connection, campaign)

    def call(self, identity: str) -> CallRecord:
        """A recorded call, prompt parts as they were; StoreError if missing or altered."""
        return self._calls.call(identity)

    def calls(self, campaign: str | None = None) -> Iterator[CallRecord]:
        """All calls in order, or those made first for a campaign itself, its conversations and
        their evaluations, whichever campaign of the store asked; those of forks not."""
        with self._reading() as connection:
            identities = call_identities(connection, campaign)
        return map(self._calls.call, identities)

    def text(self, digest: str) -> str:
        """The text of a SHA-256 in hex; StoreError if missing or altered."""
        with self._reading() as connection:
            return text_of_hash(connection, digest)

    def integrity(self, unit: str) -> tuple[str, ...]:
        """What is not as it was written in a conversation or an evaluation and in the calls
        behind it, a line each."""
        with self._reading() as connection:
            return integrity(connection, self._calls, unit)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Connection]:
        with one_line_errors(self.path), self._engine.connect() as connection:
            yield connection


def _stored_log(connection: Connection, conversation: str) -> StoredLog | None:
    stored = read_logs(connection, [conversation]).get(conversation)
    seals = {} if stored is None else {CONVERSE: stored.seals}
    check_stages(connection, {conversation: seals}, concerned=is_conversation)
    return stored
