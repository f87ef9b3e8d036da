"""Sends what plugins print to standard error: standard output is for the result."""

import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import TextIO

_lock = threading.Lock()
_inside = 0
_output: TextIO | None = None


@contextlib.contextmanager
def redirect_stdout() -> Iterator[None]:
    """Send standard output to standard error until the last task inside has left.

    `contextlib.redirect_stdout` must be left in the reverse order of entering, which concurrent
    conversations do not do.
    """
    global _inside, _output  # `sys.stdout` is one for the whole process, too
    with _lock:
        if _inside == 0:
            _output, sys.stdout = sys.stdout, sys.stderr
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0 and _output is not None:
                sys.stdout, _output = _output, None
