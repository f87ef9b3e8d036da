"""Test doubles: a provider with scripted replies, and a recorder that stores nothing."""

import secrets
from collections.abc import Callable, Iterable

from recjury.llm.provider import Completion
from recjury.records import CallRecord, ChatRequest, Reply

Line = str | Completion | Exception
"""The text of a reply, a whole completion, or an exception to raise instead."""


class ScriptedModel:
    """Answers from a list, in order, or with a function of the request.

    A request after the end of the list raises LookupError. `requests` has all requests made.
    """

    def __init__(self, script: Iterable[Line] | Callable[[ChatRequest], Line]):
        """`script` is the list, or the function that makes the replies."""
        self._answer = script if callable(script) else _Lines(script)
        self.requests: list[ChatRequest] = []

    async def complete(self, request: ChatRequest) -> Completion:
        """The script's next answer."""
        self.requests.append(request)
        line = self._answer(request)
        if isinstance(line, Exception):
            raise line
        return Completion(line) if isinstance(line, str) else line

    async def check(self) -> None:
        """A script can always be used."""

    async def aclose(self) -> None:
        """Nothing to release."""


class _Lines:
    def __init__(self, lines: Iterable[Line]):
        self._lines = list(lines)
        self._next = 0

    def __call__(self, request: ChatRequest) -> Line:
        if self._next >= len(self._lines):
            raise LookupError(
                f"the script has {len(self._lines)} replies and was asked for one more: "
                f"{request.purpose}"
            )
        self._next += 1
        return self._lines[self._next - 1]


class NullRecorder:
    """A recorder that stores nothing: for a gateway that only checks its models."""

    secret = secrets.token_bytes()

    async def recall(self, identity: str) -> Reply | None:
        """Always None."""

    async def record(self, call: CallRecord) -> None:
        """Store nothing."""
