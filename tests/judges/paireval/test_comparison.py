"""Comparisons in both orders, prompts that are too long, and calls that fail."""

import asyncio
import math

import pytest

from recjury.errors import CallFailed, ConfigError, PromptTooLong, ProviderError
from recjury.judges.paireval.comparison import Comparer, LlmPairJudge, PairOdds
from recjury.judges.paireval.prompts import Contender, PairPrompts, contender_of, shortened
from recjury.judges.paireval.scorer import DirectEvalScorer, ExhaustiveScorer, PairEvalScorer
from recjury.llm import Completion
from recjury.records import ChatRequest, Level, Speaker, Status, Turn
from tests.judges.paireval.comparing import (
    better_by,
    judging,
    number_in,
    response,
    said,
    shown_responses,
)


def _logistic(gap: float) -> float:
    return 1 / (1 + math.exp(-gap))


def test_both_orders_are_asked_and_averaged() -> None:
    gateway, requests = judging(first=1.0)
    comparer = Comparer(gateway, "judge")
    one, other = contender_of(response("2", "Hi?")), contender_of(response("1", "Hello?"))
    found = asyncio.run(comparer.compare(one, other))
    assert found.value is not None
    assert found.value.first == pytest.approx(_logistic(2))  # 2 - 1, and 1 for the place
    assert found.value.second == pytest.approx(1 - _logistic(0))
    assert found.value.score == pytest.approx((_logistic(2) + 0.5) / 2)
    assert [each.purpose for each in requests] == ["paireval/first", "paireval/second"]
    assert len(found.calls) == 2


def test_the_orders_are_each_other_swapped_exactly() -> None:
    one, other = contender_of(response("2", "Hi?")), contender_of(response("1", "Hey!", "Hello?"))
    prompts = PairPrompts()
    (there,), (back,) = prompts.pair(one, other), prompts.pair(other, one)
    assert there.parts[1] == back.parts[3] == f"\n{one.block}\n"
    assert there.parts[3] == back.parts[1] == f"\n{other.block}\n"
    assert (there.parts[::2]) == (back.parts[::2])
    assert [len(there.parts), len(back.parts)] == [5, 5]


def test_the_odds_of_the_other_one_are_the_complement() -> None:
    assert PairOdds(0.7, 0.4).swapped == pytest.approx((0.6, 0.3))
    assert PairOdds(0.7, 0.4).score + PairOdds(0.7, 0.4).swapped.score == pytest.approx(1)
    assert PairOdds(0.7, None).swapped.second == pytest.approx(0.3)
    assert PairOdds(0.7, None).swapped.first is None
    assert PairOdds(None, 0.2).score == 0.2


@pytest.mark.parametrize(("positions", "sent"), [("first", 1), ("second", 1), ("both", 2)])
def test_one_order_can_be_asked_alone(positions: str, sent: int) -> None:
    gateway, requests = judging(first=1.0)
    comparer = Comparer(gateway, "judge", positions=positions)  # type: ignore[arg-type]
    one, other = contender_of(response("2")), contender_of(response("1"))
    found = asyncio.run(comparer.compare(one, other)).value
    assert found is not None
    assert (found.first is None, found.second is None) == (
        positions == "second",
        positions == "first",
    )
    assert len(requests) == sent


def test_a_turn_is_not_compared_with_a_dialogue() -> None:
    dialogue = Contender((Turn(speaker=Speaker.USER, text="Hi"),))
    assert dialogue.level is Level.DIALOGUE
    with pytest.raises(ValueError, match="a turn is compared with a turn"):
        PairPrompts().pair(dialogue, contender_of(response("2")))


def test_words_with_no_probability_of_one_count_as_zero() -> None:
    gateway, _ = judging(script=lambda _: said({"A": 0.2, "The": 0.8}))
    one, other = contender_of(response("2")), contender_of(response("1"))
    found = asyncio.run(Comparer(gateway, "judge").compare(one, other))
    assert found.value == (1.0, 0.0)
    assert found.mass == pytest.approx(0.2)


def _too_long_beyond(characters: int) -> "tuple[LlmPairJudge, list[ChatRequest]]":
    def answer(request: ChatRequest) -> Completion | Exception:
        if len(request.messages[-1].text) > characters:
            return PromptTooLong("judge: the prompt is too long")
        return said({"A": 0.6, "B": 0.4})

    gateway, requests = judging(script=answer)
    return LlmPairJudge(Comparer(gateway, "judge")), requests


def test_what_is_too_long_loses_its_oldest_turns_in_both_orders() -> None:
    judge, requests = _too_long_beyond(1900)
    long = response("1", *(f"turn {number:02} " + "word " * 20 for number in range(20)))
    short = response("2", "Hello?")
    (found,) = asyncio.run(judge.compare([(long, short)]))
    assert found == pytest.approx((0.6, 0.4))
    assert judge.cut == 1
    assert 0 < judge.left_out < 20
    answered = [each.messages[-1].text for each in requests][-2:]
    for text in answered:
        assert f"turn {judge.left_out - 1:02}" not in text
        assert f"turn {judge.left_out:02}" in text
        assert "turn 19" in text
        assert "Hello?" in text
    assert not judge.unscored


def test_what_cannot_be_cut_enough_has_no_score_and_a_reason() -> None:
    judge, _ = _too_long_beyond(100)
    assert asyncio.run(judge.compare([(response("1", "Hi?"), response("2"))])) == [None]
    ((reason, count),) = judge.unscored.items()
    assert (count, "nothing is left that can be cut" in reason) == (1, True)


