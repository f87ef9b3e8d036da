"""Replies with log-probabilities, for scripted models."""

import math
from typing import Any

from recjury.records import Completion


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
