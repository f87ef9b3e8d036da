"""PairEval in a campaign: its keys, its examples, its ratings, and its prompts."""

import asyncio
import json
import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from recjury.corpora import open_corpus
from recjury.errors import ConfigError, DataError
from recjury.judges import EvaluatorContext, read_entry
from recjury.judges.paireval.evaluator import PairEvaluator
from recjury.judges.paireval.examples import corpus_pool, draw, file_pool, one_response_each
from recjury.judges.paireval.prompts import Contender, PairPrompts
from recjury.llm import Gateway
from recjury.records import (
    ConversationRecord,
    Level,
    Need,
    Rating,
    Speaker,
    StageResult,
    Status,
    Turn,
)
from tests.judges.cases import SPEC, a_log, gateway_of, planned
from tests.judges.golden import assert_golden
from tests.judges.paireval.comparing import better_by, number_in, said

GOLDEN = Path(__file__).parents[1] / "golden"


def _built(gateway: Gateway, **keys: object) -> PairEvaluator:
    config = PairEvaluator.model_validate({"model": "judge", **keys})
    return config.prepared(EvaluatorContext(open_corpus("sample"), gateway, {"judge": SPEC}))


def _evaluate(evaluator: PairEvaluator, log: ConversationRecord) -> dict[str, StageResult]:
    async def run() -> dict[str, StageResult]:
        return {
            stage.name: await evaluator.evaluate(stage.name, log, {}) for stage in evaluator.stages
        }

    return asyncio.run(run())


def test_turns_and_dialogues_are_compared_with_people() -> None:
    gateway, model = gateway_of(lambda _: said({"A": 0.7, "B": 0.3}))
    evaluator = _built(gateway)
    found = _evaluate(evaluator, ConversationRecord(a_log("Ronin (1998)?", "Heat (1995)?")))
    turns, dialogues = found["turn"].ratings, found["dialogue"].ratings
    assert [(r.factor, r.turn, r.level) for r in turns] == [
        ("turn", 0, Level.TURN),
        ("turn", 2, Level.TURN),
    ]
    assert [(r.factor, r.turn, r.level) for r in dialogues] == [("dialogue", None, Level.DIALOGUE)]
    # A is preferred in both places, so both orders together prefer nothing.
    assert [r.score for r in (*turns, *dialogues)] == [pytest.approx(0.5)] * 3
    assert turns[0].rationale == "0.500, 0.500, 0.500"
    assert found["turn"].output == {"judged": [[[0.7, pytest.approx(0.3)]] * 3] * 2}
    assert len(model.requests) == (2 + 1) * 3 * 2
    assert {r.evaluator for r in turns} == {"paireval/judge"}
    assert len(turns[0].calls) == 6


def test_directeval_needs_no_examples() -> None:
    gateway, model = gateway_of(better_by(number_in))
    config = PairEvaluator.model_validate({"model": "judge", "method": "direct", "level": "turn"})
    evaluator = config.prepared(EvaluatorContext(None, gateway, {"judge": SPEC}))
    (rating,) = _evaluate(evaluator, ConversationRecord(a_log("1")))["turn"].ratings
    assert rating.score == pytest.approx(0.731, abs=0.001)
    assert len(model.requests) == 1
    assert evaluator.data == {}
    assert "Good turn" in [metric.title for metric in evaluator.metrics]


def test_a_turn_without_an_answer_is_not_compared() -> None:
    gateway, model = gateway_of([])
    log = a_log("")
    failed = log.interaction[0].model_copy(update={"failure": "timeout"})
    log = log.model_copy(update={"interaction": (failed, *log.interaction[1:])})
    found = _evaluate(_built(gateway, level="turn"), ConversationRecord(log))["turn"].ratings
    assert [(r.score, r.status) for r in found] == [(None, Status.NOT_APPLICABLE)]
    empty = log.model_copy(update={"interaction": ()})
    whole = _evaluate(_built(gateway, level="dialogue"), ConversationRecord(empty))["dialogue"]
    assert [r.status for r in whole.ratings] == [Status.NOT_APPLICABLE]
    assert model.requests == []


