"""Text of models, systems and files, as it may be sent to a terminal."""

import re

# C0 but for tab and newline, DEL, C1, and halves of surrogate pairs, which no terminal takes.
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def printable(text: str) -> str:
    r"""`text` with what a terminal would obey spelled out (`\x1b`); tab and newline stay."""
    return _COMMANDS.sub(lambda found: _spelled(ord(found[0])), text)


def _spelled(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
