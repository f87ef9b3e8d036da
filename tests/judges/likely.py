"""Replies with log-probabilities, for scripted models."""

import math
from collections.abc import Callable
from typing import Any

from recjury.records import Completion, Request


def token(text: str, likely: dict[str, float]) -> dict[str, Any]:
    """A token as endpoints write it, with the probabilities of others at its place."""
    tops = [{"token": each, "logprob": math.log(share)} for each, share in likely.items() if share]
    return {"token": text, "logprob": -0.1, "top_logprobs": tops}


def word(likely: dict[str, float]) -> Completion:
    """A reply of one word, with the probabilities of all."""
    text = max(likely, key=lambda each: likely[each])
    return Completion(text, logprobs=(token(text, likely),), tokens_in=0, tokens_out=0)


def rating(code: str, likely: dict[str, float]) -> Completion:
    """A rating in its tag, with the probabilities of the scale's numbers."""
    before, number = f'<rating code="{code}">', max(likely, key=lambda each: likely[each])
    logprobs = (token(before, {}), token(number, likely))
    return Completion(f"{before}{number}</rating>", logprobs=logprobs, tokens_in=0, tokens_out=0)


def is_probe(request: Request) -> bool:
    """Whether it asks no more than whether log-probabilities come."""
    return request.messages[-1].text == "Reply with the word Yes alone."


def sending(script: Callable[[Request, str], Any]) -> Callable[[Request, str], Any]:
    """The script of an endpoint that sends log-probabilities."""
    return lambda request, code: word({"Yes": 1.0}) if is_probe(request) else script(request, code)
