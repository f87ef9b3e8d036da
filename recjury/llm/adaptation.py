"""How requests to one model are changed, because its endpoint refuses them otherwise."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Literal, get_args

from recjury.llm.error_answer import ErrorAnswer
from recjury.records import JSON

Feature = Literal[
    "roles",
    "system",
    "max_tokens",
    "temperature",
    "response_format",
    "logprobs",
    "n",
]
"""Something of a request that an endpoint may refuse."""

SentMessage = dict[str, str]
"""A message as it is sent: its `role` and `content`."""

OPENING = "(The conversation begins.)"
"""What a user is made to say before an assistant's message that comes first."""
CLOSING = "(It is your turn.)"
"""What a user is made to say after an assistant's message that comes last."""

FEATURES: tuple[Feature, ...] = get_args(Feature)
LEFT_OUT: Literal["left out"] = "left out"
_LOWEST_TEMPERATURE = 0.01
_HIGHEST_TEMPERATURE = 1.0
_TOKEN_FIELDS = ("max_tokens", "max_completion_tokens")


@dataclass(frozen=True, slots=True)
class Adaptation:
    """What is sent differently; each field is empty, or False, for what is sent as it is.

    It changes request bodies only, never the identity of a call. `lowest_temperature` and
    `highest_temperature` limit what is sent, and `most_tokens` limits the length of replies.
    """

    roles: bool = False
    system: bool = False
    max_tokens: Literal["", "max_completion_tokens", "left out"] = ""
    most_tokens: int | None = None
    temperature: bool = False
    lowest_temperature: float | None = None
    highest_temperature: float | None = None
    response_format: Literal["", "json_object", "left out"] = ""
    logprobs: bool = False
    n: bool = False

    def applied(self, body: dict[str, object]) -> dict[str, object]:
        """A chat request's `body`, changed."""
        if self is UNCHANGED:
            return body
        changed = dict(body)
        messages: list[SentMessage] = changed["messages"]  # type: ignore[assignment]
        if self.system and has_system(messages):
            messages = without_system(messages)
        if self.roles and not alternates(messages):
            messages = alternating(messages)
        changed["messages"] = messages
        for name in ("temperature", "n"):
            if getattr(self, name):
                changed.pop(name, None)
        if self.logprobs:
            changed.pop("logprobs", None)
            changed.pop("top_logprobs", None)
        self._limit(changed)
        return changed

    def _limit(self, body: dict[str, object]) -> None:
        temperature = body.get("temperature")
        if isinstance(temperature, int | float):
            low = -math.inf if self.lowest_temperature is None else self.lowest_temperature
            high = math.inf if self.highest_temperature is None else self.highest_temperature
            body["temperature"] = min(max(temperature, low), high)
        most = body.get("max_tokens")
        if isinstance(most, int) and self.most_tokens is not None:
            body["max_tokens"] = min(most, self.most_tokens)
        if self.max_tokens and "max_tokens" in body:
            most = body.pop("max_tokens")
            if self.max_tokens != LEFT_OUT:
                body[self.max_tokens] = most
        if self.response_format == LEFT_OUT:
            body.pop("response_format", None)
        elif self.response_format and "response_format" in body:
            body["response_format"] = {"type": self.response_format}

    def without(self, feature: Feature) -> "Adaptation":
        """The last step for `feature`: it is not sent at all, or not in its usual form."""
        if feature in ("max_tokens", "response_format"):
            return replace(self, **{feature: LEFT_OUT})  # type: ignore[arg-type]
        return replace(self, **{feature: True})  # type: ignore[arg-type]

    def as_json(self) -> dict[str, JSON]:
        """The fields that differ from the default, to store."""
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if getattr(self, field.name) != getattr(UNCHANGED, field.name)
        }

    def described(self) -> str:
        """The changes in words, on one line; empty without any."""
        parts = [_WORDS[name] for name in _WORDS if getattr(self, name) is True]
        if self.max_tokens:
            other = self.max_tokens
            is_left_out = other == LEFT_OUT
            parts.append(f"`max_tokens` is {LEFT_OUT if is_left_out else f'sent as `{other}`'}")
        if self.most_tokens is not None:
            parts.append(f"at most {self.most_tokens} tokens are asked for")
        if self.lowest_temperature is not None:
            parts.append(f"`temperature` is at least {self.lowest_temperature:g}")
        if self.highest_temperature is not None:
            parts.append(f"`temperature` is at most {self.highest_temperature:g}")
        if self.response_format:
            form = self.response_format
            parts.append(f"`response_format` is {form if form == LEFT_OUT else f'`{form}`'}")
        return ", ".join(parts)


