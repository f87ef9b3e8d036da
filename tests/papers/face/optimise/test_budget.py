"""The allowance: what is sent stays under the limit, and refusals are not forgotten."""

import asyncio

import pytest

from recjury.errors import BudgetSpent, CallFailed
from recjury.papers.face.optimise.allowance import Allowance, StepFailed
from recjury.records import ChatRequest, Message, Reply


class Counted:
    """Answers; prompts with "old" are reused, those with "bad" fail, those with "dear" refused."""

    def __init__(self) -> None:
        self.sent = 0

    async def complete(self, request: ChatRequest) -> Reply:
        text = request.messages[0].text
        await asyncio.sleep(0)
        if "dear" in text:
            raise BudgetSpent("budget of 1 USD")
        self.sent += "old" not in text
        if "bad" in text:
            raise CallFailed("gone")
        return Reply("id", "text", "stop", "m", reused="old" in text)


def _ask(allowance: Allowance, *texts: str) -> list[Reply | BaseException]:
    async def all_at_once() -> list[Reply | BaseException]:
        return await asyncio.gather(
            *(allowance.complete(ChatRequest("m", (Message("user", (t,)),), "p")) for t in texts),
            return_exceptions=True,
        )

    return asyncio.run(all_at_once())


def test_no_more_than_the_limit_is_sent_and_reuse_is_free() -> None:
    gateway = Counted()
    allowance = Allowance(gateway, max_calls=3)
    found = _ask(allowance, *(["old"] * 10), "new", "new", *(["old"] * 5), "new")
    assert not any(isinstance(one, BaseException) for one in found)
    assert allowance.sent == gateway.sent == 3
    allowance.end_step("rewriting", 0.0)


def test_what_is_over_the_limit_ends_the_step() -> None:
    gateway = Counted()
    allowance = Allowance(gateway, max_calls=3)
    found = _ask(allowance, *(["new"] * 5))
    assert sum(isinstance(one, BudgetSpent) for one in found) == 2
    assert gateway.sent == 3
    with pytest.raises(StepFailed, match="iteration 2, selecting: the limit of 3 calls"):
        allowance.end_step("iteration 2, selecting", 1.0)


def test_a_budget_in_dollars_ends_the_step_and_the_run() -> None:
    allowance = Allowance(Counted())
    _ask(allowance, "new", "dear")
    with pytest.raises(StepFailed, match="budget of 1 USD"):
        allowance.end_step("evaluating", 1.0)


def test_few_failures_are_tolerated_and_many_are_not() -> None:
    allowance = Allowance(Counted())
    allowance.begin_step()
    _ask(allowance, "bad", *(["new"] * 49))
    assert allowance.end_step("evaluating", 0.02) == 1
    _ask(allowance, "bad")
    with pytest.raises(StepFailed, match="2 of 51 calls failed, the first with: gone"):
        allowance.end_step("evaluating", 0.02)
    allowance.begin_step()
    _ask(allowance, "new")
    assert allowance.end_step("evaluating", 0.0) == 0
