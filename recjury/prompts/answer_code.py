"""The code that an answer must carry, so that a quotation is never read as the answer.

A template has `{{ code }}` where the form of the answer stands. A prompt keeps the mark `CODE`
there, in the store and in the identity of its call; the code takes its place in what is sent. It is
keyed by the secret of the store, so nobody computes it who writes a text under test, and the same
prompt has the same code in all calls of a store.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from recjury.prompts.pack import CODE
from recjury.records import ChatRequest, Message, ObjectForm, RatingForm

_PAIRS = tuple(f"{letter}{digit}" for digit in range(10) for letter in "abcdefghjkmnpqrstuvwxyz")
_PAIRS_OF_CODE = 4
_MARK = CODE.encode()


def prompt_bytes(messages: Sequence[Message]) -> bytes:
    """All text of a prompt; its messages stand one after the other."""
    parts = [part for message in messages for part in message.parts]
    return "".join(parts).encode("utf-8", "surrogatepass")


def answer_code(secret: bytes, prompt: bytes) -> str:
    """The code for a prompt that asks for one, 4 letters and 4 digits in turn.

    What stands after its mark, such as a note that asks again, does not change the code. Such a
    code is neither a word nor a number. There are 2.8 thousand million of them.
    """
    before, _, _ = prompt.rpartition(_MARK)
    # The secret before the text makes a keyed hash of SHA-256, as long as only a part is used: a
    # third of the time of an HMAC.
    number = int.from_bytes(hashlib.sha256(secret + before).digest()[:8], "big")
    code = ""
    for _ in range(_PAIRS_OF_CODE):
        number, pair = divmod(number, len(_PAIRS))
        code += _PAIRS[pair]
    return code


def asks_for_code(messages: Sequence[Message]) -> bool:
    """Whether the answer to a prompt must carry a code: its last message has the mark."""
    return _location_of_form(messages) is not None


def _location_of_form(messages: Sequence[Message]) -> int | None:
    """The number of the part of the last message with the mark; a note may stand after it."""
    parts = messages[-1].parts if messages else ()
    return next((n for n in reversed(range(len(parts))) if CODE in parts[n]), None)


def with_code(request: ChatRequest, code: str) -> ChatRequest:
    """`request` as it is sent: with its code in place of the mark, also in the form of the reply.

    Without a code it is returned as it is.
    """
    place = _location_of_form(request.messages) if code else None
    if place is None:
        return request
    *before, last = request.messages
    parts = (*last.parts[:place], last.parts[place].replace(CODE, code), *last.parts[place + 1 :])
    form = request.form
    if isinstance(form, RatingForm):
        form = replace(form, code=form.code.replace(CODE, code))
    elif isinstance(form, ObjectForm):
        form = replace(form, schema=_filled(form.schema, code))
    return request._replace(messages=(*before, Message(last.role, parts)), form=form)


def _filled(value: Any, code: str) -> Any:
    """A JSON schema with the code in place of the mark."""
    if isinstance(value, dict):
        return {name: _filled(each, code) for name, each in value.items()}
    return code if value == CODE else value
