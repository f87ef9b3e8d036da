"""Keys of endpoints and servers: read from variables, and hidden where a text might quote one."""

import os
import re

from recjury.errors import UserError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KNOWN: set[str] = set()
_LONGEST = 300  # characters of others' words in a message
_SHORTEST = 6  # a shorter "key" may be part of any word


def key_of(variable: str) -> str:
    """The key in an environment variable, without spaces and line breaks around it.

    Raises UserError if the variable is not set, or holds what no header can carry.
    """
    if not _NAME.fullmatch(variable):
        raise UserError("`key_env` is no name of a variable: name the one that holds the key")
    key = os.environ.get(variable, "").strip()
    if not key:
        raise UserError(f"the variable {variable} is not set: it has to hold the key")
    if not key.isascii() or not key.isprintable():
        raise UserError(f"the variable {variable} holds characters that no key has: type it again")
    if len(key) >= _SHORTEST:
        _KNOWN.add(key)
    return key


def hidden(text: str) -> str:
    """`text` with `[key]` in place of each key that was read."""
    for key in _KNOWN:
        text = text.replace(key, "[key]")
    return text


def one_line(words: str | BaseException) -> str:
    """Words of others for a message: on one line, no longer than a reader wants, without keys.

    The type of an exception stands before its words.
    """
    text = words if isinstance(words, str) else f"{type(words).__name__}: {words}"
    line = hidden(" ".join(text.split()))
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
