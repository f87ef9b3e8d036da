"""One batch, from its first request to the last reply that is stored."""

import asyncio
from collections.abc import Callable, Iterable

from recjury.llm.batch.api import BatchState
from recjury.llm.batch.lines import ReplyLines
from recjury.llm.batch.request_file import RequestFile
from recjury.llm.provider import Retryable
from recjury.llm.transport import HttpResponse

Failure = Callable[[], Exception]
"""Makes the exception for one of the calls of a batch that came to nothing."""


class OpenBatch:
    """The calls of one batch, and their answers once it is over.

    `file` has the requests until they are sent; a batch that an earlier run sent has none. It is
    asked for under `id`. `grown` is how often the limits of a file had grown when this one was
    full, None if it was not. `left` are the calls with a reply that is not stored yet; `is_read`
    says whether that is known.
    """

    def __init__(self, number: int = 0, file: RequestFile | None = None):
        """`number` is its place among the batches of this process."""
        self.number = number
        self.file = file
        self.state: BatchState | None = None
        self.lines = ReplyLines()
        self.grown: int | None = None
        self.left: set[str] = set()
        self.is_read = False
        self._over: asyncio.Future[Failure | None] = asyncio.get_running_loop().create_future()
        self._again: set[str] = set()
        self._failures: dict[str, Failure] = {}

    @property
    def id(self) -> str:
        """Its id at the endpoint; empty before it is sent."""
        return "" if self.state is None else self.state.id

    @property
    def is_over(self) -> bool:
        """Whether every call of it can be answered, or has failed."""
        return self._over.done()

    @property
    def total(self) -> int:
        """How many requests it has."""
        total = 0 if self.state is None else self.state.total
        return total or (0 if self.file is None else len(self.file))

    @property
    def done(self) -> int:
        """How many requests the endpoint has processed."""
        return 0 if self.state is None else self.state.completed + self.state.failed

    async def wait(self) -> None:
        """Wait until it is over."""
        await asyncio.shield(self._over)

    def take(self, identity: str) -> HttpResponse | None:
        """The answer to a call once the batch is over; None if the call has to be sent again.

        Raises Retryable if the endpoint did not answer the request, and the failure of the call or
        of the whole batch.
        """
        failure = self._failures.get(identity) or self._over.result()
        if identity in self._again:
            return None
        if failure is not None:
            raise failure()
        if identity in self.lines:
            return self.lines.take(identity)
        if self.file is None:
            return None
        how = self.state.status if self.state is not None else "unknown"
        if how == "completed":
            raise Retryable(f"batch {self.id} came back without the line of this request")
        raise Retryable(f"batch {self.id} is {how}, and this request was not answered")

    def end(self) -> None:
        """The answers are there."""
        self.is_read = True
        self.left = set(self.lines.answered)
        self._end(None)

    def fail(self, failure: Failure) -> None:
        """No call of it can be answered."""
        self._end(failure)

    def send_again(self, identities: Iterable[str]) -> None:
        """These calls go into another batch, which does not count as an attempt."""
        self._again.update(identities)

    def fail_calls(self, failures: dict[str, Failure]) -> None:
        """These calls fail, each for its own reason."""
        self._failures.update(failures)

    def close(self) -> None:
        """Delete what is on disk."""
        self.lines.close()
        if self.file is not None:
            self.file.close()

    def _end(self, failure: Failure | None) -> None:
        if not self._over.done():
            self._over.set_result(failure)
