"""G-Eval: steps written once, forms, scores weighed by probabilities or by samples."""

import asyncio
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import ValidationError

from recjury.campaign.planned_calls import count_calls
from recjury.errors import CallFailed, PromptTooLong, ProviderError
from recjury.judges import EvaluatorContext
from recjury.judges.g_eval.evaluator import GEvalPrompts, GEvaluator
from recjury.llm import Completion, call_context
from recjury.llm.scripted import Line
from recjury.records import Aspect, ChatRequest, ConversationRecord, Rating, Status
from tests.judges.cases import SPEC, a_log, gateway_of
from tests.judges.golden import assert_golden

GOLDEN = Path(__file__).parents[1] / "golden"
STEPS = "1. Read the <conversation>.\n2. Compare."
LOG = ConversationRecord(a_log("Try Ronin (1998).", "Or Fargo (1996)."))


def _odds(**odds: float) -> Completion:
    found = {name.removeprefix("s"): math.log(odd) for name, odd in odds.items()}
    best = max(found, key=lambda name: found[name])
    return Completion(best, logprobs=((best, found[best], tuple(found.items())),))


def _script(form: Callable[[ChatRequest], Line]) -> Callable[[ChatRequest], Line]:
    return lambda request: STEPS if "steps" in request.purpose else form(request)


def _rated(
    config: GEvaluator, script: Callable[[ChatRequest], Line], judgings: int = 1
) -> tuple[list[Rating], list[ChatRequest]]:
    gateway, model = gateway_of(script, "main")
    rater = config.prepared(EvaluatorContext(None, gateway, {"main": SPEC}))

    async def rated() -> list[Rating]:
        found: list[Rating] = []
        for judging in range(judgings):
            with call_context("unit", judging):
                for stage in rater.stages:
                    found.extend((await rater.evaluate(stage.name, LOG, {})).ratings)
        return found

    return asyncio.run(rated()), model.requests


def _only(*aspects: Aspect, **settings: object) -> GEvaluator:
    return GEvaluator.model_validate({"aspects": aspects, **settings})


def test_all_aspects_are_rated_and_their_steps_written_once() -> None:
    ratings, requests = _rated(GEvaluator(), _script(lambda _: _odds(s1=1.0)), judgings=2)
    assert len(ratings) == 2 * (2 * 2 + 5)
    assert {rating.score for rating in ratings} == {1.0}
    asked = [request.purpose for request in requests]
    assert sum("steps" in purpose for purpose in asked) == 7
    assert sum("form" in purpose for purpose in asked) == 2 * 9
    assert all(len(rating.calls) == 2 for rating in ratings)
    shown = next(r.messages[1].text for r in requests if "form" in r.purpose)
    assert "1. Read the &lt;conversation&gt;." in shown


def test_a_score_is_weighed_by_the_probabilities_of_all_scores() -> None:
    (rating,), _ = _rated(
        _only(Aspect.DIALOGUE_OVERALL), _script(lambda _: _odds(s4=0.1, s3=0.2, s0=0.1, No=0.6))
    )
    assert rating.score == pytest.approx((4 * 0.1 + 3 * 0.2) / 0.4)
    assert "0.400 of the probability" in rating.rationale


def test_turns_that_failed_are_not_rated() -> None:
    log = a_log("One.")
    failed = log.interaction[0].model_copy(update={"text": "", "failure": "timed out"})
    log = log.model_copy(update={"interaction": (failed, *log.interaction[1:])})
    gateway, model = gateway_of(_script(lambda _: _odds(s1=1.0)), "main")
    rater = GEvaluator().prepared(EvaluatorContext(None, gateway, {"main": SPEC}))
    for aspect in (Aspect.RELEVANCE, Aspect.DIALOGUE_OVERALL):
        result = asyncio.run(rater.evaluate(aspect, ConversationRecord(log), {}))
        assert [rating.status for rating in result.ratings] == [Status.NOT_APPLICABLE]
    assert all("steps" in request.purpose for request in model.requests)


def test_the_name_of_the_aspect_may_stand_before_the_score() -> None:
    steps = [{"- task": 1.0}, {" completion": 1.0}, {":": 1.0}, {" 2": 0.9, " 1": 0.1}]
    logprobs = tuple(
        (text := max(step, key=lambda each: step[each]), math.log(step[text]),
         tuple((each, math.log(odd)) for each, odd in step.items()))
        for step in steps
    )  # fmt: skip
    said = Completion("- task completion: 2", logprobs=logprobs)
    (rating,), _ = _rated(_only(Aspect.TASK_COMPLETION), _script(lambda _: said))
    assert rating.score == pytest.approx(1.9)