UNCHANGED = Adaptation()
"""Requests are sent as they are."""

_WORDS = {
    "roles": "user and assistant messages are made to alternate",
    "system": "the system message is part of the first user message",
    "temperature": "`temperature` is left out",
    "logprobs": "`logprobs` is left out",
    "n": "`n` is left out, replies are asked for one by one",
}


def features_of(body: dict[str, object]) -> tuple[Feature, ...]:
    """What a chat request's `body` has that an endpoint may refuse, in the order of `Feature`."""
    messages: list[SentMessage] = body.get("messages", [])  # type: ignore[assignment]
    found: dict[Feature, bool] = {
        "roles": not alternates(messages),
        "system": has_system(messages),
        "max_tokens": any(name in body for name in _TOKEN_FIELDS),
        "logprobs": "logprobs" in body,
    }
    return tuple(feature for feature in FEATURES if found.get(feature, feature in body))


_REFUSED = re.compile(
    r"unsupported|not support|n't support|unknown|unrecogni[sz]ed|unexpected|not permitted"
    r"|not allowed|forbidden|\bextra\b|invalid|unavailable|not available|not enabled|only\b"
    r"|cannot find field|cannot\b.{0,60}\bboth|must\b|should\b|deprecated|not implemented"
    r"|incompatible|no longer|removed|positive|at most|too (large|high|big)|less than|greater than"
    r"|exceed|range|not accept|does not (work|exist)|disabled|requires?\b|got an unexpected"
)
_NAMES: dict[Feature, re.Pattern[str]] = {
    "roles": re.compile(
        r"alternat|roles?\b.{0,80}(in a row|consecutive|order|after role)|consecutive"
        r"|message[_ ]order|unexpected role|expected (the )?last|(first|last) (message|role|turn)"
        r"|(start|begin|end)s? with (a |an |the )?.{0,12}(user|assistant)|prefill"
        r"|system message must be (at|the) (the )?(begin|first|start)"
    ),
    "system": re.compile(
        r"\bsystem\b.{0,40}\b(role|message|prompt|instruction)|\brole\b.{0,60}\bsystem\b"
        r"|developer instruction|\bgot system\b|does not support 'system'|system role"
    ),
    "max_tokens": re.compile(r"max_tokens|max_completion_tokens|max_new_tokens|max_output_tokens"),
    "temperature": re.compile(r"\btemperature\b"),
    "response_format": re.compile(
        r"response[_ ]?format|json[_ ]?(schema|mode|object)|structured[_ ]outputs?|guided"
        r"|grammar|\bjson\b.{0,40}word|word.{0,10}\bjson\b"
    ),
    "logprobs": re.compile(r"logprob|log[- _]prob"),
    "n": re.compile(
        r"['\"`]n['\"`]|\bparameter:? n\b|\bn\b ?(must|should|>|=|is not|:)|candidate|\bn > 1"
        r"|multiple (choices|completions|replies|responses)|(choices|completions) per"
    ),
}
_ROLE_OF_MESSAGE = re.compile(r"messages?\W*\d+\W*role")
_OF_RANGE = re.compile(
    r"positive|at (most|least)|less than|greater than|range|between|[<>]|maximum"
)
_TOO_MANY = re.compile(
    r"too (large|high|big)|at most|less than|maximum|exceed|range|<=|no more than"
)
_NUMBER = re.compile(r"\d{2,7}")


def refused_features(answer: ErrorAnswer, body: dict[str, object]) -> tuple[Feature, ...]:
    """Which of the features of `body` the endpoint names as the cause, the likeliest first."""
    there = features_of(body)
    named = [feature for feature in there if _is_named(feature, answer.named)]
    said = [
        feature
        for feature in there
        if _NAMES[feature].search(answer.words) and _REFUSED.search(answer.words)
    ]
    if "roles" in there and _NAMES["roles"].search(answer.words):
        said.insert(0, "roles")
    elif "system" in there and _NAMES["roles"].search(answer.words):
        said.append("system")  # some templates know no system role and call that a wrong order
    return tuple(dict.fromkeys((*named, *said)))


