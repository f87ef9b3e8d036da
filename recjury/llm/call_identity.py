"""The identity of a call: everything that can change its reply, and the unit it is made for."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

import orjson

from recjury.llm.spec import ModelSpec
from recjury.prompts import prompt_bytes
from recjury.records import ChatRequest

IDENTITY_VERSION = 1


class CallContext(NamedTuple):
    """The unit that a call is made for (a conversation, an evaluation, a campaign), and its sample.

    For a conversation, `sample` is the number of the repeat of its scenario; for an evaluation,
    the number of the judging of its log.
    """

    unit: str | None = None
    sample: int = 0


_NO_CONTEXT = CallContext()

_current: ContextVar[CallContext] = ContextVar("recjury_call_context", default=_NO_CONTEXT)

current_call_context = _current.get
"""The call context of the running task."""


@contextmanager
def call_context(unit: str, sample: int = 0) -> Iterator[None]:
    """The unit for which all calls in this block are made, also those of tasks started inside.

    `sample` is part of the calls' identity, so the third repeat of a scenario and the third judging
    of a log get their own replies.
    """
    token = _current.set(CallContext(unit, sample))
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def shared_call_context() -> Iterator[None]:
    """The unit stays that of the task, and calls in this block are the same in all its samples.

    So what is asked once for all logs is not asked again when they are judged once more.
    """
    token = _current.set(_current.get()._replace(sample=0))
    try:
        yield
    finally:
        _current.reset(token)


def call_identity(
    request: ChatRequest, spec: ModelSpec, unit_sample: int = 0, *, prompt: bytes | None = None
) -> str:
    """32 hex digits that identify the call that `request` makes to `spec`'s model.

    `unit_sample` is the sample of the call's context, `prompt` the bytes of the request's messages,
    where they are known (`prompts.prompt_bytes`). The same text gives the same identity,
    however it is divided into parts, and a prompt has the mark where its answer's code will stand
    (`prompts.answer_code`). Alias, purpose, retries, limits, prices and transport do not
    change the identity.
    """
    header = [
        IDENTITY_VERSION,
        spec.address,
        spec.name,
        spec.embedding,
        spec.json_mode,
        spec.reply_options,
        request.temperature if spec.temperature is None else spec.temperature,
        spec.token_limit(request),
        None,  # for top_p, seed and stop, which no request has any more
        None,
        (),
        request.schema,
        request.top_logprobs,
        request.sample,
        unit_sample,
        [(message.role, sum(map(len, message.parts))) for message in request.messages],
    ]
    if request.n > 1:  # identities of requests for one reply are older than `n`
        header.append(request.n)
    if request.attempt > 0:  # older than `attempt`, too
        header.append({"attempt": request.attempt})
    # The header ends where its JSON ends, and has the length of each message: two different calls
    # never give the same bytes to the hash.
    hashed = hashlib.sha256(orjson.dumps(header, option=orjson.OPT_SORT_KEYS))
    hashed.update(prompt_bytes(request.messages) if prompt is None else prompt)
    return hashed.hexdigest()[:32]
