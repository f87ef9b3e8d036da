"""The probabilities that a model gives to a few words, from the log-probabilities of its reply."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from recjury.errors import ConfigError, ParseError
from recjury.llm.reply_parsing import parse_rating
from recjury.llm.spoken_text import part_text
from recjury.records import Message, Reply

TOP_LOGPROBS = 20
"""The alternatives of a token that are asked for: the most that OpenAI and vLLM send."""

_IMPOSSIBLE = -1000.0  # vLLM sends -9999 for what a constraint forbids
_CLEAR = 0.5  # the share of the choices at the place where a model makes its choice
LEAST_MASS = 0.01
"""The least probability of all choices together that tells anything of the answer."""
_UNCLEAR = 0.05  # the least probability of a token that begins several choices for an error
_LEAD = re.compile(
    r"(?:(?:the|my|your) )?(?:final )?(?:answer|rating|score|label|judgement|judgment)?(?: is)?"
)
_NO_LETTER = re.compile(r"[\W_]+")
_MARKS = "*_`'\"“”([<"
_ENDS = "*_`'\"“”)]>.,:;!"
_OPENING_TAG = re.compile(r"<rating\s+code\s?=\s?[\"']?(\w{1,12})[\"']?\s*>\s*\Z", re.IGNORECASE)
_LONGEST_TAG = 80  # characters


class ChoiceOdds(NamedTuple):
    """The probability of each choice, by choice; they add up to 1.

    `mass` is what they added up to before: the probability that the model replies with one of them.
    It is 1 if the server lets the model write nothing else.
    """

    odds: Mapping[str, float]
    mass: float


def check_choices(choices: Sequence[str]) -> None:
    """Raise ConfigError for an empty choice, and for one that begins with another one."""
    for place, choice in enumerate(choices):
        if not choice or choice != choice.strip():
            raise ConfigError(f"a choice must be a word or a phrase, got {choice!r}")
        for other in choices[:place]:
            if _begins(choice, other) or _begins(other, choice):
                raise ConfigError(
                    f"the choices {other!r} and {choice!r} begin alike, so their probabilities "
                    "cannot be told apart: take other words"
                )


def read_odds(reply: Reply, choices: Sequence[str], *, lead: str = "") -> ChoiceOdds:
    """The probability of each of `choices` at the place of the answer.

    The prompt must name the choices. A choice that is not among the likely tokens has the
    probability 0. The place is the first token of what is said, or a later one if nothing but
    marks, or words such as "Rating:" or `lead`, stand before it. A choice of several tokens is
    recognised by its first one, except by `provider: transformers`, which scores whole choices.
    Words may begin with a capital letter.

    Raises ParseError if the reply has no log-probabilities, or if all choices together have less
    than 1 % of the probability; ConfigError if a likely token begins several choices.
    """
    if not reply.logprobs:
        raise ParseError("the reply has no log-probabilities")
    places = [_shares(each, choices) for each in _answer_places(reply, lead)]
    place = next((each for each in places if each.mass >= _CLEAR), places[0])
    if place.begins_several:
        first, second, *_ = place.begins_several
        raise ConfigError(
            f"{first!r} and {second!r} begin with the same token, so their probabilities cannot "
            "be told apart: take words that begin differently, or a model with "
            "`provider: transformers`, which scores whole words"
        )
    is_exact = len(reply.logprobs) == 1 and reply.text in choices
    if not place.mass or (place.mass < LEAST_MASS and not is_exact):
        raise ParseError(f"none of {', '.join(choices)} is among the likely tokens")
    odds = {choice: place.shares.get(choice, 0.0) / place.mass for choice in choices}
    return ChoiceOdds(odds, min(place.mass, 1.0))


def _answer_places(reply: Reply, lead: str) -> list[dict[str, float]]:
    """The candidates of the first token of what is said, and those of later ones before which
    nothing but marks and a lead stands."""
    start = _said_from(reply)
    words = [re.escape(word.casefold()) for word in lead.split()]
    own = r"\W*".join(words) if words else "(?!)"
    before = ""
    places: list[dict[str, float]] = []
    for candidates, (token, _, _) in zip(
        _candidates(reply)[start:], reply.logprobs[start:], strict=True
    ):
        plain = _NO_LETTER.sub(" ", before).strip().casefold()
        if not places or _LEAD.fullmatch(plain) or re.fullmatch(own, plain):
            places.append(candidates)
        before += token
    return places


def _said_from(reply: Reply) -> int:
    """The index of the first token of what is said, after thoughts and white space.

    Raises ParseError if the thoughts do not end, or if nothing is said.
    """
    parted = part_text(reply.text)
    if parted.endless:
        raise ParseError("the thoughts of the reply do not end")
    if not parted.spoken.strip():
        raise ParseError("the reply says nothing")
    end = 0
    for place, (token, _, _) in enumerate(reply.logprobs):
        end += len(token)
        if end > parted.start and token.strip():
            return place
    return 0


def _candidates(reply: Reply) -> list[dict[str, float]]:
    """Each token and its alternatives with their log-probabilities."""
    return [{token: value, **dict(others)} for token, value, others in reply.logprobs]


class _Shares(NamedTuple):
    """What each choice has of the probability of one place.

    `begins_several` are the choices that all begin with one of its likely tokens.
    """

    shares: Mapping[str, float]
    mass: float
    begins_several: tuple[str, ...] = ()


def _shares(candidates: Mapping[str, float], choices: Sequence[str]) -> _Shares:
    found: dict[str, float] = {}
    several: tuple[str, ...] = ()
    for token, value in candidates.items():
        plain = token.strip().lstrip(_MARKS).rstrip(_ENDS)
        if not plain or not math.isfinite(value) or value <= _IMPOSSIBLE:
            continue
        odds = math.exp(value)
        begun = tuple(choice for choice in choices if _begins(choice, plain))
        if len(begun) == 1:
            found[begun[0]] = found.get(begun[0], 0.0) + odds
        elif begun and odds >= _UNCLEAR:
            several = begun
    return _Shares(found, sum(found.values()), several)


def _begins(choice: str, token: str) -> bool:
    """Whether the choice begins with the token; a word may have another case, a letter may not."""
    if len(choice) == 1:
        return choice == token
    return choice.casefold().startswith(token.casefold())


def read_rating_odds(reply: Reply, low: int, high: int, asked: Sequence[Message] = ()) -> float:
    """The expected rating from `low` to `high`, under the probabilities in the reply's tag.

    It is weighted by the probabilities of the token after the last <rating> with the code, and of
    its alternatives, if they are ratings. `asked` is the prompt. Raises ParseError for a reply
    without a rating, or without its log-probabilities.
    """
    parse_rating(reply, low, high, asked)
    if not reply.logprobs:
        raise ParseError("the reply has no log-probabilities")
    place = _location_of_rating(reply)
    if place is None:
        raise ParseError("the reply has no log-probabilities of a token after <rating>")
    odds: dict[int, float] = {}
    for token, value in _candidates(reply)[place].items():
        digits = re.match(r"\s*(-?\d+)", token)
        if digits and low <= int(digits[1]) <= high:
            odds[int(digits[1])] = odds.get(int(digits[1]), 0.0) + math.exp(value)
    if not odds:
        raise ParseError(f"no score from {low} to {high} is among the likely tokens")
    return sum(rating * odd for rating, odd in odds.items()) / sum(odds.values())


def _location_of_rating(reply: Reply) -> int | None:
    """The index of the first token in the last tag with the code."""
    before = ""  # the last characters alone: as many as a tag has
    place = None
    for number, (token, _, _) in enumerate(reply.logprobs):
        tag = _OPENING_TAG.search(before)
        if tag is not None and tag[1].casefold() == reply.code and token.strip():
            place = number
        before = (before + token)[-_LONGEST_TAG:]
    return place
