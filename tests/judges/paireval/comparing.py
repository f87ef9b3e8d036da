"""A scripted model that compares by the length of what is judged, with a preference for a place."""

import html
import math
import re
from collections.abc import Callable, Mapping

from recjury.llm import Completion, Gateway
from recjury.records import ChatRequest, Response, Speaker, Turn
from tests.judges.cases import gateway_of

_RESPONSES = re.compile(r"<response>(.*?)</response>", re.DOTALL)


def said(odds: Mapping[str, float]) -> Completion:
    """A reply of the likeliest word, with the log-probabilities of all."""
    values = tuple((word, math.log(odd)) for word, odd in odds.items() if odd > 0)
    word, value = max(values, key=lambda each: each[1])
    return Completion(word, logprobs=((word, value, values),))


def shown_responses(request: ChatRequest) -> list[str]:
    """The responses that a prompt shows, in its order."""
    return [html.unescape(found) for found in _RESPONSES.findall(request.messages[-1].text)]


def better_by(
    quality: Callable[[str], float], *, first: float = 0.0
) -> Callable[[ChatRequest], Completion]:
    """Answers for one response (Yes) or two (A, B) by the logistic function of their quality.

    `first` is added to the quality of what is shown first: a preference for that place.
    """

    def answer(request: ChatRequest) -> Completion:
        shown = shown_responses(request)
        gap = quality(shown[0]) - (quality(shown[1]) if len(shown) > 1 else 0)
        odd = 1 / (1 + math.exp(-gap - first))
        words = ("A", "B") if len(shown) > 1 else ("Yes", "No")
        return said(dict(zip(words, (odd, 1 - odd), strict=True)))

    return answer


def number_in(text: str) -> float:
    """The number in a text, as its quality."""
    found = re.search(r"-?\d+(\.\d+)?", text)
    return float(found[0]) if found else 0.0


def judging(
    *, first: float = 0.0, script: Callable[[ChatRequest], Completion | Exception] | None = None
) -> tuple[Gateway, list[ChatRequest]]:
    """A gateway whose model "judge" prefers the higher number, and the requests it was sent."""
    gateway, model = gateway_of(script or better_by(number_in, first=first))
    return gateway, model.requests


def response(text: str, *history: str, name: str = "", system: str | None = None) -> Response:
    """A response to the texts of a history, whose last turn is the user's."""
    speakers = (Speaker.USER, Speaker.SYSTEM)
    turns = tuple(
        Turn(speaker=speakers[(len(history) - 1 - place) % 2], text=each)
        for place, each in enumerate(history)
    )
    return Response(id=name or text, history=turns, text=text, system=system)
