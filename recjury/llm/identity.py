"""The identity of a call, and the code that its reply must carry.

A rating counts only with a code that was drawn for its call, so a rating that a text under test
quotes, or that a reply quotes from it, never counts. The prompt of the identity has a mark in place
of the code; so equal prompts are equal calls, and the code stands in the row of the call.
"""

import hashlib
import json
import secrets
from collections.abc import Mapping

from recjury.records import CODE, Message, Request

IDENTITY = 1
"""The version of identities: another one makes all calls new."""

_LETTERS, _DIGITS = "abcdefghjkmnpqrstuvwxyz", "0123456789"


def identities(request: Request, model: Mapping[str, object], draws: int) -> list[str]:
    """32 hex digits for each of `draws` replies, each a call of its own.

    `model` has the settings that can change a reply. Alias, purpose, code and limits of the
    connection are left out, since they cannot.
    """
    header = (IDENTITY, model, request.shape, request.temperature, request.max_tokens)
    numbers = (request.sample, request.attempt)
    parts = [(message.role, len(message.text)) for message in request.messages]
    common = hashlib.sha256(json.dumps((header, numbers, parts), sort_keys=True).encode())
    for message in request.messages:
        for part in message.parts:
            common.update(part.encode("utf-8", "surrogatepass"))
    calls = []
    for draw in range(request.draw, request.draw + draws):
        each = common.copy()
        each.update(b"%d" % draw)
        calls.append(each.hexdigest()[:32])
    return calls


def asks_for_code(request: Request) -> bool:
    """Whether the reply must carry a code: the last message has the mark."""
    return any(CODE in part for part in request.messages[-1].parts)


def new_code() -> str:
    """4 letters and 4 digits in turn, drawn at random: neither a word nor a number."""
    return "".join(secrets.choice(_LETTERS) + secrets.choice(_DIGITS) for _ in range(4))


def with_code(request: Request, code: str) -> Request:
    """The request as it is sent, with the code in place of the mark."""
    if not code:
        return request
    *before, last = request.messages
    filled = tuple(part.replace(CODE, code) for part in last.parts)
    return request._replace(messages=(*before, Message(last.role, filled)))
