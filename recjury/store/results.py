"""Results of conversations and evaluations, for tables, comparisons and exports."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, select

from recjury.records import Ending, Evidence, Rating, StageResult
from recjury.store.conversations import CONVERSATIONS, conversation_ids, declaring_settings
from recjury.store.evaluations import LogEvaluation, evaluations_of_logs
from recjury.store.evaluators import CampaignEvaluator, read_campaign_evaluators
from recjury.store.failures import Failure, read_failures
from recjury.store.fetching import fetch
from recjury.store.logs import read_logs
from recjury.store.sealed import changed
from recjury.store.stage_results import read_stage_results
from recjury.store.stages import CONVERSE
from recjury.store.summaries import (
    NO_SCORES,
    LogSummary,
    StageScores,
    SummaryReader,
    joined,
    scores_of_stage,
    summary_of_log,
)

_CHUNK = 500  # conversations read at once, which limits memory


class _Planned(NamedTuple):
    """What tables need of a row of `conversation`."""

    id: str
    system: str
    scenario: str
    corpus: str
    repeat: int
    settings: int


_PLANNED = select(*(CONVERSATIONS.c[name] for name in _Planned._fields))


class EvaluationResult(NamedTuple):
    """The result of one evaluation so far.

    `label` is its evaluator's label in the campaign; `judging` counts from 0. `stages` are the
    finished ones. `failures` maps each stage that failed and is not finished to its latest reason.
    `scores` are those of all stages; `ratings` and `evidence` are only there if everything was
    asked for.
    """

    evaluation: str
    label: str
    judging: int
    stages: frozenset[str]
    failures: Mapping[str, str]
    scores: StageScores = NO_SCORES
    ratings: tuple[Rating, ...] = ()
    evidence: tuple[Evidence, ...] = ()


class ConversationResult(NamedTuple):
    """The result of one conversation so far.

    `log` is the log's id. Without a log it is None, and `failure` has the reason of the latest
    failure, if there was one; `is_lost` says whether this counts as lost ratings. `pair` is the key
    by which its scenario is paired when systems are compared; `rounds` counts system turns;
    `has_list` is True if any of them has a list; `person` says in a line who the user was, and is
    empty for the plain user. `acts` counts the acts that a user declared and that were dropped, and
    those that differ from its words; None if it declares none. `evaluations` are those by the
    campaign's evaluators, in their order. If one evaluator has several for one judging (because its
    part of the corpus has changed), only the last is included. Forks are not included.
    """

    conversation: str
    system: str
    scenario: str
    corpus: str
    repeat: int
    log: str | None = None
    failure: str | None = None
    is_lost: bool = False
    pair: str | None = None
    target_seen: bool = False
    ending: Ending | None = None
    rounds: int = 0
    has_list: bool = False
    items_linked: bool = False
    person: str = ""
    acts: tuple[int, int] | None = None
    evaluations: tuple[EvaluationResult, ...] = ()


def read_results(
    engine: Engine,
    campaign: str | None = None,
    system: str | None = None,
    conversations: Iterable[str] | None = None,
    *,
    whole: bool = True,
) -> Iterator[ConversationResult]:
    """The results of a campaign's conversations in the plan's order; with None, of all.

    If ids of `conversations` are given, the results are those of these, in their order. Without
    `whole`, they are made of the summaries of stages: without evidence, and without the texts of
    ratings. Raises StoreError for altered rows. No transaction is open between results of different
    batches.
    """
    with engine.connect() as connection:
        evaluators = read_campaign_evaluators(connection, campaign)
        if conversations is None:
            conversations = conversation_ids(connection, campaign, system)
        declaring = declaring_settings(connection)
    ids, summaries = iter(conversations), None if whole else SummaryReader()
    while some := tuple(islice(ids, _CHUNK)):
        with engine.connect() as connection:
            reading = _Reading(connection, evaluators, declaring, summaries)
            yield from reading.results(some)


class _Reading:
    """Reads some conversations in one view of the store: everything without `summaries`."""

    def __init__(
        self,
        connection: Connection,
        evaluators: Sequence[CampaignEvaluator],
        declaring: frozenset[int],
        summaries: SummaryReader | None,
    ):
        self._connection, self._summaries = connection, summaries
        self._evaluators, self._declaring = evaluators, declaring
        self._places = {each.id: place for place, each in enumerate(evaluators)}

    def results(self, ids: Sequence[str]) -> list[ConversationResult]:
        """The results of conversations, in their order."""
        planned, logs = self._planned(ids), self._logs(ids)
        missing = [each for each in ids if each not in logs]
        failures = read_failures(self._connection, missing)
        evaluations = self._evaluations({each.log for each in logs.values()})
        return [
            self._result(
                planned[each],
                logs.get(each),
                failures.get(each, ()),
                evaluations.get(logs[each].log, ()) if each in logs else (),
            )
            for each in ids
        ]

    def _planned(self, ids: Sequence[str]) -> dict[str, Any]:
        """The rows of conversations. Raises StoreError for one that is missing or was altered."""
        if self._summaries is None:
            return {row.id: row for row, _ in CONVERSATIONS.find(self._connection, ids)}
        rows = fetch(self._connection, _PLANNED, CONVERSATIONS.c.id, ids)
        found = {row[0]: _Planned._make(row) for row in rows}
        if len(found) < len(set(ids)):
            list(CONVERSATIONS.find(self._connection, ids))  # names the one that is missing
        return found

    def _logs(self, ids: Sequence[str]) -> dict[str, LogSummary]:
        if self._summaries is not None:
            return self._summaries.logs(self._connection, ids)
        return {
            each: summary_of_log(stored.digest, stored.body)
            for each, stored in read_logs(self._connection, ids).items()
        }

    def _result(
        self,
        row: Any,
        log: LogSummary | None,
        failures: Sequence[Failure],
        evaluations: Sequence[EvaluationResult],
    ) -> ConversationResult:
        about = (row.id, row.system, row.scenario, row.corpus, row.repeat)
        if log is None:
            latest = next((each for each in failures[::-1] if each.stage == CONVERSE), None)
            if latest is None:
                return ConversationResult(*about)
            pair = None if latest.log is None else latest.log.scenario.pair_id
            return ConversationResult(
                *about, failure=latest.reason, is_lost=latest.is_loss, pair=pair
            )
        if row.system != log.system:  # the log has a seal of its own
            raise changed(f"conversation {row.id} in the store")
        return ConversationResult(
            *about,
            log=log.log,
            pair=log.pair,
            target_seen=log.target_seen,
            ending=log.ending,
            rounds=log.rounds,
            has_list=log.has_list,
            items_linked=log.items_linked,
            person=log.person,
            acts=log.acts if row.settings in self._declaring else None,
            evaluations=tuple(evaluations),
        )

    def _evaluations(self, logs: Iterable[str]) -> dict[str, list[EvaluationResult]]:
        """Evaluations by the log's id, in the order of `evaluators`."""
        places, whole = self._places, self._summaries is None
        found = evaluations_of_logs(self._connection, logs, self._is_wanted, whole=whole)
        ids = [each.id for some in found.values() for each in some]
        results = read_stage_results(self._connection, ids) if whole else {}
        scores = {
            each: {stage: scores_of_stage(result) for stage, result in own.items()}
            for each, own in results.items()
        }
        if self._summaries is not None:
            scores = self._summaries.stages(self._connection, ids)
        failures = read_failures(self._connection, ids)
        return {
            log: [
                self._evaluation(
                    each,
                    scores.get(each.id, {}),
                    tuple(results.get(each.id, {}).values()),
                    failures.get(each.id, ()),
                )
                for each in sorted(some, key=lambda each: (places[each.evaluator], each.judging))
            ]
            for log, some in found.items()
        }

    def _is_wanted(self, evaluator: str, judging: int) -> bool:
        place = self._places.get(evaluator)
        return place is not None and judging < self._evaluators[place].judgings

    def _evaluation(
        self,
        candidate: LogEvaluation,
        stages: Mapping[str, StageScores],
        results: Sequence[StageResult],
        failures: Sequence[Failure],
    ) -> EvaluationResult:
        return EvaluationResult(
            evaluation=candidate.id,
            label=self._evaluators[self._places[candidate.evaluator]].label,
            judging=candidate.judging,
            stages=frozenset(stages),
            failures={each.stage: each.reason for each in failures if each.stage not in stages},
            scores=joined(tuple(stages.values())),
            ratings=tuple(each for own in results for each in own.ratings),
            evidence=tuple(each for own in results for each in own.evidence),
        )