def test_samples_estimate_the_probabilities() -> None:
    config = _only(Aspect.UNDERSTANDING, method="samples", samples=4, together=False)
    answers = ["<rating>2</rating>", "<rating>1</rating>", "<rating>2</rating>", "so-so"]
    (rating,), requests = _rated(config, _script(lambda request: answers[request.sample]))
    assert rating.score == pytest.approx(5 / 3)
    assert {r.temperature for r in requests if "form" in r.purpose} == {1.0}


def test_a_score_off_the_scale_is_no_score() -> None:
    (rating,), _ = _rated(_only(Aspect.EFFICIENCY), _script(lambda _: _odds(s7=1.0)))
    assert rating.status is Status.UNREADABLE


def test_without_steps_nothing_is_rated() -> None:
    (rating,), requests = _rated(_only(Aspect.EFFICIENCY), lambda _: CallFailed("gone"))
    assert (rating.score, rating.status) == (None, Status.CALL_FAILED)
    assert rating.reason == "the model wrote no steps: gone"
    assert len(requests) == 1


@pytest.mark.parametrize("method", ["logprobs", "samples"])
def test_a_conversation_that_is_too_long_is_cut_from_the_left(method: str) -> None:
    def form(request: ChatRequest) -> Line:
        if "Ronin" in request.messages[1].text:
            return PromptTooLong("the context is 10 tokens")
        return _odds(s1=1.0) if method == "logprobs" else "<rating>1</rating>"

    (rating,), _ = _rated(_only(Aspect.UNDERSTANDING, method=method), _script(form))
    assert rating.score == 1
    assert rating.rationale.startswith("the oldest 1 turns were left out")


def test_an_endpoint_without_log_probabilities_is_one_line() -> None:
    with pytest.raises(ProviderError, match="sends no log-probabilities"):
        _rated(_only(Aspect.EFFICIENCY), _script(lambda _: "1"))


def test_keys_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValidationError, match="leave out `samples`"):
        GEvaluator(samples=3)


def test_calls_are_expected_for_steps_and_forms() -> None:
    gateway, _ = gateway_of([], "main")
    context = EvaluatorContext(None, gateway, gateway.models)

    def expected(evaluator: GEvaluator) -> dict[str, tuple[int, int]]:
        """For ten conversations like this one, by kind: once, and at most."""
        calls = evaluator.prepared(context).plan(LOG.log)
        shares = count_calls(calls, attempts=3, conversations=10)
        return {each.kind: (each.once, each.most) for each in shares}

    forms = 10 * (2 * 2 + 5)
    assert expected(GEvaluator()) == {"g-eval/steps": (7, 21), "g-eval/form": (forms, 3 * forms)}
    singly = expected(GEvaluator(method="samples", together=False))
    assert singly == {"g-eval/steps": (7, 21), "g-eval/form": (20 * forms, 60 * forms)}
    assert GEvaluator().call_uses == [("main", "logprobs")]
    assert GEvaluator(method="samples").call_uses == [("main", "n")]


def test_settings_leave_out_which_aspects_are_rated() -> None:
    gateway, _ = gateway_of([], "main")
    around = EvaluatorContext(None, gateway, {"main": SPEC})
    assert (
        _only(Aspect.EFFICIENCY).prepared(around).settings == GEvaluator().prepared(around).settings
    )
    drawn = GEvaluator(method="samples").prepared(around)
    assert drawn.settings != GEvaluator().prepared(around).settings


def test_the_prompts_are_those_of_the_golden_files() -> None:
    prompts = GEvalPrompts()
    assert_golden(prompts.steps(Aspect.RELEVANCE), GOLDEN / "g-eval-steps.txt")
    turn = next(prompts.form(Aspect.RELEVANCE, STEPS, LOG.log, 0, "logprobs"))
    assert_golden(turn.messages, GOLDEN / "g-eval-turn.txt")
    whole = next(prompts.form(Aspect.DIALOGUE_OVERALL, STEPS, LOG.log, None, "samples"))
    assert_golden(whole.messages, GOLDEN / "g-eval-dialogue.txt")
