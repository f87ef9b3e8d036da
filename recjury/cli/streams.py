"""Standard output and standard error of the command, whatever stands behind them."""

import io
import os
import sys
from typing import TextIO

from recjury.safe_text import without_keys


def prepare_streams() -> None:
    """Replace the standard streams by `SafeStream`s, and closed ones by the null device.

    A file that is opened later, such as the store, would otherwise take the place of a closed one.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    sys.stdout, sys.stderr = SafeStream(1, sys.stdout), SafeStream(2, sys.stderr)


class SafeStream(io.TextIOWrapper):
    """A stream that shows no key, and writes out the characters that its encoding lacks.

    When its reader has gone, as that of `recjury status | head -1`, what follows is discarded.
    """

    def __init__(self, number: int, before: TextIO | None):
        """`number` is that of the open file, `before` the stream on it, None if it was closed."""
        super().__init__(
            open(number, "wb", closefd=False),  # noqa: SIM115 (as long as the process)
            encoding="utf-8" if before is None else before.encoding,
            errors="backslashreplace",
            line_buffering=number == 2 or (before is not None and before.isatty()),
        )

    def write(self, text: str) -> int:
        """Write `text` without keys."""
        try:
            return super().write(without_keys(text))
        except BrokenPipeError:
            self._discard()
            return len(text)

    def flush(self) -> None:
        """Write what is left in the buffer."""
        try:
            super().flush()
        except BrokenPipeError:
            self._discard()

    def _discard(self) -> None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
