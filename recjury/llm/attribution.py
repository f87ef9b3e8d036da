"""For whom a call is made: known from the context, so that no room passes it through."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple


class Attribution(NamedTuple):
    """The trial (or campaign) a call is for, and which repeat of its scenario that trial is."""

    trial: str | None = None
    repeat: int = 0


NOBODY = Attribution()

_current: ContextVar[Attribution] = ContextVar("recjury_attribution", default=NOBODY)

attribution = _current.get
"""The attribution of the running task."""


@contextmanager
def on_behalf_of(trial: str, repeat: int = 0) -> Iterator[None]:
    """Calls made inside, also by tasks started inside, are for `trial`, or a campaign without any.

    `repeat` enters their identity as a part of the sample: the third repeat of a scenario gets
    replies of its own.
    """
    token = _current.set(Attribution(trial, repeat))
    try:
        yield
    finally:
        _current.reset(token)
