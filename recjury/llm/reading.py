"""From a reply to what it says: a rating, an object, odds. Raises Unreadable.

Thoughts end with the last mark of their end. A reply may quote such a mark, though, so if nothing
after it has the call's code, what follows the marks before it is read. A rating that is only
rehearsed in thoughts does not count.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import exp
from typing import Any, TypeVar

from recjury.errors import Unreadable
from recjury.records import Completion

T = TypeVar("T")

_CLEAR, _LEAST = 0.5, 0.01  # of the probability at the place of an answer

_ENDS = r"(?:</think>|\[/THINK\]|<\|channel\|>final(?:\s*<\|constrain\|>\w+)?<\|message\|>)"
_END = re.compile(_ENDS)
_UP_TO_END = re.compile(rf".*{_ENDS}", re.DOTALL)
_BEGIN = re.compile(r"\s*(?:<\|start\|>assistant)?(?:<think>|\[THINK\]|<\|channel\|>)")
_REST = re.compile(r"(?:<\|return\|>|<\|end\|>|<\|im_end\|>|</s>)\s*\Z")
_RATING = re.compile(
    r'<rating code="(?P<code>[^"]*)">\s*+\**+\s*+(?P<score>-?[0-9]{1,9})(?:\.0+)?'
    r"(?:\s*+/\s*+(?P<of>[0-9]{1,9}))?\s*+\**+\s*+</rating>"
)  # one pattern for all codes: compiling one for each call was the largest item of a profile;
# it never goes back, so that no quoted text can hold up the process
_FIRST_OBJECT = re.compile(r"\s*(?:```\w*\s*)?\{*(?=\{)")
_TRAILING = re.compile(r",(?=\s*[}\]])")


def spoken(text: str) -> tuple[str, str]:
    """What is said, and the thoughts before it."""
    if end := _UP_TO_END.match(text):
        return _REST.sub("", text[end.end() :]).strip(), text[: end.end()]
    if _BEGIN.match(text):
        return "", text  # thoughts that used up all tokens
    return _REST.sub("", text).strip(), ""


def without_thoughts(text: str) -> str:
    """A recorded text without the thoughts that it begins with, up to the first mark of their end.

    A mark that stands further on hides no words from judges.
    """
    if _BEGIN.match(text):
        end = _END.search(text)
        text = text[end.end() :] if end else ""
    return _REST.sub("", text).strip()


def rating_in(reply: Completion, low: int, high: int) -> tuple[int, str]:
    """The rating in its tag, and the reasons around the tag."""

    def tags(text: str) -> list[tuple[re.Match[str], str]]:
        return [(tag, text) for tag in _RATING.finditer(text) if tag["code"] == reply.code]

    tag, text = _only(reply, tags, "rating")
    score = int(tag["score"])
    if not low <= score <= high or (tag["of"] and int(tag["of"]) != high):
        raise Unreadable(f"the rating is not from {low} to {high}")
    return score, (text[: tag.start()] + text[tag.end() :]).strip()


def object_in(reply: Completion) -> dict[str, Any]:
    """The one JSON object with the code, without the code.

    A reply that begins with an object has no other one: what a role quotes may close the first.
    """

    def coded(text: str) -> list[dict[str, Any]]:
        found = [value for value in _objects(text) if value.get("code") == reply.code]
        if not found and (mended := _TRAILING.sub("", text)) != text:
            found = [value for value in _objects(mended) if value.get("code") == reply.code]
        begun = _FIRST_OBJECT.match(text)
        first = _object_at(_TRAILING.sub("", text[begun.end() :])) if begun else {}
        if found and begun and first.get("code") != reply.code:
            raise Unreadable("it begins with another JSON object than the one with the code")
        return found

    found = _only(reply, coded, "JSON object")
    return {key: value for key, value in found.items() if key != "code"}


def check_choices(choices: Sequence[str]) -> None:
    """Raise ValueError if log-probabilities of a first word cannot tell the choices apart."""
    for place, choice in enumerate(choices):
        if not choice or len(choice.split()) != 1 or choice != choice.strip():
            raise ValueError(f"each choice is one word, got {choice!r}")
        for other in choices[:place]:
            one, two = choice.casefold(), other.casefold()
            if one.startswith(two) or two.startswith(one):
                raise ValueError(
                    f"{other!r} and {choice!r} begin alike, so that log-probabilities cannot tell "
                    "them apart: take other words"
                )


def odds_in(reply: Completion, choices: tuple[str, ...]) -> tuple[dict[str, float], float]:
    """The choices' probabilities, renormalised, and what they had together.

    They are those of the first token that is probably a choice, or begins one; if there is none, of
    the token that is so most likely.
    """
    places = [_odds_at(token, choices) for token in reply.logprobs]
    clear = (shares for shares in places if sum(shares.values()) >= _CLEAR)
    shares = next(clear, max(places, key=lambda each: sum(each.values()), default={}))
    unclear = shares.pop("", 0.0)
    if (mass := sum(shares.values())) < max(_LEAST, unclear):
        what = "begins several" if unclear > _LEAST else "is none"
        raise Unreadable(f"its first word {what} of the answers")
    return {choice: share / mass for choice, share in shares.items()}, mass


def expected_in(reply: Completion, low: int, high: int) -> float:
    """The mean of the scale's values, by the probabilities of the token that has the rating."""
    numbers = {str(number): number for number in range(low, high + 1)}
    tag, text = f'code="{reply.code}">', ""
    for token in reply.logprobs:
        _, tagged, since = text.rpartition(tag)
        if tagged and not since.strip(" *"):
            shares = _shares(token, numbers)
            if mass := sum(shares.values()):
                return sum(number * share for number, share in shares.items()) / mass
        text += str(token.get("token") or "")
    raise Unreadable("no number of the scale is among the likely words of the rating")


