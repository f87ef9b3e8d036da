"""What an endpoint says when it refuses a request, read from the many forms of error bodies."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import orjson

_LONGEST = 4_000  # characters of what an endpoint says that are looked at
_DEEPEST = 8
_TEXTS = ("message", "msg", "detail", "error", "raw", "description", "error_description", "reason")
_MARKS = ("code", "type", "status", "error_type", "error_code")
_INSIDE = ("metadata", "details", "errors", "reasons", "innererror", "fieldViolations")
_NOT_PAID, _BROKEN = 402, 502  # HTTP statuses
_TITLE = re.compile(r"<title[^>]*>([^<]{1,200})", re.IGNORECASE)

_CONTENT = re.compile(
    r"content[_ -]?filter|content[_ -]management|content[_ -]policy|responsible ?ai|moderat"
    r"|\bflagged\b|safety|data_?inspection|inappropriate|sensitive (content|word|information)"
    r"|violat\w* .{0,60}polic|usage polic|prohibited|invalid_prompt|content exists risk"
    r"|blocked .{0,40}(prompt|content|input)|(prompt|content|input) .{0,40}blocked|harmful"
)
_LENGTH = re.compile(
    r"context[_ -]?(length|window|size)|maximum (context|input|prompt)|too many (input )?tokens"
    r"|(prompt|input|request|message)s? (is |are |was )?too (long|large)|max_(seq_len|model_len)"
    r"|exceed\w* .{0,60}(context|max(imum)? (input |sequence )?length|token limit|max_tokens_limit)"
    r"|reduce the length|string_above_max_length|exceeds max(imum)? length"
    r"|longer than the (model|max)|number of (input )?tokens .{0,60}exceed|input length"
    r"|prompt_tokens .{0,40}must be less|inputs?`? tokens"
)
_TOO_LONG = re.compile(r"\btoo long\b")  # a server error with it may be about time
_TOKENS = re.compile(r"context|prompt|token")
_CUT_OFF = re.compile(
    r"could not finish the message because max_tokens|model output limit was reached"
)
_ACCOUNT = re.compile(
    r"(invalid|incorrect|wrong|missing|expired|unknown|no) .{0,20}\b(api[ _-]?key|credentials)"
    r"|invalid_api_key|api_key_invalid|api[ _-]?key .{0,30}(invalid|not valid|expired|missing)"
    r"|insufficient[_ ](quota|balance|credit|fund)|credit balance"
    r"|unpaid|account .{0,30}(deactivated|suspended|disabled)|billing[_ ](hard|not)"
)
_MODEL = re.compile(
    r"model[_ ]not[_ ](found|exist)|unknown_model|invalid_model|not a valid model|no such model"
)
_MODEL_GONE = re.compile(
    r"unknown model|model\b.{0,80}(does not exist|doesn't exist|not found|not exist"
    r"|no longer available|has been (deprecated|removed|decommissioned))"
)
_FIELD = re.compile(
    r"(?<![-/.\w])(max_\w*tokens|temperature|top_?p|response_?format|json_(schema|object|mode)"
    r"|(top_)?logprobs?|seed|stop|roles?|system (message|prompt|instruction)s?|parameter n)"
    r"(?![-/\w]|:\w)|['\"`]n['\"`]"
)


class ErrorAnswer(NamedTuple):
    """An answer that is no reply.

    `message` is the endpoint's own message, and `code` its code. `named` are the parts of the
    request that it names as the cause. `words` is everything that it says, in lower case.
    """

    status: int
    message: str
    code: str = ""
    named: frozenset[str] = frozenset()
    words: str = ""

    @property
    def about_content(self) -> bool:
        """Whether a filter refused what the request says."""
        return bool(_CONTENT.search(self.words))

    @property
    def about_length(self) -> bool:
        """Whether the request is longer than the model can read."""
        if self.status >= 500:
            return bool(_LENGTH.search(self.words) and _TOKENS.search(self.words))
        return bool(_LENGTH.search(self.words) or _TOO_LONG.search(self.words))

    @property
    def about_account(self) -> bool:
        """Whether the key or the account is refused."""
        return bool(_ACCOUNT.search(self.words))

    @property
    def about_model(self) -> bool:
        """Whether there is no such model; it is not if a field of the request is named."""
        if _MODEL.search(self.words):
            return True
        return bool(_MODEL_GONE.search(self.words)) and not _FIELD.search(self.words)

    @property
    def about_form(self) -> bool:
        """Whether no server behind the address accepts the fields of the request together."""
        return self.status == 404 and "requested parameters" in self.words

    @property
    def is_explained(self) -> bool:
        """Whether it says what is wrong, other than the form of the request."""
        return self.about_content or self.about_length or self.about_account or self.about_model

    @property
    def was_cut_off(self) -> bool:
        """Whether the model ran out of tokens before it said anything (OpenAI says so as a 400)."""
        return bool(_CUT_OFF.search(self.words))


def read_error(status: int, body: bytes) -> ErrorAnswer:
    """What `body` says, whatever its form. Never raises."""
    text = body[: 16 * _LONGEST].decode("utf-8", "replace")
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError:
        shown = _page(text)
        return ErrorAnswer(status, shown, words=shown[:_LONGEST].lower())
    return _of_parsed(status, parsed)


def error_inside(parsed: object) -> ErrorAnswer | None:
    """The error that an answer with status 200 holds in the place of a reply; None without one.

    That is an `error`, or a `message` with a `code` that is a number above or below 0. Its status
    is its own code where that is an HTTP status, else 402 for an account without credit, else 502.
    """
    if not isinstance(parsed, dict) or parsed.get("choices"):
        return None
    error = parsed.get("error") or parsed
    code = error.get("code") if isinstance(error, dict) else None
    number = code if isinstance(code, int) and not isinstance(code, bool) else 0
    if error is parsed and not (number and parsed.get("message")):
        return None
    if 400 <= number < 600:
        return _of_parsed(number, parsed)
    answer = _of_parsed(_BROKEN, parsed)
    return answer._replace(status=_NOT_PAID) if answer.about_account else answer


def _of_parsed(status: int, parsed: object) -> ErrorAnswer:
    said = list(_said(parsed, _DEEPEST))
    texts = dict.fromkeys(text.strip() for kind, text in said if kind == "text" and text.strip())
    marks = [text for kind, text in said if kind == "mark"]
    named = frozenset(text for kind, text in said if kind == "named")
    message = ": ".join(texts)
    words = " ".join((message[:_LONGEST], *marks, *named)).lower()
    code = next((text for kind, text in said if kind == "code"), "")
    return ErrorAnswer(status, message, code, named, words)


def _said(found: object, depth: int) -> Iterator[tuple[str, str]]:
    """All that an error body says: ("text", a message), ("mark", a code or type), ("code", the
    code), ("named", a part of the request)."""
    if depth == 0:
        return
    if isinstance(found, str):
        inner = _json_in(found)
        if inner is None:
            yield "text", found[:_LONGEST]
        else:
            yield from _said(inner, depth - 1)
    elif isinstance(found, list):
        for each in found[:20]:
            yield from _said(each, depth - 1)
    elif isinstance(found, Mapping):
        yield from _said_by_fields(found, depth)


def _said_by_fields(found: Mapping[str, object], depth: int) -> Iterator[tuple[str, str]]:
    for name in _TEXTS:
        yield from _said(found.get(name), depth - 1)
    for name in _MARKS:
        if isinstance(found.get(name), str | int):
            yield "mark", str(found[name])[:200]
    if isinstance(found.get("code"), str | int):
        yield "code", str(found["code"])[:200]
    if isinstance(found.get("param"), str):
        yield "named", str(found["param"])[:200].lower()
    place = found.get("loc")
    if isinstance(place, list):
        for step in place[:10]:
            yield "named", str(step)[:200].lower()
    for name in _INSIDE:
        yield from _said(found.get(name), depth - 1)


def _json_in(text: str) -> object | None:
    """What a text is that holds an answer of another server; None for plain text."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        parsed: object = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return parsed


def _page(text: str) -> str:
    """Plain text as it is; a web page as its title."""
    start = text.lstrip()[:200].lower()
    if not start.startswith(("<!doctype", "<html", "<head", "<?xml")):
        return text
    title = _TITLE.search(text)
    named = " ".join(title[1].split()) if title else ""
    return f"a web page{f' ({named})' if named else ''}"
