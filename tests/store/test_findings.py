import pytest
from sqlalchemy.exc import DBAPIError

from recjury.errors import UserError
from recjury.records import Evidence, Finding, Rating, Status
from recjury.store import Store, evaluation_id
from tests.store.samples import (
    FINDINGS,
    PLAN,
    UNIT,
    debate,
    play,
    rating,
    reply,
    request,
    started,
    talk,
)

pytestmark = pytest.mark.anyio

ID = evaluation_id("a1", "e-core", 0)


async def save(store: Store, findings: list[Finding] | tuple[Finding, ...]) -> None:
    await store.save_evaluation("a1", "e-core", 0, findings, tries=0)


async def test_findings_come_back_as_they_were_returned(store: Store) -> None:
    started(store)
    await play(store, "a1")
    await save(store, FINDINGS)
    assert store.findings(ID) == list(FINDINGS)


async def test_a_verdict_of_another_name_keeps_its_debate(store: Store) -> None:
    started(store)
    verdict = Rating(metric="overall", rater="my chair", score=3)
    held = debate().model_copy(update={"verdict": verdict})
    await save(store, [rating(), held])
    assert store.findings(ID) == [rating(), held]


async def test_findings_replace_those_before(store: Store) -> None:
    started(store)
    await save(store, FINDINGS)
    await save(store, [rating("other", 2)])
    assert store.findings(ID) == [rating("other", 2)]


async def test_any_text_of_a_log_and_of_findings_comes_back(store: Store) -> None:
    text = "half \ud83d, \0, \U0010ffff0000aa"
    started(store)
    await store.save_log("a1", talk(text), play="p", seconds=[])
    findings: list[Finding] = [
        Rating(metric=text, rater=text, score=1, rationale=text),
        Rating(metric="m", rater="r", status=Status.REFUSED, reason=text),
        Evidence(name=text, value={text: text}),
    ]
    await save(store, findings)
    assert await store.log("a1") == talk(text)
    assert store.findings(ID) == findings
    assert store.check() == []


async def test_evaluations_are_listed_in_the_order_of_the_plan(store: Store) -> None:
    started(store)
    await play(store, *(each.conversation for each in PLAN))
    for conversation, evaluator in (("b1", "e-core"), ("a1", "e-outcome"), ("a1", "e-core")):
        await store.save_evaluation(conversation, evaluator, 0, FINDINGS, tries=0)
    rows = [(row.conversation, row.name) for row in store.evaluations("films")]
    assert rows == [("a1", "core"), ("a1", "outcome"), ("b1", "core")]
    assert [row.id for row in store.evaluations("films", conversation="b1")] == [
        evaluation_id("b1", "e-core", 0)
    ]
    row = store.evaluations("films")[0]
    assert (row.id, row.campaign, row.evaluator) == (ID, "films", "e-core")
    assert (row.judging, row.state, row.tries) == (0, "incomplete", 0)


async def test_a_conversation_is_found_by_the_beginning_of_its_id(store: Store) -> None:
    run = started(store)
    await play(store, "a1")
    row = store.conversation("a1")
    assert (row.system, row.user, row.scenario, row.state) == ("a", "llm", "1", "done")
    assert (row.ending, row.rounds, row.play, row.seconds) == (
        "round limit",
        1,
        "play of a1",
        [0.5],
    )
    store.end(run, "finished")
    store.end(started(store), "finished")
    assert store.conversation("b2").id == "b2"
    with pytest.raises(UserError, match="2 conversations begin with 'a', such as a1, a2"):
        store.conversation("a")
    with pytest.raises(UserError, match="did you mean films"):
        store.conversation("a1", "flms")
    with pytest.raises(UserError, match="begins with '%'"):
        store.conversation("%")
    assert [row.id for row in store.conversations("films")] == ["a1", "b1", "a2", "b2"]


async def test_what_was_altered_is_named(store: Store) -> None:
    started(store)
    await play(store, "a1", "b1")
    await store.record([reply("k1")], request("Rate this."), "main", UNIT)
    await save(store, [rating("fit", 1).model_copy(update={"calls": ("k1",)})])
    assert store.check() == []
    alterations = {
        "UPDATE text SET text = 'other' WHERE text = 'Rate this.'": "text ",
        "UPDATE evaluation SET judging = 1": f"evaluation {ID}",
        "UPDATE conversation SET rounds = 9 WHERE id = 'b1'": "conversation b1",
        "UPDATE rating SET calls = '[\"k9\"]'": "its call k9",
        "DELETE FROM text WHERE text = 'You are a judge.'": "call k1",
    }
    if not store.database.name.startswith("postgresql"):  # which refuses that itself
        alterations["UPDATE conversation SET log = 'gone' WHERE id = 'a1'"] = "conversation.log"
    with store.database.transaction() as connection:
        for statement in alterations:
            connection.exec_driver_sql(statement)
    problems = store.check()
    for part in alterations.values():
        assert any(part in line for line in problems), (part, problems)
    assert len(problems) == len(alterations)


@pytest.mark.parametrize("change", ["score = 'high'", "score = 9e999", "calls = '{'"])
async def test_no_program_writes_what_is_no_number_and_no_list(store: Store, change: str) -> None:
    started(store)
    await save(store, [rating()])
    with pytest.raises(DBAPIError), store.database.connection() as connection:
        connection.exec_driver_sql(f"UPDATE rating SET {change}")