def _is_named(feature: Feature, named: frozenset[str]) -> bool:
    if feature == "system":
        return any(_ROLE_OF_MESSAGE.search(name) for name in named)
    if feature == "max_tokens":
        return not named.isdisjoint(_TOKEN_FIELDS)
    if feature == "logprobs":
        return not named.isdisjoint(("logprobs", "top_logprobs"))
    return any(name.partition(".")[0] == feature for name in named)


def next_step(
    now: Adaptation, feature: Feature, answer: ErrorAnswer, body: dict[str, object]
) -> Adaptation | None:
    """`now` with one change more for `feature`, which `answer` refuses in `body`; None for none."""
    if feature == "temperature":
        return _next_of_temperature(now, answer, body)
    if feature == "max_tokens":
        return _next_of_tokens(now, answer, body)
    if feature == "response_format":
        schema = body["response_format"] != {"type": "json_object"}
        return replace(now, response_format="json_object" if schema else LEFT_OUT)
    after = now.without(feature)
    return None if after == now else after


def _next_of_temperature(
    now: Adaptation, answer: ErrorAnswer, body: dict[str, object]
) -> Adaptation:
    sent = body["temperature"]
    if isinstance(sent, int | float) and _OF_RANGE.search(answer.words):
        if sent <= 0 and now.lowest_temperature is None:
            return replace(now, lowest_temperature=_LOWEST_TEMPERATURE)
        if sent > _HIGHEST_TEMPERATURE and now.highest_temperature is None:
            return replace(now, highest_temperature=_HIGHEST_TEMPERATURE)
    return replace(now, temperature=True)


def _next_of_tokens(now: Adaptation, answer: ErrorAnswer, body: dict[str, object]) -> Adaptation:
    sent = next(body[name] for name in _TOKEN_FIELDS if name in body)
    if isinstance(sent, int) and _TOO_MANY.search(answer.words):
        lower = [int(found) for found in _NUMBER.findall(answer.words) if int(found) < sent]
        if lower:
            return replace(now, most_tokens=max(lower))
    if "max_tokens" in body and not now.max_tokens:
        return replace(now, max_tokens="max_completion_tokens")
    return replace(now, max_tokens=LEFT_OUT)


def has_system(messages: Iterable[SentMessage]) -> bool:
    """Whether a message has the system role."""
    return any(message["role"] == "system" for message in messages)


def alternates(messages: list[SentMessage]) -> bool:
    """Whether user and assistant take turns after at most one system message.

    The first turn and the last one must be the user's.
    """
    rest = messages[1:] if messages and messages[0]["role"] == "system" else messages
    roles = [message["role"] for message in rest]
    return len(roles) % 2 == 1 and all(
        role == ("assistant" if place % 2 else "user") for place, role in enumerate(roles)
    )


def without_system(messages: list[SentMessage]) -> list[SentMessage]:
    """The messages with the system's text at the beginning of the first user message."""
    system = "\n\n".join(each["content"] for each in messages if each["role"] == "system")
    rest = [each for each in messages if each["role"] != "system"]
    if not system:
        return rest
    if rest and rest[0]["role"] == "user":
        return [_user(f"{system}\n\n{rest[0]['content']}"), *rest[1:]]
    return [_user(system), *rest]


def alternating(messages: list[SentMessage]) -> list[SentMessage]:
    """The messages so that `alternates` holds; no text of them is lost.

    Neighbours of one role become one message. System messages after the first turn become the
    user's. Where the assistant begins or ends, the user gets a short line.
    """
    count = 0
    while count < len(messages) and messages[count]["role"] == "system":
        count += 1
    turns: list[SentMessage] = []
    for message in messages[count:]:
        role = "assistant" if message["role"] == "assistant" else "user"
        if turns and turns[-1]["role"] == role:
            turns[-1] = {"role": role, "content": f"{turns[-1]['content']}\n\n{message['content']}"}
        else:
            turns.append({"role": role, "content": message["content"]})
    if not turns or turns[0]["role"] == "assistant":
        turns.insert(0, _user(OPENING))
    if turns[-1]["role"] == "assistant":
        turns.append(_user(CLOSING))
    if count == 0:
        return turns
    system = "\n\n".join(message["content"] for message in messages[:count])
    return [{"role": "system", "content": system}, *turns]


def _user(content: str) -> SentMessage:
    return {"role": "user", "content": content}
