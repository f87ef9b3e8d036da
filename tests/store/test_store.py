"""What is written comes back equal, and what is finished stays."""

import asyncio
from pathlib import Path

import pytest

from recjury.errors import StoreError, UnitFailed
from recjury.records import (
    JSON,
    ConversationRecord,
    Evidence,
    Rating,
    StageResult,
    Status,
)
from recjury.store import EvaluationHandle, ForkedEvaluation, PlannedEvaluation, Store
from recjury.store.choice import chosen_campaign
from tests.store import values

EVALUATION = values.evaluation()
OVERALL = Rating(evaluator="debate", factor="Overall", score=70, low=0, high=100)


def _store(folder: Path) -> Store:
    return Store.open(f"sqlite:///{folder}/runs.db")


def _debated() -> StageResult:
    return StageResult((OVERALL,), debate=values.debate(values.log().id))


def _handle(store: Store, planned: PlannedEvaluation) -> EvaluationHandle:
    return asyncio.run(store.get_or_create_evaluation(planned))


async def _evaluate(store: Store, conversation: str) -> None:
    await store.save_log(conversation, values.log())
    await store.save_stage(EVALUATION, "rate", StageResult(values.ratings()))
    await store.save_stage(EVALUATION, "debate", _debated())


def test_a_conversation_and_its_evaluation_come_back_equal(tmp_path: Path) -> None:
    with _store(tmp_path) as store:
        (conversation,) = values.begun(store)
        asyncio.run(_evaluate(store, conversation))
    with _store(tmp_path) as store:
        assert store.log(conversation) == values.log()
        assert store.log_ids_of([conversation]) == {conversation: values.log().id}
        assert store.find_evaluations([EVALUATION.identity, "f" * 32]) == {
            EVALUATION.identity: EVALUATION.identity
        }
        evaluation = store.evaluation(EVALUATION.identity[:12])
        assert evaluation.conversations == (conversation,)
        assert (evaluation.kind, evaluation.log) == ("core", values.log().id)
        assert store.evaluation_stages([evaluation.id]) == {evaluation.id: {"rate", "debate"}}
        assert store.stage_results(evaluation.id) == {
            "rate": StageResult(values.ratings()),
            "debate": _debated(),
        }
        assert store.debate(evaluation.id) == values.debate(values.log().id)
        assert store.debated(values.CAMPAIGN) == (evaluation.id,)
        assert store.integrity(conversation) == store.integrity(evaluation.id) == ()
        (result,) = store.results(values.CAMPAIGN)
        (line,) = store.debates(values.CAMPAIGN)
    assert (result.log, result.rounds, result.failure) == (values.log().id, 1, None)
    (rated,) = result.evaluations
    assert (rated.label, rated.judging, rated.failures) == ("core", 0, {})
    assert sorted(rated.ratings, key=lambda one: one.factor) == sorted(
        (OVERALL, *values.ratings()), key=lambda one: one.factor
    )
    assert (line.evaluation, line.conversation) == (evaluation.id, conversation)
    assert (line.score, line.evaluator, line.fork_of) == (70, "core", None)


def test_seconds_and_costs_are_by_system_turn(tmp_path: Path) -> None:
    call = values.call(1)

    async def save(store: Store, first: str, second: str) -> None:
        async with store.recorder() as recorder:
            await recorder.record(call)
        await store.save_log(first, values.log(0, calls=(call.identity,)), [9.0])
        await store.save_log(second, values.log(1), [1.5])

    with _store(tmp_path) as store:
        first, second = values.begun(store, 2)
        assert store.record(first) is None
        asyncio.run(save(store, first, second))
        # What a model took and cost is known from its calls: a clock says less.
        log = values.log(0, calls=(call.identity,))
        assert store.record(first) == ConversationRecord(log, (0.5,), (0.25,))
        assert store.record(second) == ConversationRecord(values.log(1), (1.5,), (None,))


def test_what_is_finished_is_not_overwritten(tmp_path: Path) -> None:
    first, second = StageResult(values.ratings()), StageResult(values.ratings()[:3])

    async def twice(store: Store, conversation: str) -> None:
        await asyncio.gather(
            store.save_log(conversation, values.log(text="first")),
            store.save_log(conversation, values.log(text="second")),
            store.save_stage(EVALUATION, "rate", first),
            store.save_stage(EVALUATION, "rate", second),
        )

    with _store(tmp_path) as store:
        (conversation,) = values.begun(store)
        asyncio.run(twice(store, conversation))
        assert store.log(conversation) == values.log(text="first")
        assert store.stage_results(EVALUATION.identity) == {"rate": first}
        assert store.integrity(conversation) == ()


