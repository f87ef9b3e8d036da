"""What is done about a failed attempt at a call: one function, docs/explanation/calls.md."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal, NamedTuple

from recjury.errors import CallFailed, RecjuryError, Refused, Stop
from recjury.keys import one_line

Step = Literal[
    "max_completion_tokens",
    "no temperature",
    "no n",
    "no response_format",
    "no max_tokens",
    "no system",
    "no logprobs",
]
"""A departure from the protocol. The first four are taken when an endpoint names the parameter.

With the last one, what needs log-probabilities is not asked."""

Dialect = frozenset[Step]
"""What is different for an endpoint. It only grows, so no step is taken twice."""

_STEPS: dict[str, Step] = {
    "max_tokens": "max_completion_tokens",
    "temperature": "no temperature",
    "n": "no n",
    "response_format": "no response_format",
}
_RESEND = 2  # filters and overloaded gateways do not refuse the same request each time

_CREDIT = re.compile(
    r"insufficient_quota|billing_(?:hard|not)|credit balance|insufficient (?:credit|balance|fund)",
    re.IGNORECASE,
)
_CONTENT = re.compile(
    r"content.?filter|content.?(?:management.?)?policy|ResponsibleAI|moderation|was flagged",
    re.IGNORECASE,
)
_LENGTH = re.compile(
    r"context.?length|maximum context|context window|prompt is too long|too many (?:input )?tokens",
    re.IGNORECASE,
)
_LOGPROBS = re.compile(r"logprobs", re.IGNORECASE)
_QUOTED = re.compile(r"['\"`](\w+)['\"`]")


class Remedy(NamedTuple):
    """`do`: ask again, ask in another dialect, give this call up, or stop the run.

    `reason` is one line in the endpoint's words. `wait` is what the endpoint asks for, in seconds.
    `resend` is how often a call that is refused is sent again before that is believed. `no_contact`
    says that nothing answered, or not in the protocol: the address may be wrong.
    """

    do: Literal["again", "change", "refused", "stop"]
    reason: str
    wait: float | None = None
    rate_limited: bool = False
    step: Step | None = None
    resend: int = 0
    no_contact: bool = False

    def error(self) -> RecjuryError:
        """For `refused` and `stop`."""
        return Stop(self.reason) if self.do == "stop" else Refused(self.reason)

    def gave_up(self, *, others_answered: bool) -> RecjuryError:
        """Patience is over: if others were answered, it is this call's trouble and no more."""
        if others_answered:
            return CallFailed(self.reason)
        return Stop(f"{self.reason}; the same command goes on when the endpoint answers")


class AttemptError(Exception):
    """One attempt at a call failed. Providers raise it."""

    def __init__(self, remedy: Remedy):
        """`remedy` says what is to be done."""
        super().__init__(remedy.reason)
        self.remedy = remedy


class Failure(NamedTuple):
    """An error answer: its status, the endpoint's words and code, and the parameter they name."""

    status: int
    words: str
    code: str = ""
    param: str = ""
    headers: Mapping[str, str] = {}

    @property
    def reason(self) -> str:
        """The status and the words, on one line."""
        return one_line(f"HTTP {self.status}: {self.words}")


def remedy_for(failure: Failure, dialect: Dialect, *, worked: bool, key_env: str = "") -> Remedy:
    """What to do about an error answer to a request in `dialect`.

    `worked`: the endpoint has answered other calls. If it has not, an unknown refusal is about the
    settings and not about the call. `key_env` is the variable with the key.
    """
    status, reason = failure.status, failure.reason
    said = f"{failure.code} {failure.words}"
    if status == 402 or (status in (400, 403, 429) and _CREDIT.search(said)):
        return Remedy("stop", f"{reason}: the credit is used up")
    if status in (400, 403, 422, 451) and _CONTENT.search(said):
        return Remedy("refused", reason, resend=_RESEND)
    if status in (401, 403):
        hint = (
            f"check the key in {key_env}" if key_env else "`key_env` names no variable with a key"
        )
        return Remedy("stop", f"{reason}: {hint}")
    if status == 429:
        return Remedy("again", reason, wait=_retry_after(failure.headers), rate_limited=True)
    if status >= 500 or status in (200, 408, 409, 425):
        return Remedy("again", reason, wait=_retry_after(failure.headers))
    return _remedy_for_request(failure, dialect, worked=worked)


def _remedy_for_request(failure: Failure, dialect: Dialect, *, worked: bool) -> Remedy:
    """What to do if the endpoint does not take the request as it is."""
    reason, said = failure.reason, f"{failure.code} {failure.words}"
    if failure.status == 413 or _LENGTH.search(said):
        return Remedy("refused", reason)
    if failure.status in (400, 422):
        if _LOGPROBS.search(f"{failure.param} {said}"):
            return Remedy("refused", reason, step="no logprobs")
        step = _step(failure)
        if step and step not in dialect:
            return Remedy("change", reason, step=step)
    if failure.status in (404, 405) or failure.status < 400 or failure.param == "model":
        return Remedy("stop", f"{reason}: check `base_url` and `name`")
    if worked:
        return Remedy("refused", reason, resend=_RESEND)
    return Remedy("stop", f"{reason}: name what it does not take in `refuses`", resend=_RESEND)


def _step(failure: Failure) -> Step | None:
    """The step about the parameter that the endpoint names, in its field or in quotes."""
    named = (failure.param, *_QUOTED.findall(failure.words))
    return next((_STEPS[name] for name in named if name in _STEPS), None)


def failure_in(status: int, body: Any, headers: Mapping[str, str]) -> Failure:
    """What an error answer says; `body` is its JSON, or its text."""
    inner = body[0] if isinstance(body, list) and body else body  # Gemini puts it into a list
    error = inner.get("error", inner) if isinstance(inner, Mapping) else inner
    if not isinstance(error, Mapping):
        return Failure(status, str(error) or "no words", headers=headers)
    words = error.get("message") or error.get("detail") or error
    code, param = error.get("code") or error.get("type") or "", error.get("param") or ""
    return Failure(status, str(words), str(code), str(param), headers)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds; the header has them, or a date."""
    value = headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None