def _odds_at(token: Mapping[str, Any], choices: tuple[str, ...]) -> dict[str, float]:
    """The probability of each choice at one place; of more than one of them, under ""."""
    shares = dict.fromkeys((*choices, ""), 0.0)
    for word, share in _likely(token):
        begun = [word] if word in choices else [c for c in choices if word and c.startswith(word)]
        if begun:
            shares[begun[0] if len(begun) == 1 else ""] += share
    return shares


def _shares(token: Mapping[str, Any], values: Mapping[str, T]) -> dict[T, float]:
    """The probability of each value among the likely tokens at one place."""
    shares = dict.fromkeys(values.values(), 0.0)
    for word, share in _likely(token):
        if (value := values.get(word)) is not None:
            shares[value] += share
    return shares


def _likely(token: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """The likely words at one place with their probabilities; null is one of 0 in JSON."""
    for top in token.get("top_logprobs") or [token]:
        match top:
            case {"token": str(word), "logprob": int(log) | float(log)}:
                yield word.strip(), exp(min(log, 0.0))


def _only(reply: Completion, find: Callable[[str], Sequence[T]], what: str) -> T:
    """What `find` finds in the first reading that has any; it must be one alone."""
    readings = (text for text in _readings(reply) if reply.code in text)
    found = next((found for text in readings if (found := find(text))), ())
    if not found and reply.finish == "length":
        raise Unreadable(f"it was cut off before the {what}")
    if len(found) != 1:
        raise Unreadable(f"it has {len(found) or 'no'} {what}s with the code")
    return found[0]


def _readings(reply: Completion) -> Iterator[str]:
    """The text; then what follows earlier ends of thoughts, since the last may be a quoted one."""
    yield reply.text
    ends = [end.end() for end in _END.finditer(reply.thoughts)]
    if not ends or ends[-1] != len(reply.thoughts):
        return  # thoughts that an endpoint sent apart
    whole = f"{reply.thoughts}{reply.text}"
    for end in reversed(ends[:-1]):
        yield whole[end:]
    if not _BEGIN.match(whole):
        yield whole


def _object_at(text: str) -> dict[str, Any]:
    """The JSON object that a text begins with, empty if it is none."""
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """All JSON objects of a text, raw line breaks in their strings allowed."""
    decoder, start = json.JSONDecoder(strict=False), text.find("{")
    while start >= 0:
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            yield value
        start = text.find("{", end)