def test_an_output_is_stored_as_it_was(tmp_path: Path) -> None:
    output: JSON = {"words": ["a", "\u00fc"], "numbers": {"one": 1, "half": 0.5, "none": None}}
    assert isinstance(output, dict)
    result = StageResult(output=output, lost=(Status.UNREADABLE, Status.REFUSED))
    with _store(tmp_path) as store:
        values.begun(store)
        asyncio.run(store.save_stage(EVALUATION, "count", result))
        assert store.stage_results(EVALUATION.identity) == {"count": result}
        rows = [EVALUATION.identity]
        assert store.evaluations_with(rows, [Status.REFUSED]) == set(rows)
        assert store.evaluations_with(rows, [Status.CALL_FAILED]) == set()


def test_evidence_is_stored_as_it_was(tmp_path: Path) -> None:
    where = Evidence(factor="Novelty", label="known", note="ü", turn=0, span_start=4, span_end=8)
    result = StageResult(values.ratings(), evidence=(where, Evidence(factor="Novelty", label="x")))
    with _store(tmp_path) as store:
        (conversation,) = values.begun(store)
        asyncio.run(store.save_log(conversation, values.log()))
        asyncio.run(store.save_stage(EVALUATION, "rate", result))
        assert store.stage_results(EVALUATION.identity) == {"rate": result}
        ((evaluation,),) = [each.evaluations for each in store.results()]
        assert evaluation.evidence == result.evidence
        assert evaluation.evidence[0].span == (4, 8)


@pytest.mark.parametrize(
    ("stage", "result", "why"),
    [
        ("talk", StageResult(debate=values.debate("log")), "only by the stage 'debate'"),
        ("count", StageResult(output={"what": object()}), "must be plain JSON"),  # type: ignore[dict-item]
        ("converse", StageResult(), "can be called 'converse'"),
    ],
)
def test_what_cannot_be_kept_fails_its_evaluation_alone(
    tmp_path: Path, stage: str, result: StageResult, why: str
) -> None:
    with _store(tmp_path) as store:
        values.begun(store)
        with pytest.raises(UnitFailed, match=why):
            asyncio.run(store.save_stage(EVALUATION, stage, result))
        assert store.find_evaluations([EVALUATION.identity]) == {}


def test_a_failed_stage_stays_to_do_and_is_reported_until_it_is_done(tmp_path: Path) -> None:
    rated = StageResult(values.ratings())
    with _store(tmp_path) as store:
        (conversation,) = values.begun(store)
        asyncio.run(store.save_failure(conversation, "converse", "no answer"))
        (result,) = store.results()
        assert (result.failure, result.log, result.evaluations) == ("no answer", None, ())
        asyncio.run(store.save_log(conversation, values.log()))
        entered = asyncio.run(store.get_or_create_evaluation(EVALUATION))
        asyncio.run(store.save_failure(entered.id, "rate", "the judge fell over"))
        (result,) = store.results()
        assert result.failure is None
        assert result.evaluations[0].failures == {"rate": "the judge fell over"}
        assert result.evaluations[0].stages == frozenset()
        asyncio.run(store.save_stage(EVALUATION, "rate", rated))
        (result,) = store.results()
        assert result.evaluations[0].failures == {}
        (failure,) = store.failures(EVALUATION.identity)
        assert (failure.unit, failure.stage) == (EVALUATION.identity, "rate")


def test_what_was_said_until_a_conversation_failed_is_kept_until_one_is_held(
    tmp_path: Path,
) -> None:
    async def save(store: Store, conversation: str) -> None:
        for reason in ("first", "again"):
            said = values.log(text=reason)
            await store.save_failure(conversation, "converse", f"turn 1: {reason}", said)

    with _store(tmp_path) as store:
        conversation, other = values.begun(store, 2)
        asyncio.run(save(store, conversation))
        unfinished = store.unfinished(conversation)
        assert unfinished is not None
        assert (unfinished.conversation, unfinished.reason) == (conversation, "turn 1: again")
        assert unfinished.log == values.log(text="again")
        assert store.unfinished(other) is None
        assert store.unfinished_conversations() == (conversation,)
        assert store.unfinished_conversations(values.CAMPAIGN) == (conversation,)
        assert store.log(conversation) is None
        asyncio.run(store.save_log(conversation, values.log()))
        assert store.unfinished(conversation) is None
        assert store.unfinished_conversations() == ()


