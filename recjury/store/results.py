"""Results of conversations and evaluations, for tables, comparisons and exports."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, select

from recjury.records import Ending, Evidence, Rating
from recjury.store.conversations import CONVERSATIONS, conversation_ids, declaring_settings
from recjury.store.evaluations import LogEvaluation, evaluations_of_logs
from recjury.store.evaluators import CampaignEvaluator, read_campaign_evaluators
from recjury.store.failures import Failure, read_failures
from recjury.store.logs import read_logs
from recjury.store.stage_results import Results, read_stage_results
from recjury.store.stages import CONVERSE
from recjury.store.summaries import (
    DebateScore,
    LogSummary,
    StageSummary,
    log_summary,
    rated,
    read_summaries,
    stage_summary,
    summary_of_log,
)

_CHUNK = 500  # conversations read at once, which limits memory


class EvaluationResult(NamedTuple):
    """The result of one evaluation so far.

    `label` is its evaluator's label in the campaign; `judging` counts from 0. `stages` are the
    finished ones. `failures` maps each stage that failed and is not finished to its latest reason.
    `said` is who spoke in its debate. `evidence`, and the texts and calls of `ratings`, are only
    there if everything was asked for.
    """

    evaluation: str
    label: str
    judging: int
    stages: frozenset[str]
    failures: Mapping[str, str]
    ratings: tuple[Rating, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    said: tuple[DebateScore, ...] = ()


class ConversationResult(NamedTuple):
    """The result of one conversation so far.

    `log` is the log's id. Without a log it is None, and `failure` has the reason of the latest
    failure, if there was one. `pair` is the key by which its scenario is paired when systems are
    compared; `rounds` counts system turns; `has_list` is True if any of them has a list; `person`
    says in a line who the user was, and is empty for the plain user. `acts` counts the acts that a
    user declared and that were dropped, and those that differ from its words; None if it declares
    none. `evaluations` are those by the campaign's evaluators, in their order. If one evaluator has
    several for one judging (because its part of the corpus has changed), only the last is included.
    Forks are not included.
    """

    conversation: str
    system: str
    scenario: str
    corpus: str
    repeat: int
    log: str | None = None
    failure: str | None = None
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
    ids = iter(conversations)
    while some := tuple(islice(ids, _CHUNK)):
        with engine.connect() as connection:
            reading = _Reading(connection, evaluators, declaring, whole=whole)
            yield from reading.results(some)


class _Reading:
    """Reads some conversations in one view of the store."""

    def __init__(
        self,
        connection: Connection,
        evaluators: Sequence[CampaignEvaluator],
        declaring: frozenset[int],
        *,
        whole: bool,
    ):
        self._connection, self._whole = connection, whole
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
        if self._whole:
            return {row.id: row for row, _ in CONVERSATIONS.find(self._connection, ids)}
        table = CONVERSATIONS.c
        columns = (table.id, table.system, table.scenario, table.corpus, table.repeat)
        query = select(*columns, table.settings).where(table.id.in_(ids))
        found = {row.id: row for row in self._connection.execute(query)}
        if len(found) < len(set(ids)):
            list(CONVERSATIONS.find(self._connection, ids))  # names the one that is missing
        return found

    def _logs(self, ids: Sequence[str]) -> dict[str, LogSummary]:
        if self._whole:
            return {
                each: summary_of_log(stored.digest, stored.body)
                for each, stored in read_logs(self._connection, ids).items()
            }
        kept = read_summaries(self._connection, ids)
        found = {each: log_summary(body) for each, (body,) in _bodies(kept) if body is not None}
        rest = [each for each in kept if each not in found]
        logs = read_logs(self._connection, rest) if rest else {}
        return found | {each: summary_of_log(own.digest, own.body) for each, own in logs.items()}

    def _result(
        self,
        row: Any,
        log: LogSummary | None,
        failures: Sequence[Failure],
        evaluations: Sequence[EvaluationResult],
    ) -> ConversationResult:
        about = (row.id, row.system, row.scenario, row.corpus, row.repeat)
        if log is None:
            reasons = [failure.reason for failure in failures if failure.stage == CONVERSE]
            return ConversationResult(*about, failure=reasons[-1] if reasons else None)
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
        places = self._places
        found = evaluations_of_logs(self._connection, logs, self._is_wanted, whole=self._whole)
        ids = [each.id for some in found.values() for each in some]
        stages = self._stages(ids)
        failures = read_failures(self._connection, ids)
        return {
            log: [
                self._evaluation(each, stages.get(each.id, {}), failures.get(each.id, ()))
                for each in sorted(some, key=lambda each: (places[each.evaluator], each.judging))
            ]
            for log, some in found.items()
        }

    def _is_wanted(self, evaluator: str, judging: int) -> bool:
        place = self._places.get(evaluator)
        return place is not None and judging < self._evaluators[place].judgings

    def _stages(self, evaluations: Sequence[str]) -> Mapping[str, "_Stages"]:
        if self._whole:
            read = read_stage_results(self._connection, evaluations)
            return {each: _whole(results) for each, results in read.items()}
        kept = read_summaries(self._connection, evaluations)
        rest = [each for each, bodies in _bodies(kept) if None in bodies]
        read = read_stage_results(self._connection, rest) if rest else {}
        return {
            each: {
                stage: (rated(read[each][stage]) if body is None else stage_summary(body), ())
                for stage, body in bodies.items()
            }
            for each, bodies in kept.items()
        }

    def _evaluation(
        self, candidate: LogEvaluation, stages: "_Stages", failures: Sequence[Failure]
    ) -> EvaluationResult:
        return EvaluationResult(
            evaluation=candidate.id,
            label=self._evaluators[self._places[candidate.evaluator]].label,
            judging=candidate.judging,
            stages=frozenset(stages),
            failures={each.stage: each.reason for each in failures if each.stage not in stages},
            ratings=tuple(rating for own, _ in stages.values() for rating in own.ratings),
            evidence=tuple(each for _, evidence in stages.values() for each in evidence),
            said=tuple(each for own, _ in stages.values() for each in own.said),
        )


_Stages = Mapping[str, tuple[StageSummary, tuple[Evidence, ...]]]


def _whole(results: Results) -> _Stages:
    return {
        stage: (rated(result)._replace(ratings=result.ratings), result.evidence)
        for stage, result in results.items()
    }


def _bodies(
    kept: Mapping[str, Mapping[str, list[Any] | None]],
) -> Iterator[tuple[str, tuple[list[Any] | None, ...]]]:
    return ((unit, tuple(stages.values())) for unit, stages in kept.items())
