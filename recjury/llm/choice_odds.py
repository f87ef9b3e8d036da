"""The probabilities that a model gives to a few words, from the log-probabilities of its reply."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from recjury.errors import ConfigError, ParseError, PromptTooLong, ProviderError
from recjury.llm.ask import SupportsComplete, ask
from recjury.llm.attempts import ParsedReply
from recjury.llm.spoken_text import part_text
from recjury.records import ChatRequest, ChoiceForm, Reply, Status

TOP_LOGPROBS = 20
"""The alternatives of a token that are asked for: the most that OpenAI and vLLM send."""

_TOKENS = 8  # of a reply: some models write a mark or a word before the choice
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


class ChoiceOdds(NamedTuple):
    """The probability of each choice, by choice; they add up to 1.

    `mass` is what they added up to before: the probability that the model replies with one of them.
    It is 1 if the server lets the model write nothing else.
    """

    odds: Mapping[str, float]
    mass: float


async def choice_odds(
    gateway: SupportsComplete, request: ChatRequest, choices: Sequence[str], *, lead: str = ""
) -> ParsedReply[ChoiceOdds]:
    """Ask for one of `choices`, and read the probability of each at the place of the answer.

    The prompt must name the choices. A choice that is not among the likely tokens has the
    probability 0. The place is the first token of what is said, or a later one if nothing but
    marks, or words such as "Rating:" or `lead`, stand before it. A choice of several tokens is
    recognised by its first one, except by `provider: transformers`, which scores whole choices.
    Words may begin with a capital letter.

    Raises ConfigError if a choice begins with another one, or if two of them begin with the same
    token; ProviderError if the endpoint sends no log-probabilities, however often it is asked; and
    PromptTooLong. Other failures are in the status of the result; one of them is a probability of
    all choices together below 1 %.
    """
    check_choices(choices)
    asked = replace(
        request,
        top_logprobs=TOP_LOGPROBS,
        max_tokens=_TOKENS if request.max_tokens is None else request.max_tokens,
        form=ChoiceForm(tuple(choices)),
    )
    sent: set[bool] = set()  # whether the new replies with a text had log-probabilities

    def read(reply: Reply) -> ChoiceOdds:
        if reply.text.strip() and not reply.reused:
            sent.add(bool(reply.logprobs))
        return read_odds(reply, choices, lead=lead)

    answer = await ask(gateway, asked, read)
    if isinstance(answer.failure, PromptTooLong):
        raise answer.failure
    if answer.status is Status.UNREADABLE and sent == {False}:
        raise ProviderError(  # it would send none for any other request either
            f"{request.model}: the endpoint sends no log-probabilities: it has to accept "
            "`logprobs` and `top_logprobs`, as `provider: vllm` and `provider: transformers` do; "
            "otherwise use a method that needs none"
        )
    return answer


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
    """The probabilities of `choices` in the reply; raises ParseError if it has none.

    Raises ConfigError if a likely token begins several choices. `lead` as in `choice_odds`.
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
