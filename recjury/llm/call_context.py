"""For whom a call is made: known from the context, so that no room passes it through."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple


class CallContext(NamedTuple):
    """The unit a call is for (a conversation, an evaluation, a campaign), and its sample.

    The sample is which repeat of its scenario a conversation is, and which judging of its log an
    evaluation is.
    """

    unit: str | None = None
    sample: int = 0


NO_CONTEXT = CallContext()

_current: ContextVar[CallContext] = ContextVar("recjury_attribution", default=NO_CONTEXT)

current_call_context = _current.get
"""The current_call_context of the running task."""


@contextmanager
def call_context(unit: str, sample: int = 0) -> Iterator[None]:
    """Calls made inside, also by tasks started inside, are for `unit`.

    `sample` enters their identity: the third repeat of a scenario, and the third judging of a
    log, get replies of their own.
    """
    token = _current.set(CallContext(unit, sample))
    try:
        yield
    finally:
        _current.reset(token)