@pytest.mark.parametrize(
    ("altered", "noticed"),
    [
        ("UPDATE text SET body = x'7b7d' WHERE id = (SELECT log FROM failure)", "does not match"),
        (
            "UPDATE failure SET log = (SELECT settings FROM conversation)",
            "was changed after it was written",
        ),
    ],
)
def test_an_altered_unfinished_conversation_is_noticed(
    tmp_path: Path, altered: str, noticed: str
) -> None:
    with _store(tmp_path) as store:
        (conversation,) = values.begun(store)
        asyncio.run(store.save_failure(conversation, "converse", "turn 1: no", values.log()))
        assert store.integrity(conversation) == ()
        assert values.alter(store, altered) == 1
        with pytest.raises(StoreError, match=noticed):
            store.unfinished(conversation)
        (found,) = store.integrity(conversation)
        assert noticed in found


def test_a_store_without_conversations_says_so(tmp_path: Path) -> None:
    with _store(tmp_path) as store, pytest.raises(StoreError, match="has no conversations: run a"):
        chosen_campaign(store, None)


def test_conversations_and_evaluations_are_found_by_the_beginning_of_their_id(
    tmp_path: Path,
) -> None:
    with _store(tmp_path) as store:
        ids = values.begun(store, 30)
        found = store.conversation(ids[7][:12])
        assert (found.id, found.scenario) == (ids[7], "sample/test#7")
        assert found.settings == values.conversation(7).settings
        with pytest.raises(StoreError, match="no conversation begins with zz"):
            store.conversation("zz")
        with pytest.raises(StoreError, match="several conversations begin"):
            store.conversation("")
        with pytest.raises(StoreError, match="no evaluation begins with zz"):
            store.evaluation("zz")


def test_a_fork_is_kept_beside_its_original_and_is_no_result(tmp_path: Path) -> None:
    fork = ForkedEvaluation("ab" * 16, EVALUATION.identity, {"round": 2})
    with _store(tmp_path) as store:
        (conversation,) = values.begun(store)
        asyncio.run(_evaluate(store, conversation))
        asyncio.run(store.save_fork(fork, _debated()))
        kept = store.evaluation(fork.identity)
        assert (kept.fork_of, kept.conversations) == (EVALUATION.identity, (conversation,))
        assert store.stage_results(kept.id) == {
            "fork": StageResult(output={"round": 2}),
            "debate": _debated(),
        }
        lines = [(line.evaluation, line.fork_of) for line in store.debates(values.CAMPAIGN)]
        assert lines == [(EVALUATION.identity, None), (fork.identity, EVALUATION.identity)]
        assert store.debated() == (EVALUATION.identity, fork.identity)
        (result,) = store.results()
        assert [each.evaluation for each in result.evaluations] == [EVALUATION.identity]
        assert store.integrity(fork.identity) == ()
        values.alter(store, "UPDATE statement SET text = 'x' WHERE evaluation = ?", "ab" * 16)
        assert store.integrity(fork.identity) != ()
        assert store.integrity(EVALUATION.identity) == ()
        with pytest.raises(StoreError, match="is not in the store"):
            asyncio.run(store.save_fork(fork._replace(original="f" * 32), _debated()))


def test_the_calls_of_a_fork_are_spent_by_the_campaign_and_not_among_its_calls(
    tmp_path: Path,
) -> None:
    fork = ForkedEvaluation("ab" * 16, EVALUATION.identity, {"round": 2})

    async def record(store: Store) -> None:
        async with store.recorder() as recorder:
            for number, unit in enumerate((EVALUATION.identity, fork.identity)):
                await recorder.record(values.call(number)._replace(unit=unit))

    with _store(tmp_path) as store:
        (conversation,) = values.begun(store)
        asyncio.run(_evaluate(store, conversation))
        asyncio.run(store.save_fork(fork, _debated()))
        asyncio.run(record(store))
        assert store.spent(values.CAMPAIGN).calls == 2
        assert [call.unit for call in store.calls(values.CAMPAIGN)] == [EVALUATION.identity]


