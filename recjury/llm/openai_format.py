"""Request bodies and reply bodies of the OpenAI-compatible interface."""

import base64
import codecs
import struct
from typing import cast

import orjson

from recjury.llm.adaptation import Adaptation
from recjury.llm.endpoint_spec import EndpointSpec
from recjury.llm.provider import Completion, LogProbs, Retryable
from recjury.records import ChatRequest, Choice

_Fields = dict[str, object]
_MISFITS = (AttributeError, LookupError, OverflowError, TypeError, ValueError, struct.error)
_TOO_MANY = 2**31  # tokens that no call has
_SPOKEN_PARTS = ("text", "output_text")
_THOUGHTS = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
_NAMES_OF_THOUGHTS = frozenset(_THOUGHTS)
_PARTS_OF_THOUGHTS = ("thinking", "text", "summary", "reasoning", "content")


def request_body(
    request: ChatRequest, spec: EndpointSpec, adaptation: Adaptation | None = None
) -> _Fields:
    """The JSON body that asks `spec`'s model for `request`, in the form that it accepts."""
    body: _Fields = {"model": spec.name}
    if spec.embedding:
        body["input"] = [message.text for message in request.messages]
    else:
        _add_chat_fields(body, request, spec)
        body.update(spec.body_fields(request))
        if adaptation is not None:
            body = adaptation.applied(body)
    for name, value in spec.extra.items():
        if value is None:
            body.pop(name, None)
        else:
            body[name] = value
    return body


def _add_chat_fields(body: _Fields, request: ChatRequest, spec: EndpointSpec) -> None:
    body["messages"] = [
        {"role": role, "content": "".join(parts)} for role, parts in request.messages
    ]
    body["temperature"] = request.temperature if spec.temperature is None else spec.temperature
    max_tokens = spec.sent_limit(request)
    if max_tokens is not None:
        body["max_tokens"] = max_tokens
    if request.n > 1:
        body["n"] = request.n
    if request.top_logprobs is not None:
        body["logprobs"] = True
        body["top_logprobs"] = request.top_logprobs
    if request.schema is not None and spec.json_mode != "off":
        body["response_format"] = _response_format(request.schema, spec)


def _response_format(schema: _Fields, spec: EndpointSpec) -> _Fields:
    if spec.json_mode == "object":
        return {"type": "json_object"}
    shape = {"name": "answer", "strict": True, "schema": schema}
    return {"type": "json_schema", "json_schema": shape}


def read_completion(raw: bytes, *, vectors: int = 0) -> Completion:
    """The completion in a response body. Raises Retryable for a body without a completion.

    An empty message is a valid reply with the text "". With `vectors` above 0, the body must have
    that many embeddings; they are returned as `text`: base64 of little-endian float32 numbers, one
    vector after the other in the order of the inputs.
    """
    try:
        body = orjson.loads(raw.removeprefix(codecs.BOM_UTF8))
    except orjson.JSONDecodeError:
        raise Retryable(f"the reply is not JSON ({len(raw)} bytes)") from None
    try:
        return _embeddings(body, vectors) if vectors else _chat(body)
    except (*_MISFITS, RecursionError):
        kind = f"list of {vectors} embeddings" if vectors else "chat completion"
        raise Retryable(f"the reply is not a {kind}") from None


def _chat(body: _Fields) -> Completion:
    choice, *more = _in_order(cast("list[_Fields]", body["choices"]))
    first = _said(choice)
    logprobs = choice.get("logprobs")
    prompt, completion, cached = _tokens(body)
    return Completion(
        text=first.text,
        reasoning=first.reasoning,
        finish_reason=first.finish_reason,
        model=str(body.get("model") or ""),
        prompt_tokens=prompt,
        completion_tokens=completion,
        cached_tokens=cached,
        logprobs=_logprobs(logprobs) if logprobs else (),
        further=tuple(map(_said, more)),
        fingerprint=str(body.get("system_fingerprint") or ""),
    )


def _in_order(choices: list[_Fields]) -> list[_Fields]:
    """The choices by their `index`; as they came if not all have one of their own."""
    if len(choices) == 1:
        return choices
    places = [choice.get("index") for choice in choices]
    if any(type(place) is not int for place in places) or len(set(places)) < len(places):
        return choices
    return sorted(choices, key=lambda choice: cast("int", choice["index"]))


