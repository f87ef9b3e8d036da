"""Stores that earlier code made: they open, are as they were, and their campaigns go on."""

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recjury.judges.outcome.evaluator import OutcomeEvaluator
from recjury.records import ConversationLog, Level, StageResult, digest, evaluator_id
from recjury.store import Store
from tests.campaign import player
from tests.cli.front_door import Ended, recjury
from tests.store import values
from tests.store.old_stores import FOLDER, NAMES, EndpointAsThen, copied, rows, shop_as_then

Command = Callable[..., Ended]

# All of a trial that was sealed, by table: what of it a byte is changed in.
_SEALED = {
    "trial": ("system", "scenario", "corpus", "repeat", "seed", "seal"),
    "log": ("body", "digest"),
    "stage": ("seal",),
    "rating": ("factor", "score", "status", "rationale", "calls", "seal"),
    "debate": ("score", "protocol", "judges", "seal"),
    "statement": ("text", "role", "score", "seal"),
    "face_turn": ("particles", "seal"),
    "face_score": ("samples", "calls", "seal"),
    "call": ("prompt_tokens", "request", "seal"),
    "text": ("body", "hash"),
}


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    """`recjury` with these arguments."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return lambda *arguments: recjury(monkeypatch, capsys, *arguments)


def _wrong(store: Store) -> list[str]:
    """All reported changes of rows, and errors that name no row."""
    return list(_each_wrong(store))


def _each_wrong(store: Store) -> Iterator[str]:
    units = rows(store.path, "SELECT id FROM conversation UNION SELECT id FROM evaluation")
    for unit in [*(unit for (unit,) in units), *store.debated()]:
        yield from store.integrity(unit)


@pytest.mark.parametrize("name", NAMES)
def test_all_of_an_old_store_is_as_it_was_written(tmp_path: Path, name: str) -> None:
    path = copied(name, tmp_path)
    trials = rows(path, "SELECT id FROM trial ORDER BY id")
    rated = rows(path, "SELECT count(*) FROM rating WHERE stage NOT LIKE 'converse'")
    verdicts = rows(path, "SELECT count(*) FROM debate")
    calls = rows(path, "SELECT hex(identity), trial, cost, hex(seal) FROM call")
    with Store.open(str(path)) as store:
        assert _wrong(store) == []
        assert rows(path, "SELECT id FROM conversation ORDER BY id") == trials
        assert rows(path, "SELECT hex(identity), unit, cost, hex(seal) FROM call") == calls
        assert rows(path, "PRAGMA foreign_key_check") == []
        assert rows(path, "PRAGMA integrity_check") == [("ok",)]
        kept = "SELECT count(*) FROM rating WHERE stage NOT IN ('log', 'persuasiveness')"
        assert rows(path, f"{kept} AND factor != 'Overall'") == rated
        assert rows(path, "SELECT count(*) FROM rating WHERE factor = 'Overall'") == verdicts
        for campaign in store.campaigns():
            list(store.results(campaign.id))
        for row, identity in rows(path, "SELECT id, identity FROM evaluation"):
            assert store.find_evaluations([identity])[identity]
            assert store.evaluation(row).conversations
            assert store.stage_results(row) or store.failures(row)


@pytest.mark.parametrize("name", NAMES)
def test_identities_are_those_of_what_is_stored(tmp_path: Path, name: str) -> None:
    with Store.open(str(copied(name, tmp_path))) as store:
        for each in store.conversations():
            log = store.log(each.id)
            if log is None:
                unfinished = store.unfinished(each.id)
                log = None if unfinished is None else unfinished.log
            if log is None:
                assert each.identity is None
            elif each.settings:
                played = [2, each.system, log.scenario, each.repeat, each.settings]
                assert each.identity == digest(played)
            else:
                assert each.identity == log.id
        for evaluator in store.evaluators():
            assert evaluator.id == evaluator_id(
                evaluator.kind, json.loads(json.dumps(evaluator.settings))
            )


LATER_METRICS = {"values_caught", "values_through", "pairs_told"}


def _scores(result: StageResult) -> dict[str, tuple[float | None, str]]:
    return {each.factor: (each.score, each.reason) for each in result.ratings}


@pytest.mark.parametrize("name", ["measured", "models", "half"])
def test_outcomes_are_what_they_would_be_now(tmp_path: Path, name: str) -> None:
    with Store.open(str(copied(name, tmp_path))) as store:
        checked = 0
        for result in store.results():
            for each in result.evaluations:
                record = store.record(result.conversation)
                if each.label == "outcome" and record is not None:
                    stages = store.stage_results(each.evaluation)
                    computed = asyncio.run(OutcomeEvaluator().evaluate("log", record, {}))
                    assert _scores(stages["log"]) == {
                        factor: found
                        for factor, found in _scores(computed).items()
                        if factor not in LATER_METRICS
                    }
                    (persuasive,) = stages["persuasiveness"].ratings
                    assert persuasive.factor == "Persuasiveness"
                    checked += 1
        assert checked >= 3


def test_a_half_done_store_knows_what_is_left(tmp_path: Path) -> None:
    with Store.open(str(copied("half", tmp_path))) as store:
        (campaign,) = store.campaigns()
        done, unrated, undebated, failed, unbegun = store.results(campaign.id)
        core = {each.label: each for each in done.evaluations}["core"]
        assert core.evaluation == done.conversation
        assert core.stages == {"rate", "debate"}
        assert core.failures == {}
        assert list(unrated.evaluations[-1].failures) == ["rate"]
        assert list(undebated.evaluations[-1].failures) == ["debate"]
        assert undebated.evaluations[-1].stages == {"rate"}
        assert failed.failure is not None
        assert failed.failure.startswith("turn 1: ")
        assert store.unfinished_conversations(campaign.id) == (failed.conversation,)
        assert (unbegun.log, unbegun.failure) == (None, None)


def test_old_trials_that_differ_in_judges_both_stay_and_the_newer_counts(tmp_path: Path) -> None:
    with Store.open(str(copied("models", tmp_path))) as store:
        first, second = store.campaigns()
        assert first.identity == second.identity is not None
        assert store.campaign_id(str(second.identity)) == second.id
        old = {result.system: result for result in store.results(first.id)}
        new = {result.system: result for result in store.results(second.id)}
        every = {result.system: result for result in store.results()}
        assert {system: one.conversation for system, one in every.items()} == {
            system: one.conversation for system, one in new.items()
        }
        assert old["retrieval"].log == new["retrieval"].log
        assert old["shop"].log != new["shop"].log
        labels = [each.label for each in every["retrieval"].evaluations]
        assert labels[:2] == ["outcome", "core"]
        assert labels[2].startswith("core@")
        assert [each.label for each in every["shop"].evaluations] == ["outcome", "core"]
        assert len(store.debates()) == 6


def _lose_the_users_word(path: Path, trial: str) -> None:
    """The trial is then as if the question for Persuasiveness had failed."""
    ((body,),) = rows(path, "SELECT body FROM log WHERE trial = ?", trial)
    plain = body.encode()
    insert = "INSERT INTO text (hash, size, body) VALUES (?, ?, ?)"
    values.alter(path, insert, hashlib.sha256(plain).digest(), len(plain), plain)
    for table in ("stage", "rating"):
        said = f"DELETE FROM {table} WHERE trial = ? AND stage = 'converse'"
        values.alter(path, said, trial)
    values.alter(path, "DELETE FROM log WHERE trial = ?", trial)
    failure = "INSERT INTO failure (trial, stage, reason, failed_at, log) "
    failure += "SELECT ?, 'converse', 'Persuasiveness: lost', 5.5, max(id) FROM text"
    values.alter(path, failure, trial)


def test_the_older_judges_stand_beside_the_newer_in_every_command(
    tmp_path: Path, command: Command
) -> None:
    store = f"sqlite:///{copied('models', tmp_path)}"
    shown = json.loads(command("status", "--store", store, "--json").out)["campaigns"]
    older = next(label for label in shown[-1]["evaluations"] if label.startswith("core@"))
    replayed = command("replay", "--store", store).out
    assert older in replayed
    compared = command("compare", "--evaluators", "core", older, "--store", store, "--json")
    assert compared.code == 0, compared.err
    assert json.loads(compared.out)["pairs"] == 2, "of the third, the logs differ"


def test_a_conversation_whose_users_word_was_lost_is_held(tmp_path: Path) -> None:
    path = copied("half", tmp_path)
    ((trial,),) = rows(path, "SELECT trial FROM log ORDER BY trial LIMIT 1")
    _lose_the_users_word(path, trial)
    with Store.open(str(path)) as store:
        assert _wrong(store) == []
        (found,) = (each for each in store.results() if each.conversation == trial)
        assert found.failure is None
        assert found.log == store.held(store.campaigns()[0].id)[trial]
        (outcome,) = (each for each in found.evaluations if each.label == "outcome")
        assert outcome.stages == {"log"}


@pytest.mark.parametrize("lost", [0, 1])
def test_of_equal_logs_one_users_word_is_enough(tmp_path: Path, lost: int) -> None:
    path = copied("models", tmp_path)
    trials = rows(path, "SELECT id FROM trial WHERE system = 'retrieval' ORDER BY rowid")
    _lose_the_users_word(path, trials[lost][0])
    with Store.open(str(path)) as store:
        assert _wrong(store) == []
        for result in store.results():
            if result.system == "retrieval":
                (outcome,) = (each for each in result.evaluations if each.label == "outcome")
                assert outcome.stages == {"log", "persuasiveness"}


def test_evaluations_of_trials_ask_for_the_sample_of_their_repeat(tmp_path: Path) -> None:
    path = copied("measured", tmp_path)
    assert values.alter(path, "UPDATE trial SET repeat = 2") == 4
    with Store.open(str(path)):
        assert set(rows(path, "SELECT sample FROM evaluation")) == {(2,)}


def test_face_and_what_it_is_compared_with_have_their_particles_and_aspects(
    tmp_path: Path,
) -> None:
    with Store.open(str(copied("face", tmp_path))) as store:
        face, direct = store.evaluators()
        assert face.stages == ("particles", "relevance", "understanding")
        assert [metric.level for metric in face.metrics] == [Level.TURN, Level.DIALOGUE]
        assert (direct.kind, direct.stages) == ("llm-direct", ("relevance",))
        for result in store.results():
            scored, whole = result.evaluations
            assert scored.stages == set(face.stages)
            assert store.face(scored.evaluation).decomposition is not None
            assert {rating.factor for rating in whole.ratings} == {"relevance"}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_what_was_altered_before_is_still_noticed(tmp_path: Path, name: str) -> None:
    for table, columns in _SEALED.items():
        for column in columns:
            path = copied(name, tmp_path)
            used = "WHERE id IN (SELECT settings FROM trial UNION SELECT reply FROM call)"
            where = used if table == "text" else ""
            found = rows(path, f"SELECT {column} FROM {table} {where} LIMIT 1")
            if not found:
                continue
            old = found[0][0]
            update = f"UPDATE {table} SET {column} = ? WHERE {column} IS ? "
            assert values.alter(path, update, _other(old), old) > 0
            with Store.open(str(path)) as store:
                assert any(_each_wrong(store)), (table, column)


def _other(value: Any) -> Any:
    match value:
        case bytes():
            return bytes([value[0] ^ 1]) + value[1:]
        case str():
            return value.replace("e", "a", 1) if "e" in value else f"{value}."
        case None:
            return 1
        case _:
            return value + 1


@pytest.mark.parametrize("removed", ["trial", "log", "stage", "statement", "debate", "text"])
def test_an_old_store_that_has_lost_rows_opens_and_says_so(tmp_path: Path, removed: str) -> None:
    path = copied("models", tmp_path)
    one = f"DELETE FROM {removed} WHERE rowid = (SELECT min(rowid) FROM {removed})"
    if removed == "stage":
        one = "DELETE FROM stage WHERE stage = 'debate'"
    if removed == "text":
        one = "DELETE FROM text WHERE id IN (SELECT settings FROM trial LIMIT 1)"
    assert values.alter(path, one) > 0
    with Store.open(str(path)) as store:
        assert _wrong(store) != []


def _run(command: Command, name: str, store: Path) -> dict[str, Any]:
    ended = command("run", FOLDER / f"{name}.yaml", "--store", f"sqlite:///{store}", "--json")
    assert ended.code == 0, ended.err
    result: dict[str, Any] = json.loads(ended.out)
    return result


def _units(path: Path) -> list[tuple[Any, ...]]:
    conversations = rows(path, "SELECT id, hex(seal) FROM conversation ORDER BY id")
    logs = rows(path, "SELECT conversation, body FROM log ORDER BY conversation")
    return [*conversations, *logs, *rows(path, "SELECT id, hex(seal) FROM evaluation ORDER BY id")]


def test_a_measured_campaign_is_played_once_by_a_newer_user(
    tmp_path: Path, command: Command
) -> None:
    """What an older user and guard said stays beside it; nothing is played twice."""
    path = copied("measured", tmp_path)
    with Store.open(str(path)) as store:
        (campaign,) = store.campaigns()
    before = _units(path)
    result = _run(command, "measured", path)
    assert result["campaign"] == campaign.id
    assert result["conversations"]["done"] == result["conversations"]["planned"]
    newer = _units(path)
    assert set(before) < set(newer)
    _run(command, "measured", path)
    assert _units(path) == newer
    with Store.open(str(path)) as store:
        assert _wrong(store) == []


def test_a_campaign_with_models_is_played_once_by_newer_prompts(
    tmp_path: Path, command: Command
) -> None:
    """Its conversations and ratings stay beside those by newer prompts."""
    path = copied("models", tmp_path)
    with Store.open(str(path)) as store:
        _, latest = store.campaigns()
    before = _units(path)
    played = "SELECT count(*) FROM conversation UNION ALL SELECT count(*) FROM log"
    conversations = rows(path, played)
    with EndpointAsThen(player.play) as endpoint, shop_as_then() as shop:
        result = _run(command, "models-judged-again.now", path)
        asked = Counter(player.kind(body) for body in endpoint.bodies)
        assert asked.keys() >= {"user", "judge", "debate", "persuasiveness"}
        played_with = len(shop.asked)
        _run(command, "models-judged-again.now", path)
        assert (len(endpoint.bodies), len(shop.asked)) == (asked.total(), played_with)
    assert result["campaign"] == latest.id
    assert result["conversations"]["done"] == 3
    assert result["evaluations"]["core"]["done"] == 3
    assert set(before) < set(_units(path))
    assert rows(path, played) == [(count + 3,) for (count,) in conversations]


def test_a_half_done_campaign_does_what_is_left_alone(tmp_path: Path, command: Command) -> None:
    path = copied("half", tmp_path)
    logs = dict(rows(path, "SELECT trial, body FROM log"))
    known = len(rows(path, "SELECT id FROM call"))
    with EndpointAsThen(player.play) as endpoint:
        result = _run(command, "half.now", path)
        asked = [player.kind(body) for body in endpoint.bodies]
    assert result["conversations"] == result["conversations"] | {"planned": 5, "done": 5}
    assert result["evaluations"]["core"]["done"] == 5
    kept = dict(rows(path, "SELECT conversation, body FROM log"))
    assert logs.items() <= kept.items()
    assert len(rows(path, "SELECT id FROM call")) == known + len(asked)
    assert asked.count("judge") == 5 * 12  # by newer prompts
    with Store.open(str(path)) as store:
        assert _wrong(store) == []
        assert len(store.conversations(store.campaigns()[0].id)) == 5


def test_the_conversations_of_an_old_store_can_be_judged_again(tmp_path: Path) -> None:
    path = copied("face", tmp_path)
    with Store.open(str(path)) as store:
        planned = values.evaluator("own")
        (first, *_) = store.conversations()
        log = store.log(first.id)
        assert isinstance(log, ConversationLog)
        campaign = store.campaigns()[0].id
        store.join(campaign, [planned])
        evaluation = values.evaluation(planned, log_id=log.id)
        asyncio.run(store.save_stage(evaluation, "rate", StageResult(values.ratings())))
        found = [each.label for each in next(store.results(campaign)).evaluations]
        assert found == ["face", "own"]
