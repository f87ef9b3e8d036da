"""Questions: what becomes a rating, what is asked for again, and how."""

import asyncio
import math
from collections.abc import Callable, Iterable

import pytest

from recjury.errors import CallFailed, ConfigError, PromptTooLong, ProviderError
from recjury.llm import (
    Answer,
    Completion,
    Gateway,
    Prompt,
    Question,
    RatingTag,
    RatingTagOdds,
    ScriptedModel,
    WordOdds,
    ask,
    ask_each,
)
from recjury.llm.scripted import Line
from recjury.prompts import CODE
from recjury.records import ChatRequest, Message, RatingSubject, Status
from tests.answers import code_in, in_the_form_asked, prompt_of
from tests.llm.doubles import MemoryRecorder
from tests.llm.test_reply_reading import SPEC

SUBJECT = RatingSubject(evaluator="m", factor="fun", low=0, high=4, rubric="r1", turn=3)
FORM = f'Reply with <rating code="{CODE}">2</rating>.'
MESSAGES = (Message("user", ("Rate this: hello.", FORM)),)
WORDS = WordOdds({"no": 0.0, "yes": 4.0})


def _question(**fields: object) -> Question:
    given = {"subject": SUBJECT, "model": "m", "prompts": (Prompt(MESSAGES),), "purpose": "fun"}
    return Question(**{**given, **fields})  # type: ignore[arg-type]


def _asked(
    script: Iterable[Line] | Callable[[ChatRequest], Line],
    question: Question | None = None,
    recorder: MemoryRecorder | None = None,
) -> tuple[Answer, list[ChatRequest]]:
    model = ScriptedModel(in_the_form_asked(script))
    gateway = Gateway({"m": SPEC}, recorder or MemoryRecorder(), providers={"m": model})
    return asyncio.run(ask(gateway, question or _question())), model.requests


def _odds(**odds: float) -> Completion:
    best = max(odds, key=lambda word: odds[word])
    tops = tuple((word, math.log(odd)) for word, odd in odds.items())
    return Completion(best, logprobs=((best, math.log(odds[best]), tops),))


def test_a_rating_has_what_the_question_is_about() -> None:
    answer, (request,) = _asked(["It was fun. <rating>3</rating>"], _question(earlier_calls=("x",)))
    rating = answer.rating
    assert (rating.score, rating.rationale, rating.turn) == (3, "It was fun.", 3)
    assert (rating.evaluator, rating.factor, rating.rubric) == ("m", "fun", "r1")
    assert rating.calls[0] == "x"
    assert len(rating.calls) == 2
    assert (request.purpose, request.temperature, request.sample) == ("fun", 0, 0)


def test_one_reply_that_cannot_be_read_is_asked_for_with_the_reason() -> None:
    answer, (first, second) = _asked(["Hm.", "<rating>2</rating>"])
    assert answer.rating.score == 2
    assert "could not be used" in second.messages[-1].text
    assert "could not be used" not in first.messages[-1].text


def test_samples_that_cannot_be_read_are_drawn_again_and_their_mean_is_the_score() -> None:
    question = _question(samples=2, first_sample=4, temperature=0.5, together=False)
    answer, requests = _asked(["<rating>1</rating>", "Hm.", "<rating>4</rating>"], question)
    assert (answer.rating.score, answer.scores) == (2.5, (1, 4))
    assert len({request.messages for request in requests}) == 1
    assert [(each.sample, each.attempt) for each in requests] == [(4, 0), (5, 0), (5, 1)]


def test_what_is_never_read_is_no_number() -> None:
    answer, requests = _asked(lambda _: "Hm.", _question(samples=2, together=False))
    assert (answer.rating.score, answer.rating.status) == (None, Status.UNREADABLE)
    assert (answer.scores, len(requests)) == ((None, None), 6)


@pytest.mark.parametrize("samples", [None, 2])
def test_a_call_that_fails_is_a_status_and_kept_as_the_failure(samples: int | None) -> None:
    answer, _ = _asked(lambda _: CallFailed("gone"), _question(samples=samples))
    assert (answer.rating.status, answer.rating.reason) == (Status.CALL_FAILED, "gone")
    assert isinstance(answer.failure, CallFailed)