def test_examples_of_the_same_dialogue_are_left_out(tmp_path: Path) -> None:
    log = a_log()
    file = tmp_path / "own.jsonl"
    own = [turn.text for turn in (*log.scenario.history, *log.interaction)]
    rows = [{"turns": own}, {"turns": ["Hello!", "Hi!", "Bye!"]}]
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    gateway, model = gateway_of(lambda _: said({"A": 0.5, "B": 0.5}))
    keys = {"model": "judge", "level": "dialogue", "examples": {"source": str(file), "number": 2}}
    around = EvaluatorContext(None, gateway, {"judge": SPEC})
    evaluator = PairEvaluator.model_validate(keys).prepared(around)
    (rating,) = _evaluate(evaluator, ConversationRecord(log))["dialogue"].ratings
    assert rating.score == 0.5
    assert len(model.requests) == 2
    file.write_text(json.dumps(rows[0]), "utf-8")
    keys["examples"] = {"source": str(file), "number": 1}
    evaluator = PairEvaluator.model_validate(keys).prepared(around)
    (rating,) = _evaluate(evaluator, ConversationRecord(log))["dialogue"].ratings
    assert rating.status is Status.NOT_APPLICABLE


def test_a_reply_without_the_words_is_unreadable_and_no_score() -> None:
    gateway, _ = gateway_of(lambda _: said({"The": 0.9, "Both": 0.1}))
    log = ConversationRecord(a_log())
    found: list[Rating] = [*_evaluate(_built(gateway, level="turn"), log)["turn"].ratings]
    assert [(r.score, r.status) for r in found] == [(None, Status.UNREADABLE)]
    assert "none of A, B" in found[0].reason


def test_an_answer_of_little_probability_is_noted() -> None:
    gateway, _ = gateway_of(lambda _: said({"A": 0.1, "B": 0.1, "The": 0.8}))
    log = ConversationRecord(a_log())
    (rating,) = _evaluate(_built(gateway, level="turn"), log)["turn"].ratings
    assert rating.rationale.endswith("the words asked for had 0.200 of the probability")


def test_examples_can_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "dialogues.jsonl"
    rows = [{"turns": [f"a{n}", f"b{n}", f"c{n}"], "topic": 1} for n in range(4)]
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    gateway, model = gateway_of(lambda _: said({"A": 0.5, "B": 0.5}))
    config = PairEvaluator.model_validate(
        {"model": "judge", "examples": {"source": str(file), "number": 2}}
    )
    evaluator = config.prepared(EvaluatorContext(None, gateway, {"judge": SPEC}))
    _evaluate(evaluator, ConversationRecord(a_log()))
    assert len(model.requests) == 2 * 2 * 2
    assert any(re.search("<response>[bc]", each.messages[0].text) for each in model.requests)
    dialogues = file_pool(file, Level.DIALOGUE)
    assert [len(each.turns) for each in dialogues] == [3] * 4


def test_a_response_of_a_dialogue_is_the_systems() -> None:
    turns = tuple(
        Turn(speaker=speaker, text=str(speaker)) for speaker in (Speaker.SYSTEM, Speaker.USER) * 4
    )
    for seed in range(5):
        (drawn,) = one_response_each([turns], seed)
        assert 1 <= len(drawn.turns) < len(turns)
        assert drawn.turns[-1].speaker is Speaker.USER
    assert one_response_each([turns[:1]]) == ()


def test_draws_are_nested_and_differ_by_seed() -> None:
    pool = list(range(100))
    assert draw(pool, 3, 7)[:2] == draw(pool, 2, 7)
    assert draw(pool, 3, 7) == draw(pool, 3, 7) != draw(pool, 3, 8)
    assert sorted(draw(pool, 100, 0)) == pool


