"""What foreign code prints goes to standard error: standard output belongs to the result."""

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
    """Send what is printed to standard error until the last of those inside has left.

    `contextlib.redirect_stdout` restores in the reverse order of entering, in which conversations
    that go on at the same time do not end.
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
