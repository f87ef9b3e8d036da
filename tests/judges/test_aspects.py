"""LLM-Direct, LLM-CoT+ICL and G-Eval: what is asked, and how scores are weighed."""

import asyncio
from typing import Any

import pytest
from pydantic import ValidationError

from recjury.judges import Direct, Evaluator, GEval
from recjury.records import ConversationLog, Rating, Request, Status, Turn
from tests.judges import likely
from tests.logs import HEAT, LOG, ask_of, log_of, said


def rated(
    evaluator: Evaluator, script: Any, log: ConversationLog = LOG, *, logprobs: bool = True
) -> tuple[list[Rating], list[Request]]:
    ask, model = ask_of(likely.sending(script) if logprobs else script)
    found = asyncio.run(evaluator.rate(log, ask))
    requests = [each for each in model.requests if not likely.is_probe(each)]
    return [each for each in found if isinstance(each, Rating)], requests


def ones(request: Request, code: str) -> str:
    return f'Since. <rating code="{code}">1</rating>'


def test_each_turn_or_the_dialogue_is_rated_at_once() -> None:
    ratings, requests = rated(Direct(), ones)
    assert [(each.metric, each.turn) for each in ratings] == [
        ("relevance", 0),
        ("relevance", 2),
        ("interestingness", 0),
        ("interestingness", 2),
        ("understanding", None),
        ("task_completion", None),
        ("efficiency", None),
        ("interest_arousal", None),
        ("dialogue_overall", None),
    ]
    assert {each.score for each in ratings} == {1}
    assert all("Do not explain." in said(each) for each in requests)
    assert not any("<example>" in said(each) for each in requests)
    turns = [said(each) for each in requests if "<rated_turn>" in said(each)]
    assert sum("<user>No, I said crime.</user>\n</users_answer>" in each for each in turns) == 2


def test_examples_and_reasons_make_it_chain_of_thought() -> None:
    _, requests = rated(Direct(examples=2, reasons=True), ones)
    assert all(said(each).count("<example>") == 2 for each in requests)
    assert all("Think step by step" in said(each) for each in requests)
    (overall,) = (said(each) for each in requests if "dialogue overall" in said(each))
    assert "\nThe score: 4\n" in overall


def with_odds(request: Request, code: str) -> Any:
    """The steps, and then 1 and 2 in shares of 3 to 1."""
    if "write down the steps" in said(request):
        return "1. Read <all> of it."
    return likely.rating(code, {"1": 0.6, "2": 0.2, "7": 0.2})


def test_scores_are_weighed_by_probabilities() -> None:
    ratings, requests = rated(GEval(aspects=("understanding", "relevance")), with_odds)
    assert [each.score for each in ratings] == pytest.approx([1.25] * 3)
    steps = [each for each in requests if "write down the steps" in said(each)]
    assert len(steps) == 2
    forms = [said(each) for each in requests if each not in steps]
    assert all("1. Read &lt;all&gt; of it." in each for each in forms)
    first, second = ({*each.calls} for each in ratings if each.metric == "relevance")
    assert len(first & second) == 1  # the call that wrote the steps of both


@pytest.mark.parametrize("logprobs", [True, False])
def test_without_log_probabilities_samples_stand_for_them(logprobs: bool) -> None:
    def script(request: Request, code: str) -> str:
        plain = likely.is_probe(request) or "write down the steps" in said(request)
        return "1. Read." if plain else next(scores)(code)

    def score(number: int) -> Any:
        return lambda code: f'<rating code="{code}">{number}</rating>'

    scores = iter([score(each) for each in (0, 2, 2, 1)])
    evaluator = GEval(aspects=("understanding",), samples=4, logprobs=logprobs)
    (rating,), requests = rated(evaluator, script, logprobs=False)
    assert rating.score == 1.25
    assert requests[-1].temperature == 1


def test_without_steps_nothing_is_rated() -> None:
    (rating,), _ = rated(GEval(aspects=("understanding",)), lambda request, code: " ")
    assert rating.status is Status.UNREADABLE
    assert rating.reason.startswith("no steps")


@pytest.mark.parametrize("turn", [{"failure": "no answer"}, {"text": " ", "items": [HEAT]}])
def test_a_turn_without_words_is_not_rated(turn: dict[str, Any]) -> None:
    said_nothing = Turn.model_validate({"speaker": "system", **turn})
    log = log_of(said_nothing, *LOG.interaction[1:])
    for evaluator in (Direct(aspects=("relevance",)), GEval(aspects=("relevance",))):
        ratings, _ = rated(evaluator, with_odds, log)
        assert [each.status for each in ratings] == [Status.NOT_APPLICABLE, Status.OK]


@pytest.mark.parametrize(
    ("kind", "settings", "words"),
    [
        (Direct, {"examples": 3}, "examples"),
        (Direct, {"aspects": ["novelty"]}, "there is no aspect 'novelty'"),
        (GEval, {"samples": 0}, "samples"),
    ],
)
def test_wrong_settings(kind: type[Evaluator], settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        kind.model_validate(settings)