def _said(choice: _Fields) -> Choice:
    message = cast("_Fields", choice["message"])
    content = message.get("content")
    finish_reason = str(choice.get("finish_reason") or "")
    if isinstance(content, str):
        return Choice(content, finish_reason, _thoughts(message))
    # Some endpoints send the text as a list of typed parts, and nothing as null.
    if content is not None and not isinstance(content, list):
        raise TypeError("the content is neither a text nor a list of parts")
    parts = cast("list[_Fields]", content or [])
    text = "".join(_plain_text(part["text"]) for part in parts if _is_spoken(part))
    thought = "".join(_plain_thoughts(part) for part in parts if not _is_spoken(part))
    return Choice(text, finish_reason, _thoughts(message) or thought)


def _is_spoken(part: _Fields) -> bool:
    kind = part.get("type")
    return "text" in part if kind is None else kind in _SPOKEN_PARTS


def _plain_text(found: object) -> str:
    """The text of a part: a string, a list of strings, or an object with either as `value`."""
    if isinstance(found, dict):
        found = found["value"]
    pieces = found if isinstance(found, list) else [found]
    if not all(isinstance(piece, str) for piece in pieces):
        raise TypeError("the text of a part is no text")
    return "".join(cast("list[str]", pieces))


def _thoughts(message: _Fields) -> str:
    """The model's thoughts that an endpoint sends beside the text, under any of the known names."""
    if _NAMES_OF_THOUGHTS.isdisjoint(message):
        return ""
    return next(filter(None, (_plain_thoughts(message.get(name)) for name in _THOUGHTS)), "")


def _plain_thoughts(found: object, depth: int = 4) -> str:
    """The text of a string, of a part, or of a list of parts."""
    if isinstance(found, str):
        return found
    if depth and isinstance(found, list):
        return "".join(_plain_thoughts(each, depth - 1) for each in found)
    if depth and isinstance(found, dict):
        texts = (_plain_thoughts(found.get(name), depth - 1) for name in _PARTS_OF_THOUGHTS)
        return next(filter(None, texts), "")
    return ""


def _tokens(body: _Fields) -> tuple[int, int, int]:
    """Tokens of the prompt, of the reply, and of the prompt's that were cached; 0 if unknown."""
    usage = _mapping(body.get("usage"))
    details = _mapping(usage.get("prompt_tokens_details"))
    prompt = _count(usage.get("prompt_tokens"), usage.get("input_tokens"))
    completion = _count(usage.get("completion_tokens"), usage.get("output_tokens"))
    total = _count(usage.get("total_tokens"))
    if prompt:  # some endpoints count thoughts in the total alone
        completion = max(completion, total - prompt)
    else:
        prompt = max(0, total - completion)
    cached = _count(
        details.get("cached_tokens"),
        usage.get("cached_tokens"),
        usage.get("prompt_cache_hit_tokens"),
    )
    return prompt, completion, min(cached, prompt)


def _mapping(found: object) -> _Fields:
    return found if isinstance(found, dict) else {}


def _count(*found: object) -> int:
    """The first number of tokens above 0; 0 if there is none, as the reply may still be valid."""
    for each in found:
        if count := _whole(each):
            return count
    return 0


def _whole(found: object) -> int:
    if type(found) is int:
        return found if 0 <= found < _TOO_MANY else 0
    if isinstance(found, float) and 0 <= found < _TOO_MANY:
        return int(found)
    return 0


def _logprobs(found: object) -> LogProbs:
    tokens = cast("list[_Fields]", cast("_Fields", found).get("content") or [])
    return tuple((*_token(token), tuple(map(_token, _alternatives(token)))) for token in tokens)


def _alternatives(token: _Fields) -> list[_Fields]:
    return cast("list[_Fields]", token.get("top_logprobs") or [])


def _token(token: _Fields) -> tuple[str, float]:
    return str(token["token"]), float(cast("float", token["logprob"]))


def _embeddings(body: _Fields, expected: int) -> Completion:
    rows = sorted(cast("list[_Fields]", body["data"]), key=lambda row: cast("int", row["index"]))
    vectors = [cast("list[float]", row["embedding"]) for row in rows]
    if len(vectors) != expected or len({len(vector) for vector in vectors}) != 1 or not vectors[0]:
        raise ValueError("the number or the lengths of the vectors are wrong")
    numbers = [number for vector in vectors for number in vector]
    prompt, _, cached = _tokens(body)
    return Completion(
        text=base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode("ascii"),
        model=str(body.get("model") or ""),
        prompt_tokens=prompt,
        cached_tokens=cached,
    )
