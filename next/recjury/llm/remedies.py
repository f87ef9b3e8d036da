"""What is done about a failed attempt at a call: one function, one table (docs/models.md)."""

from typing import Literal, NamedTuple

from recjury.errors import CallFailed, RecjuryError, Refused, Stop

Step = Literal["max_completion_tokens", "no temperature", "no n", "no response_format"]
"""A departure from the protocol that an endpoint may ask for."""

Dialect = frozenset[Step]
"""What an endpoint has asked for so far. It only grows, so there are at most four steps."""

_STEPS: dict[str, Step] = {
    "max_tokens": "max_completion_tokens",
    "temperature": "no temperature",
    "n": "no n",
    "response_format": "no response_format",
}
_CREDIT = ("insufficient_quota", "billing_hard_limit_reached")
_CONTENT = ("content_filter", "content_policy_violation", "context_length_exceeded")


class Remedy(NamedTuple):
    """`do`: ask again, ask in another dialect, give this call up, or stop the run.

    `reason` is one line in the endpoint's words. `wait` is what the endpoint asks for, in seconds.
    """

    do: Literal["again", "change", "refused", "stop"]
    reason: str
    wait: float | None = None
    rate_limited: bool = False
    step: Step | None = None

    def error(self) -> RecjuryError:
        """For `refused` and `stop`."""
        return Stop(self.reason) if self.do == "stop" else Refused(self.reason)

    def gave_up(self, *, others_answered: bool) -> RecjuryError:
        """Patience is over: it is this call's trouble if others were answered, else the endpoint's."""
        return CallFailed(self.reason) if others_answered else Stop(self.reason)


class AttemptError(Exception):
    """One attempt at a call failed. Providers raise it."""

    def __init__(self, remedy: Remedy):
        """`remedy` says what is to be done."""
        super().__init__(remedy.reason)
        self.remedy = remedy


def remedy_for(error: Exception, dialect: Dialect) -> Remedy:
    """What to do about `error`, which the SDK raised for a request in `dialect`."""
    import openai

    reason = _reason(error)
    if not isinstance(error, openai.APIStatusError):
        return Remedy("again", reason)  # no connection, a timeout, a broken answer
    code, status = str(error.code or ""), error.status_code
    if code in _CREDIT or (status in (401, 403) and code not in _CONTENT):
        return Remedy("stop", reason)
    if status == 429:
        return Remedy("again", reason, wait=_retry_after(error), rate_limited=True)
    if status >= 500 or status in (408, 409):
        return Remedy("again", reason, wait=_retry_after(error))
    step = _STEPS.get(str(error.param or "")) or _named(reason)
    if status in (400, 422) and step and step not in dialect:
        return Remedy("change", reason, step=step)
    if status == 404:
        return Remedy("stop", reason)
    return Remedy("refused", reason)


def _named(reason: str) -> Step | None:
    quoted = (word.strip("'\"`.,:") for word in reason.split() if word[:1] in "'\"`")
    return next((_STEPS[word] for word in quoted if word in _STEPS), None)


def _reason(error: Exception) -> str:
    cause = error.__cause__
    if cause is not None and not isinstance(error, TimeoutError):
        return f"{type(cause).__name__}: {cause}"  # the aiohttp adapter calls all of them timeouts
    return " ".join(str(error).split()) or type(error).__name__


def _retry_after(error: object) -> float | None:
    try:
        return float(error.response.headers["retry-after"])  # type: ignore[attr-defined]
    except (KeyError, ValueError):
        return None
