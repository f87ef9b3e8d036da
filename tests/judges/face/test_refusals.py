"""Where one call of several is refused, none of the others goes on behind the caller's back."""

from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from recjury.judges import EvaluatorContext
from recjury.judges.direct import DirectEvaluator
from recjury.judges.face import LlmDecomposer
from recjury.papers.face.optimise.bandit import play
from recjury.papers.face.optimise.gradient import Case, Task
from recjury.papers.face.optimise.rewrite import Rewriter
from recjury.records import Aspect, ConversationRecord
from tests.judges.cases import SPEC
from tests.judges.face.logs import log
from tests.llm.doubles import OneRefuses, asked_and_left_open, request

Act = Callable[[OneRefuses], Coroutine[Any, Any, object]]


def _rate(model: OneRefuses) -> Coroutine[Any, Any, object]:
    context = EvaluatorContext(gateway=model, models={"main": SPEC})  # type: ignore[arg-type]
    rater = DirectEvaluator().prepared(context)
    record = ConversationRecord(log("Hi", "A.", "No", "B.", "No", "C."))
    return rater.evaluate("relevance", record, {})


def _decompose(model: OneRefuses) -> Coroutine[Any, Any, object]:
    return LlmDecomposer(model, "main").decompose(log("Hi", "A.", "No", "B.", "No", "C."))


def _rewrite(model: OneRefuses) -> Coroutine[Any, Any, object]:
    case = Case("Look at the particle.", "<particle>Try Heat (1995).</particle>", 0.4, 1.5)
    rewriter = Rewriter(model, "main", Task(Aspect.RELEVANCE, "Does it fit?"), gradients=3)
    return rewriter.rewrite(case, purpose="test")


def _select(model: OneRefuses) -> Coroutine[Any, Any, object]:
    async def reward(pull: int, arm: int) -> float | None:
        await model.complete(request())
        return None

    return play(6, reward, keep=2, particles=8)


@pytest.mark.parametrize("act", [_rate, _decompose, _rewrite, _select])
def test_nothing_outlives_the_refusal_of_another_call(act: Act) -> None:
    assert asked_and_left_open(act) == (3, 0)
