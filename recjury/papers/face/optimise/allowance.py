"""The limits of an optimisation, and a check whether a step could make all its calls.

The gateway limits US dollars. Here calls are counted, and refused and failed calls are remembered:
a step whose calls were refused must not look like a step with bad results.
"""

import asyncio

from recjury.errors import BudgetSpent, CallFailed, UnitFailed
from recjury.llm import SupportsComplete, attempt_limit
from recjury.records import ChatRequest, Reply


class StepFailed(UnitFailed):
    """A step's calls were refused by the budget, or too many of them failed: run it again."""


class Allowance:
    """A gateway with a limit on the calls that are sent; reused replies do not count.

    When the limit is reached, nothing more is asked, because it is not known in advance whether a
    reply would be reused.
    """

    def __init__(self, gateway: SupportsComplete, *, max_calls: int | None = None):
        """`max_calls` is for this run; None means no limit."""
        self.attempts = attempt_limit(gateway)
        self._gateway = gateway
        self._max_calls = max_calls
        self._in_flight = 0
        self._settled = asyncio.Condition()
        self._refused = ""
        self._failed: list[str] = []
        self._asked = 0
        self.sent = 0

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the reply; raises as the gateway does, and BudgetSpent beyond `max_calls`."""
        await self._admit()
        self._asked += 1
        reused = False
        try:
            reply = await self._gateway.complete(request)
            reused = reply.reused
        except BudgetSpent as refused:
            reused, self._refused = True, self._refused or str(refused)
            raise
        except CallFailed as failure:
            self._failed.append(str(failure))
            raise
        finally:
            await self._settle(reused)
        return reply

    def begin_step(self) -> None:
        """Forget the failures of earlier steps."""
        self._failed, self._asked = [], 0

    def end_step(self, what: str, tolerated: float) -> int:
        """Return how many calls of the step failed.

        Raises StepFailed if one was refused, or if more than the share `tolerated` (0 to 1) failed.
        """
        if self._refused:
            raise StepFailed(
                f"{what}: {self._refused}; run again with a higher limit to continue here"
            )
        if len(self._failed) > tolerated * self._asked:
            raise StepFailed(
                f"{what}: {len(self._failed)} of {self._asked} calls failed, the first with: "
                f"{self._failed[0]}; run again to continue here"
            )
        return len(self._failed)

    async def _admit(self) -> None:
        """Wait until the call fits under the limit: open calls may turn out to be reused."""
        async with self._settled:
            while self._max_calls is not None and self.sent + self._in_flight >= self._max_calls:
                if self.sent >= self._max_calls or self._refused:
                    self._refused = (
                        self._refused or f"the limit of {self._max_calls} calls is reached"
                    )
                    raise BudgetSpent(self._refused)
                await self._settled.wait()
            self._in_flight += 1

    async def _settle(self, reused: bool) -> None:
        async with self._settled:
            self._in_flight -= 1
            self.sent += not reused
            self._settled.notify_all()