@pytest.mark.parametrize(
    ("lines", "said_of_it"),
    [
        (['{"turns": ["a", "b"]}'], "3 comparison examples are wanted, and there are 1"),
        (['{"history": ["a"]}'], "expected `turns`, or `history` and `response`"),
        (["no"], "not JSON"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_line(
    tmp_path: Path, lines: list[str], said_of_it: str
) -> None:
    file = tmp_path / "few.jsonl"
    file.write_text("\n".join(lines), "utf-8")
    config = PairEvaluator.model_validate({"model": "judge", "examples": {"source": str(file)}})
    gateway, _ = gateway_of([])
    with pytest.raises((ConfigError, DataError), match=said_of_it):
        config.prepared(EvaluatorContext(None, gateway, {"judge": SPEC}))


def test_responses_alone_are_no_dialogues(tmp_path: Path) -> None:
    file = tmp_path / "responses.jsonl"
    file.write_text('{"history": ["a"], "response": "b"}', "utf-8")
    assert file_pool(file, Level.TURN)[0].text == "b"
    with pytest.raises(DataError, match="dialogues need `turns`"):
        file_pool(file, Level.DIALOGUE)


def test_without_a_corpus_a_file_must_be_named() -> None:
    gateway, _ = gateway_of([])
    with pytest.raises(ConfigError, match=r"examples: \{source: FILE\}"):
        PairEvaluator(model="judge").prepared(EvaluatorContext(None, gateway, {"judge": SPEC}))


@pytest.mark.parametrize(
    ("keys", "said_of_it"),
    [
        ({"labels": ["A", "AB"]}, "begin alike"),
        ({"labels": ["", "B"]}, "must be a word"),
        ({"method": "direct", "positions": "first"}, "leave out `positions`"),
        ({"examples": {"number": 0}}, "greater than or equal to 1"),
        ({"level": "word"}, "turn"),
    ],
)
def test_keys_are_checked(keys: dict[str, object], said_of_it: str) -> None:
    with pytest.raises(ValidationError, match=said_of_it):
        PairEvaluator.model_validate(keys)


def test_what_changes_a_score_changes_the_version() -> None:
    gateway, _ = gateway_of([])
    plain = _built(gateway)
    other = [
        _built(gateway, positions="first"),
        _built(gateway, labels=["1", "2"]),
        _built(gateway, examples={"number": 2}),
    ]
    assert all(each.settings != plain.settings for each in other)
    assert _built(gateway, level="turn").settings == plain.settings
    seeded = _built(gateway, examples={"seed": 1})
    assert seeded.settings == plain.settings
    assert seeded.data != plain.data


def test_calls_are_expected_and_log_probabilities_asked_for() -> None:
    config = PairEvaluator.model_validate({"level": "turn"})
    gateway, _ = gateway_of([])
    log = a_log("Ronin?", "Fargo?")
    assert planned(_built(gateway, level="turn"), log) == {("judge", "paireval/turn"): 2 * 3 * 2}
    assert planned(_built(gateway, method="direct"), log) == {
        ("judge", "paireval/dialogue alone"): 1,
        ("judge", "paireval/turn alone"): 2,
    }
    assert config.call_uses == [("main", "logprobs")]
    assert [(metric.id, metric.needs) for metric in read_entry("paireval").metrics] == [
        ("dialogue", (Need.MODEL, Need.LOGPROBS)),
        ("turn", (Need.MODEL, Need.LOGPROBS)),
    ]


def test_whole_dialogues_of_a_corpus_end_with_what_people_recommended() -> None:
    corpus = open_corpus("sample")
    turns, wholes = (corpus_pool(corpus, "valid", level) for level in (Level.TURN, Level.DIALOGUE))
    assert len(turns) > len(wholes) > 3
    assert {each.turns[-1].speaker for each in wholes} == {Speaker.SYSTEM}
    assert all(each.text for each in turns)


def _golden() -> dict[str, Contender]:
    log = a_log("Ronin (1998) <b>?")
    before = (*log.scenario.history,)
    return {
        "turn": Contender(before, log.interaction[0].text),
        "dialogue": Contender((*before, *log.interaction)),
    }


@pytest.mark.parametrize("level", ["turn", "dialogue"])
def test_prompts_are_as_shown(level: str) -> None:
    one, prompts = _golden()[level], PairPrompts()
    other = one._replace(turns=(Turn(speaker=Speaker.USER, text="A comedy & a drama?"),))
    assert_golden(prompts.pair(one, other), GOLDEN / f"paireval-pair-{level}.txt")
    assert_golden(prompts.direct(one), GOLDEN / f"paireval-direct-{level}.txt")
