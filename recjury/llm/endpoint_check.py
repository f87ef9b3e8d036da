"""The small requests that try a model before it is used."""

from collections.abc import Collection
from typing import Literal

from recjury.llm.spec import ModelSpec
from recjury.records import ChatRequest, Message

CallUse = Literal["n", "logprobs"]
"""A kind of call besides plain ones: for several replies, or for log-probabilities."""

CHECK_PROMPT = "This is a test of the connection. Answer with: ok"
"""How the prompt of every check ends or begins."""

_SYSTEM = Message("system", ("You are a helpful assistant.",))
_SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}
_MOST_TOKENS = 16


def check_requests(spec: ModelSpec, uses: Collection[CallUse] = ()) -> list[ChatRequest]:
    """One request per kind of call: a chat (with a system message and a temperature), one with a
    schema if the model's `json_mode` sends it, and one per use; or one embedding."""
    user = Message("user", (CHECK_PROMPT,))
    if spec.embedding:
        return [ChatRequest("", (user,), "check")]
    requests = [ChatRequest("", (_SYSTEM, user), "check", max_tokens=_MOST_TOKENS)]
    if spec.json_mode != "off":
        asked = Message("user", (CHECK_PROMPT, ', as the JSON object {"answer": "ok"}'))
        requests.append(
            ChatRequest(
                "", (_SYSTEM, asked), "check/schema", max_tokens=_MOST_TOKENS, schema=_SCHEMA
            )
        )
    if "n" in uses:
        requests.append(
            ChatRequest(
                "", (_SYSTEM, user), "check/n", temperature=1.0, max_tokens=_MOST_TOKENS, n=2
            )
        )
    if "logprobs" in uses:
        requests.append(
            ChatRequest(
                "", (_SYSTEM, user), "check/logprobs", max_tokens=_MOST_TOKENS, top_logprobs=5
            )
        )
    return requests