def test_the_first_prompt_that_fits_is_asked() -> None:
    prompts = [Prompt((Message("user", ("long " * n,)),), 3 - n) for n in (3, 2, 1)]

    def script(request: ChatRequest) -> Line:
        return (
            PromptTooLong("too long") if "long long" in request.messages[0].text else _odds(yes=1)
        )

    answer, requests = _asked(script, _question(prompts=iter(prompts), form=WORDS))
    assert (answer.rating.score, answer.left_out, len(requests)) == (4, 2, 3)
    assert answer.rating.rationale == "the oldest 2 turns were left out: the prompt was too long"
    refused, _ = _asked(lambda _: PromptTooLong("too long"), _question(prompts=prompts))
    assert refused.rating.status is Status.REFUSED
    assert refused.rating.reason == "too long, and nothing is left that can be cut"


def test_the_score_of_words_is_their_expectation() -> None:
    answer, (request,) = _asked([_odds(yes=0.3, no=0.1, The=0.6)], _question(form=WORDS))
    assert answer.rating.score == pytest.approx(3)
    assert answer.odds is not None
    assert answer.odds.mass == pytest.approx(0.4)
    assert answer.rating.rationale == "all answers together had 0.400 of the probability"
    assert (request.top_logprobs, request.max_tokens) == (20, 8)


def test_words_that_begin_alike_are_refused() -> None:
    with pytest.raises(ConfigError, match="begin alike"):
        WordOdds({"A": 0, "AB": 1})


def test_the_score_of_a_tag_is_the_expectation_over_all_ratings() -> None:
    tops = (("2", math.log(0.5)), ("4", math.log(0.25)), ("9", math.log(0.25)))

    def reply(request: ChatRequest) -> Completion:
        tag = f'<rating code="{code_in(prompt_of(request.messages))}">'
        parts = ((tag, -0.1, ()), ("2", tops[0][1], tops), ("</rating>", -0.1, ()))
        return Completion(f"{tag}2</rating>", logprobs=parts)

    answer, _ = _asked(reply, _question(form=RatingTagOdds()))
    assert answer.rating.score == pytest.approx((2 * 0.5 + 4 * 0.25) / 0.75)


def test_an_endpoint_that_never_sends_log_probabilities_is_named() -> None:
    with pytest.raises(ProviderError, match=r"m: the endpoint sends no log-prob.*top_logprobs"):
        _asked(lambda _: "yes", _question(form=WORDS))
    answer, requests = _asked(["yes", _odds(no=1)], _question(form=WORDS))
    assert (answer.rating.score, len(requests)) == (0, 2)


def test_replies_of_an_earlier_run_say_nothing_of_the_endpoint() -> None:
    recorder = MemoryRecorder()
    for _ in range(2):
        with pytest.raises(ProviderError):
            _asked(lambda _: "yes", _question(form=WORDS), recorder)
    answer, requests = _asked([_odds(yes=1)], _question(form=WORDS), recorder)
    assert (answer.rating.score, len(requests)) == (4, 1)


def test_ratings_stand_among_questions() -> None:
    model = ScriptedModel(in_the_form_asked(["<rating>1</rating>"]))
    gateway = Gateway({"m": SPEC}, MemoryRecorder(), providers={"m": model})
    missing = SUBJECT.unscored(Status.NOT_APPLICABLE, "no list")
    first, second = asyncio.run(ask_each(gateway, [missing, _question()]))
    assert (first, second.score) == (missing, 1)


def test_a_planned_call_is_the_request_that_would_be_sent() -> None:
    question = _question(form=RatingTag(reasons=0, typical=10), samples=3, temperature=1)
    planned = question.planned("fun/rate")
    assert (planned.kind, planned.samples, planned.together) == ("fun/rate", 3, True)
    assert planned.request.form is not None
    assert planned.request.form.typical == 10
    _, (sent, *_) = _asked(lambda _: "<rating>1</rating>", question)
    code = code_in(prompt_of(sent.messages))
    assert sent.messages[0].text == planned.request.messages[0].text.replace(CODE, code)
