"""What an endpoint says about the rest of its quota, in the headers of its answers.

Three families are read. OpenAI's and Groq's `x-ratelimit-*-requests` and `-tokens` have the time
until the quota is whole again as a duration ("6m0s", "7.66s", "12ms"), Azure OpenAI's as a number
of seconds. Anthropic's `anthropic-ratelimit-*` have a date (RFC 3339); of its several token quotas
the combined one is read. A date is compared with that of the answer, so it does not matter whether
this machine's clock is right.
"""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|us|µs|ns|d|h|m|s)")
_SECONDS = {"d": 86400, "h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_LONGEST = 10 * 86400.0
_FAMILIES = ("x-ratelimit-{1}-{0}", "anthropic-ratelimit-{0}-{1}")
_FIELDS = ("limit", "remaining", "reset")

QUOTA_MARKS = (
    "x-ratelimit-remaining-requests",
    "x-ratelimit-remaining-tokens",
    "anthropic-ratelimit-requests-remaining",
)
"""Headers of which every answer that reports a quota has at least one."""

QUOTA_HEADERS = tuple(
    family.format(what, field)
    for family in _FAMILIES
    for what in ("requests", "tokens")
    for field in _FIELDS
)
"""All headers that `read_quota` reads, in lower case."""


class RemainingQuota(NamedTuple):
    """One quota: how much it has when it is whole, what is left of it, and in how many seconds it
    is whole again; None is unknown."""

    limit: float | None
    remaining: float
    reset: float | None

    @property
    def refill(self) -> float | None:
        """How much of the quota comes back in a second; None if that is unknown."""
        if not self.reset or self.limit is None or self.limit <= self.remaining:
            return None
        return (self.limit - self.remaining) / self.reset


class Quota(NamedTuple):
    """What is left of an endpoint's quotas of requests and of tokens; None is unknown."""

    requests: RemainingQuota | None
    tokens: RemainingQuota | None


def read_quota(headers: Mapping[str, str]) -> Quota | None:
    """The quota that `headers` (with names in lower case) report; None without one.

    What cannot be read is ignored. Never raises.
    """
    requests, tokens = _allowance(headers, "requests"), _allowance(headers, "tokens")
    return None if requests is None and tokens is None else Quota(requests, tokens)


def _allowance(headers: Mapping[str, str], what: str) -> RemainingQuota | None:
    for family in _FAMILIES:
        limit, remaining, reset = (headers.get(family.format(what, field)) for field in _FIELDS)
        left = _number(remaining)
        if left is not None:
            return RemainingQuota(_number(limit), left, _seconds(reset, headers))
    return None


def answered_at(headers: Mapping[str, str]) -> datetime:
    """When an answer was sent by the clock of its sender (the `Date` header), or else now."""
    try:
        date = parsedate_to_datetime(headers.get("date", ""))
        return date if date.tzinfo else date.replace(tzinfo=UTC)
    except (TypeError, ValueError, OverflowError):
        return datetime.now(UTC)


def _number(value: str | None) -> float | None:
    try:
        found = float(value or "")
    except ValueError:
        return None
    return found if math.isfinite(found) and found >= 0 else None


def _seconds(value: str | None, headers: Mapping[str, str]) -> float | None:
    """Seconds from the answer: a number of them, a duration such as "2m59.56s", or a date."""
    if not value:
        return None
    value = value.strip().lower()
    found = _number(value)
    if found is None and (parts := _PART.findall(value)) and _PART.sub("", value) == "":
        found = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if found is None:
        try:
            date = datetime.fromisoformat(value.replace("z", "+00:00"))
            found = (date - answered_at(headers)).total_seconds()
        except (TypeError, ValueError, OverflowError):  # a date may lack its zone
            return None
    return min(max(0.0, found), _LONGEST) if found < 1e9 else None
