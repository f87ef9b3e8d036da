"""Standard output and standard error of the command, whatever stands behind them."""

import io
import os
import sys
from typing import TextIO

from recjury.errors import ConfigError
from recjury.safe_text import without_keys


def prepare_streams() -> None:
    """Replace standard output and error by `SafeStream`s; open closed ones on the null device.

    Otherwise a file that is opened later, such as the store, takes the place of a closed one.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    sys.stdout, sys.stderr = SafeStream(1, sys.stdout), SafeStream(2, sys.stderr)


class SafeStream(io.TextIOWrapper):
    """A stream that shows no key, and writes out the characters that its encoding lacks."""

    def __init__(self, number: int, before: TextIO | None):
        """`number` is that of the open file, `before` the stream on it, None if it was closed."""
        super().__init__(
            io.BufferedWriter(_Sink(number, "wb", closefd=False)),  # type: ignore[type-var]
            encoding="utf-8" if before is None else before.encoding,
            errors="backslashreplace",
            line_buffering=number == 2 or os.isatty(number),
        )

    def write(self, text: str) -> int:
        """Write `text` without keys."""
        return super().write(without_keys(text))


class _Sink(io.FileIO):
    """A file that discards what nobody reads any more (as in `recjury status | head -1`).

    If standard output cannot be written (a full disk), that is one error, and the rest is
    discarded; where standard error cannot be written, nobody can be told.
    """

    _is_lost = False

    def write(self, content: bytes) -> int:  # type: ignore[override]  # of any buffer
        try:
            return super().write(content)
        except BrokenPipeError:
            return len(content)
        except OSError as error:
            if self.fileno() == 2 or self._is_lost:
                return len(content)
            self._is_lost = True
            raise ConfigError(f"standard output cannot be written: {error.strerror}") from None
