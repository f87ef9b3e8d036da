"""The code that an answer must carry, so that a quotation is never read as the answer.

A template has `{{ code }}` in its last part, where the form of the answer stands. The code is made
of the text before that part, or of as much of it as holds text under test. The same prompt
therefore has the same code in every run, prompts of different conversations have different codes,
and a text under test, which stands in the prompt before its code is made, cannot hold it.
"""

import hashlib
import re
from collections.abc import Sequence

from recjury.prompts.pack import CODE
from recjury.records import Message

_LETTERS, _DIGITS, _PAIRS = "abcdefghjkmnpqrstuvwxyz", "0123456789", 3
_WRITTEN = re.compile(r'code"?[=:] ?"([a-z][0-9][a-z][0-9][a-z][0-9])"')


def with_code(messages: Sequence[Message], shown: Sequence[str] = ()) -> tuple[Message, ...]:
    """`messages` with the code in place of `{{ code }}` in the last part of the last message.

    The code is made of all text up to the last part that holds one of `shown`, the texts under
    test, so that prompts which ask something else about the same texts share it and the store keeps
    their form once. Without `shown`, it is made of all text before its part. Raises ValueError if
    the last part has no place for it.
    """
    *before, last = messages
    *parts, form = last.parts
    if CODE not in form:
        raise ValueError("the last part of the prompt has no place for the answer's code")
    made_of = [*(part for message in before for part in message.parts), *parts]
    texts = [text for text in shown if text]
    while texts and made_of and not any(text in made_of[-1] for text in texts):
        del made_of[-1]
    hashed = hashlib.sha256("".join(made_of).encode("utf-8", "surrogatepass"))
    filled = form.replace(CODE, _code(hashed.digest()))
    return (*before, Message(last.role, (*parts, filled)))


def code_of(messages: Sequence[Message]) -> str:
    """The code that a prompt asks for; empty if it asks for none.

    A code counts only if it is made of parts before its own: the text under test may hold others.
    What follows that part, such as a note that asks again, does not matter.
    """
    hashed = hashlib.sha256()
    made: set[str] = set()
    found = ""
    for part in (part for message in messages for part in message.parts):
        made.add(_code(hashed.digest()))
        found = next((code for code in _WRITTEN.findall(part) if code in made), found)
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
