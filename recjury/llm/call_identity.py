"""The identity of a call: a hash over everything that can change its reply, and nothing else."""

import hashlib

import orjson

from recjury.llm.spec import ModelSpec
from recjury.records import ChatRequest

IDENTITY_VERSION = 1


def call_identity(request: ChatRequest, spec: ModelSpec, unit_sample: int = 0) -> str:
    """32 hex digits that name the call `request` makes to `spec`'s model.

    `unit_sample` is that of whom the call is for (see `CallContext`). The same text gives the
    same identity however it is cut into parts. The alias, the purpose, retries, limits and prices
    have no part in it; neither has the wire, which moves the same bytes either way.
    """
    header = [
        IDENTITY_VERSION,
        spec.base_url,
        spec.name,
        spec.embedding,
        spec.json_mode,
        spec.extra,
        request.temperature if spec.temperature is None else spec.temperature,
        request.max_tokens if spec.max_tokens is None else spec.max_tokens,
        request.top_p,
        request.seed,
        request.stop,
        request.schema,
        request.top_logprobs,
        request.sample,
        unit_sample,
        [(message.role, sum(map(len, message.parts))) for message in request.messages],
    ]
    if request.n > 1:  # one reply is what every call was before there could be several
        header.append(request.n)
    # The header ends where its JSON ends and tells each message's length: no two calls share
    # the bytes that are hashed.
    hashed = hashlib.sha256(orjson.dumps(header, option=orjson.OPT_SORT_KEYS))
    for message in request.messages:
        for part in message.parts:
            hashed.update(part.encode("utf-8", "surrogatepass"))
    return hashed.hexdigest()[:32]
