"""From a reply to what it says: a rating, an object, odds. Raises Unreadable."""

import json
import re
from math import exp
from typing import Any

from recjury.errors import Unreadable
from recjury.records import Completion

_END = re.compile(r".*(?:</think>|\[/THINK\]|<\|channel\|>final<\|message\|>)", re.DOTALL)
_BEGIN = re.compile(r"\s*(?:<think>|\[THINK\])")
_RATING = re.compile(
    r'<rating code="(?P<code>[^"]*)">\s*\**\s*(?P<score>\d+)(?:\.0+)?'
    r"(?:\s*/\s*(?P<of>\d+))?\s*\**\s*</rating>"
)  # one pattern for all codes: compiling one for each call was the largest item of a profile
_TRAILING = re.compile(r",(?=\s*[}\]])")


def spoken(text: str) -> tuple[str, str]:
    """What is said, and the thoughts before it."""
    if end := _END.match(text):
        return text[end.end() :].strip(), text[: end.end()]
    if _BEGIN.match(text):
        return "", text  # thoughts that used up all tokens
    return text.strip(), ""


def rating_in(reply: Completion, low: int, high: int) -> tuple[int, str]:
    """The rating in its tag, and the reasons around the tag."""
    found = [tag for tag in _RATING.finditer(reply.text) if tag["code"] == reply.code]
    if reply.finish == "length" and not found:
        raise Unreadable("it was cut off before the rating")
    if len(found) != 1:
        raise Unreadable(f"it has {len(found) or 'no'} ratings with the code")
    tag = found[0]
    score = int(tag["score"])
    if not low <= score <= high or (tag["of"] and int(tag["of"]) != high):
        raise Unreadable(f"the rating is not from {low} to {high}")
    return score, (reply.text[: tag.start()] + reply.text[tag.end() :]).strip()


def object_in(reply: Completion) -> dict[str, Any]:
    """The one JSON object with the code, without the code."""
    text, decoder = _TRAILING.sub("", reply.text), json.JSONDecoder(strict=False)
    found: list[dict[str, Any]] = []
    start = text.find("{")
    while start >= 0:
        try:
            value, end = decoder.raw_decode(text, start)
        except ValueError:
            end = start + 1
        else:
            if isinstance(value, dict) and value.get("code") == reply.code:
                found.append(value)
        start = text.find("{", end)
    if len(found) != 1:
        raise Unreadable(f"it has {len(found) or 'no'} JSON objects with the code")
    return {key: value for key, value in found[0].items() if key != "code"}


def odds_in(reply: Completion, choices: tuple[str, ...]) -> tuple[dict[str, float], float]:
    """The choices' probabilities, renormalised, and what they had together."""
    for token in reply.logprobs:
        shares = dict.fromkeys(choices, 0.0)
        for top in token["top_logprobs"]:
            if (word := top["token"].strip()) in shares:
                shares[word] += exp(top["logprob"])
        if mass := sum(shares.values()):
            return {choice: share / mass for choice, share in shares.items()}, mass
    raise Unreadable("none of the answers is among its likely first words")