def test_cutting_takes_from_the_longest_and_keeps_responses_and_one_turn_of_a_dialogue() -> None:
    turns = tuple(Turn(speaker=Speaker.USER, text="x" * 50) for _ in range(6))
    one, other = Contender(turns), Contender(turns[:2])
    steps = list(shortened((one, other)))
    assert steps[0] == ((one, other), 0)
    assert [len(each.contenders[0].turns) for each in steps] == sorted(
        (len(each.contenders[0].turns) for each in steps), reverse=True
    )
    assert steps[-1].left_out == 6
    assert [len(each.turns) for each in steps[-1].contenders] == [1, 1]
    last = list(shortened((Contender(turns, "said"),)))[-1]
    assert last.contenders == (Contender((), "said"),)


def test_a_model_without_log_probabilities_is_an_error_that_names_the_option() -> None:
    gateway, _ = judging(script=lambda _: Completion("A"))
    judge = LlmPairJudge(Comparer(gateway, "judge"))
    with pytest.raises(ProviderError, match="`logprobs` and `top_logprobs`"):
        asyncio.run(judge.compare([(response("1"), response("2"))]))


def test_labels_that_begin_alike_are_refused() -> None:
    gateway, _ = judging()
    judge = LlmPairJudge(Comparer(gateway, "judge", PairPrompts(pair=("A", "AB"))))
    with pytest.raises(ConfigError, match="begin alike"):
        asyncio.run(judge.compare([(response("1"), response("2"))]))


def test_labels_of_the_same_first_token_are_refused_where_one_token_is_needed() -> None:
    gateway, _ = judging(script=lambda _: said({"Response": 0.9, "The": 0.1}))
    prompts = PairPrompts(pair=("Response 1", "Response 2"))
    with pytest.raises(ConfigError, match="begin with the same token"):
        asyncio.run(
            Comparer(gateway, "judge", prompts).compare(
                contender_of(response("1")), contender_of(response("2"))
            )
        )


def test_a_call_that_fails_is_no_score() -> None:
    gateway, _ = judging(script=lambda _: CallFailed("gone"))
    judge = LlmPairJudge(Comparer(gateway, "judge"))
    assert asyncio.run(judge.compare([(response("1"), response("2"))])) == [None]
    found = asyncio.run(judge.comparer.judge(contender_of(response("1"))))
    assert (found.value, found.status, found.reason) == (None, Status.CALL_FAILED, "gone")


def test_scores_are_means_over_examples() -> None:
    gateway, requests = judging(first=0.5)
    scorer = PairEvalScorer(
        LlmPairJudge(Comparer(gateway, "judge")), [response("0"), response("1")]
    )
    scores = asyncio.run(scorer.scores([response("1", "a?"), response("3", "b?")]))
    assert scores[0] is not None
    assert scores[1] is not None
    assert 0 < scores[0] < scores[1] < 1
    assert len(requests) == 2 * 2 * 2
    assert scorer.name == "paireval judge"


def test_an_exhaustive_comparison_asks_for_each_pair_once() -> None:
    gateway, requests = judging(first=0.5)
    responses = [response(text, name=text) for text in ("1", "4", "2")]
    scorer = ExhaustiveScorer(LlmPairJudge(Comparer(gateway, "judge")))
    scores = asyncio.run(scorer.scores(responses))
    assert len(requests) == 3 * 2
    given = [score for score in scores if score is not None]
    assert given[0] < given[2] < given[1]
    assert sum(given) == pytest.approx(1.5)  # each pair shares out 1
    assert asyncio.run(scorer.scores(responses[:1])) == [None]


@pytest.mark.parametrize(("count", "scored"), [(21, 21), (5, 3)])
def test_an_exhaustive_score_needs_nine_tenths_of_the_comparisons(count: int, scored: int) -> None:
    """The comparisons of the first two responses with each other fail."""
    answer = better_by(number_in)

    def script(asked: ChatRequest) -> Completion | Exception:
        failed = sorted(shown_responses(asked)) == ["0", "1"]
        return CallFailed("gone") if failed else answer(asked)

    gateway, _ = judging(script=script)
    judge = LlmPairJudge(Comparer(gateway, "judge"))
    scores = asyncio.run(ExhaustiveScorer(judge).scores([response(str(n)) for n in range(count)]))
    assert sum(score is not None for score in scores) == scored
    assert judge.unscored == {"gone": 1}


def test_one_lost_comparison_leaves_a_response_without_a_score() -> None:
    answer = said({"A": 0.6, "B": 0.4})
    gateway, _ = judging(
        script=lambda each: CallFailed("gone") if "bad" in each.messages[-1].text else answer
    )
    judge = LlmPairJudge(Comparer(gateway, "judge"))
    scorer = PairEvalScorer(judge, [response("0"), response("bad")])
    assert asyncio.run(scorer.scores([response("1")])) == [None]
    assert judge.unscored == {"gone": 1}
    preferred = asyncio.run(scorer.preferences([(response("1"), response("2"))]))
    assert preferred == [pytest.approx(0.5)]


def test_directeval_asks_once_for_each_response() -> None:
    gateway, requests = judging()
    scorer = DirectEvalScorer(LlmPairJudge(Comparer(gateway, "judge")))
    scores = asyncio.run(scorer.scores([response("0"), response("2")]))
    assert scores == pytest.approx([0.5, _logistic(2)])
    assert [each.purpose for each in requests] == ["paireval/direct"] * 2
