"""The code that an answer must carry, so that a quotation is never read as the answer.

A template has `{{ code }}` in its last part, where the form of the answer stands. The code is made
of the text before that part. The same prompt therefore has the same code in every run, prompts of
different conversations have different codes, and a text under test, which stands in the prompt
before its code is made, cannot hold it.
"""

import hashlib
import re
from collections.abc import Sequence

from recjury.prompts.pack import CODE
from recjury.records import Message

_LETTERS, _DIGITS, _PAIRS = "abcdefghjkmnpqrstuvwxyz", "0123456789", 3
_WRITTEN = re.compile(r'code"?[=:] ?"([a-z][0-9][a-z][0-9][a-z][0-9])"')


def with_code(messages: Sequence[Message]) -> tuple[Message, ...]:
    """`messages` with the code in place of `{{ code }}` in the last part of the last message.

    Raises ValueError if the last part has no place for it.
    """
    *before, last = messages
    *parts, form = last.parts
    if CODE not in form:
        raise ValueError("the last part of the prompt has no place for the answer's code")
    hashed = hashlib.sha256()
    for text in (*(part for message in before for part in message.parts), *parts):
        hashed.update(text.encode("utf-8", "surrogatepass"))
    filled = form.replace(CODE, _code(hashed.digest()))
    return (*before, Message(last.role, (*parts, filled)))


def code_of(messages: Sequence[Message]) -> str:
    """The code that a prompt asks for; empty if it asks for none.

    A code counts only if it is the one made of the text before its part: the text under test may
    hold others. What follows that part, such as a note that asks again, does not matter.
    """
    hashed = hashlib.sha256()
    found = ""
    for part in (part for message in messages for part in message.parts):
        written = _WRITTEN.findall(part)
        if written and (code := _code(hashed.digest())) in written:
            found = code
        hashed.update(part.encode("utf-8", "surrogatepass"))
    return found


def _code(digest: bytes) -> str:
    """Letters and digits in turn: such a code is neither a word nor a number."""
    number = int.from_bytes(digest[:8], "big")
    code = ""
    for _ in range(_PAIRS):
        number, letter = divmod(number, len(_LETTERS))
        number, digit = divmod(number, len(_DIGITS))
        code += _LETTERS[letter] + _DIGITS[digit]
    return code