def test_the_sample_of_an_evaluation_is_that_of_who_entered_it_first(tmp_path: Path) -> None:
    with _store(tmp_path) as store:
        (conversation,) = values.begun(store)
        asyncio.run(store.save_log(conversation, values.log()))
        first = asyncio.run(
            store.get_or_create_evaluation(EVALUATION.model_copy(update={"sample": 3}))
        )
        again = asyncio.run(
            store.get_or_create_evaluation(EVALUATION.model_copy(update={"sample": 1}))
        )
        asyncio.run(store.save_stage(EVALUATION, "rate", StageResult(values.ratings())))
        assert first == (EVALUATION.identity, 3, True)
        assert again == (EVALUATION.identity, 3, False)
        assert store.evaluation(EVALUATION.identity).sample == 3
        assert store.integrity(EVALUATION.identity) == ()


def test_an_evaluation_that_was_only_begun_hides_none_that_was_finished(tmp_path: Path) -> None:
    """What of the corpus the evaluator looks at has changed, and the next run was killed."""
    changed = EVALUATION.model_copy(update={"identity": "cd" * 16, "data": {"catalogue": "c2"}})
    rated = StageResult(values.ratings())

    def shown(store: Store) -> str:
        (result,) = store.results(values.CAMPAIGN)
        (evaluation,) = result.evaluations
        return evaluation.evaluation

    with _store(tmp_path) as store:
        (conversation,) = values.begun(store)
        asyncio.run(store.save_log(conversation, values.log()))
        asyncio.run(store.save_stage(EVALUATION, "rate", rated))
        asyncio.run(store.get_or_create_evaluation(changed))
        assert shown(store) == EVALUATION.identity
        asyncio.run(store.save_stage(changed, "rate", rated))
        assert shown(store) == changed.identity
        asyncio.run(store.save_stage(EVALUATION, "debate", _debated()))
        assert shown(store) == EVALUATION.identity


def test_what_turns_took_is_kept_where_their_calls_are_elsewhere(tmp_path: Path) -> None:
    log = values.log(calls=(values.identity(1),))
    turns = len(log.system_turns)
    seconds, costs = tuple(range(1, turns + 1)), tuple(n / 8 for n in range(turns))
    with _store(tmp_path) as store:
        (conversation,) = values.begun(store)
        asyncio.run(store.save_log(conversation, log, seconds, costs))
        assert store.record(conversation) == (log, seconds, costs)
        assert store.integrity(conversation) != ()  # its call is not here
        values.alter(
            values.file_of(store),
            "UPDATE log SET costs = '[9.0]' WHERE conversation = ?",
            conversation,
        )
        with pytest.raises(StoreError, match="was changed after it was written"):
            store.record(conversation)


def test_a_rating_without_an_upper_bound_comes_back_equal(tmp_path: Path) -> None:
    ratings = (
        Rating(evaluator="computed", factor="rounds", score=7, low=0, high=None),
        Rating(evaluator="c", factor="hit", score=None, status=Status.NOT_APPLICABLE, high=None),
    )
    with _store(tmp_path) as store:
        values.begun(store)
        asyncio.run(store.save_stage(EVALUATION, "log", StageResult(ratings)))
        assert store.stage_results(EVALUATION.identity) == {"log": StageResult(ratings)}


def test_a_bad_item_fails_alone_and_its_neighbours_are_kept(tmp_path: Path) -> None:
    async def save(store: Store, conversation: str) -> list[BaseException | None]:
        return list(
            await asyncio.gather(
                store.save_log(conversation, values.log()),
                store.save_log("f" * 32, values.log()),
                store.save_stage(EVALUATION, "rate", StageResult(values.ratings())),
                return_exceptions=True,
            )
        )

    with _store(tmp_path) as store:
        (conversation,) = values.begun(store)
        first, second, third = asyncio.run(save(store, conversation))
        assert (first, third) == (None, None)
        assert "FOREIGN KEY" in str(second)
        assert store.log_ids_of([conversation]) == {conversation: values.log().id}
