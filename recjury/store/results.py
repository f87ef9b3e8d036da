"""Results of conversations and evaluations, for tables, comparisons and exports."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from sqlalchemy import Connection, Engine

from recjury.records import Ending, Evidence, Rating, Record
from recjury.store.conversations import (
    PlannedConversation,
    conversation_ids,
    read_conversations,
)
from recjury.store.evaluations import LogEvaluation, evaluations_of_logs
from recjury.store.evaluators import CampaignEvaluator, read_campaign_evaluators
from recjury.store.failures import Failure, read_failures
from recjury.store.logs import StoredLog, read_logs
from recjury.store.stage_results import Results, read_stage_results
from recjury.store.stages import CONVERSE

_CHUNK = 100  # conversations read at once, which limits memory


class EvaluationResult(Record):
    """The result of one evaluation so far.

    `label` is its evaluator's label in the campaign; `judging` counts from 0. `stages` are the
    finished ones. `failures` maps each stage that failed and is not finished to its latest reason.
    """

    evaluation: str
    label: str
    judging: int
    stages: frozenset[str]
    failures: dict[str, str]
    ratings: tuple[Rating, ...] = ()
    evidence: tuple[Evidence, ...] = ()


class ConversationResult(Record):
    """The result of one conversation so far.

    `log` is the log's id. Without a log it is None, and `failure` has the reason of the latest
    failure, if there was one. `pair` is the key by which its scenario is paired when systems are
    compared; `rounds` counts system turns; `has_list` is True if any of them has a list; `person`
    says in a line who the user was, and is empty for the plain user. `evaluations` are those by the
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
    pair: str | None = None
    target_seen: bool = False
    ending: Ending | None = None
    rounds: int = 0
    has_list: bool = False
    items_linked: bool = False
    person: str = ""
    evaluations: tuple[EvaluationResult, ...] = ()


def read_results(
    engine: Engine,
    campaign: str | None = None,
    system: str | None = None,
    conversations: Sequence[str] | None = None,
) -> Iterator[ConversationResult]:
    """The results of a campaign's conversations in the plan's order; with None, of all.

    If ids of `conversations` are given, the results are those of these, in their order. Raises
    StoreError for altered rows. No transaction is open between results of different batches.
    """
    with engine.connect() as connection:
        evaluators = read_campaign_evaluators(connection, campaign)
        if conversations is None:
            conversations = conversation_ids(connection, campaign, system)
        ids = iter(conversations)
    while some := tuple(islice(ids, _CHUNK)):
        yield from _results(engine, some, evaluators)


def _results(
    engine: Engine, ids: Sequence[str], evaluators: Sequence[CampaignEvaluator]
) -> list[ConversationResult]:
    with engine.connect() as connection:
        planned = read_conversations(connection, ids)
        logs = read_logs(connection, ids)
        failures = read_failures(connection, ids)
        evaluations = _evaluations(connection, logs.values(), evaluators)
    return [
        _result(
            planned[each],
            logs.get(each),
            failures.get(each, ()),
            evaluations.get(logs[each].digest, ()) if each in logs else (),
        )
        for each in ids
    ]


def _result(
    planned: PlannedConversation,
    stored: StoredLog | None,
    failures: Sequence[Failure],
    evaluations: Sequence[EvaluationResult],
) -> ConversationResult:
    reasons = [failure.reason for failure in failures if failure.stage == CONVERSE]
    result = ConversationResult(
        conversation=planned.id,
        system=planned.system,
        scenario=planned.scenario,
        corpus=planned.corpus,
        repeat=planned.repeat,
        failure=reasons[-1] if reasons and stored is None else None,
    )
    if stored is None:
        return result
    log = stored.body
    return result.model_copy(
        update={
            "log": stored.digest,
            "pair": log.scenario.pair_id,
            "target_seen": log.scenario.target_seen,
            "ending": log.ending,
            "rounds": len(log.system_turns),
            "has_list": any(turn.items for turn in log.system_turns),
            "items_linked": log.items_linked,
            "person": "" if log.person is None else log.person.described,
            "evaluations": tuple(evaluations),
        }
    )


class _Behind(NamedTuple):
    """The rows that the store has for evaluations, by their ids."""

    results: Mapping[str, Results]
    failures: Mapping[str, Sequence[Failure]]


def _evaluations(
    connection: Connection, logs: Iterable[StoredLog], evaluators: Sequence[CampaignEvaluator]
) -> dict[str, list[EvaluationResult]]:
    """Evaluations by the log's id, in the order of `evaluators`."""
    places = {each.id: place for place, each in enumerate(evaluators)}
    found = evaluations_of_logs(
        connection,
        (stored.digest for stored in logs),
        lambda evaluator, judging: (
            evaluator in places and judging < evaluators[places[evaluator]].judgings
        ),
    )
    ids = [each.id for some in found.values() for each in some]
    behind = _Behind(read_stage_results(connection, ids), read_failures(connection, ids))
    return {
        log: [
            _evaluation(each, evaluators[places[each.evaluator]].label, behind)
            for each in sorted(some, key=lambda each: (places[each.evaluator], each.judging))
        ]
        for log, some in found.items()
    }


def _evaluation(candidate: LogEvaluation, label: str, behind: _Behind) -> EvaluationResult:
    done = behind.results[candidate.id]
    failures = behind.failures.get(candidate.id, ())
    return EvaluationResult(
        evaluation=candidate.id,
        label=label,
        judging=candidate.judging,
        stages=frozenset(done),
        failures={
            failure.stage: failure.reason for failure in failures if failure.stage not in done
        },
        ratings=tuple(rating for result in done.values() for rating in result.ratings),
        evidence=tuple(each for result in done.values() for each in result.evidence),
    )
