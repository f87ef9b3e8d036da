"""Logs for counts, and what `counted` finds in them."""

from collections.abc import Sequence
from typing import Any

from recjury.corpora import Context
from recjury.demo import Counted
from recjury.records import (
    ConversationLog,
    Debate,
    ItemRef,
    Rating,
    Scenario,
    Turn,
    ratings_of,
)
from tests.logs import CATALOGUE
from tests.simulator.doubles import ask_of


def film(name: str) -> ItemRef:
    return CATALOGUE.resolve(name)


def user(text: str) -> Turn:
    return Turn(speaker="user", text=text)


def system(text: str, *films: str) -> Turn:
    return Turn(speaker="system", text=text, items=tuple(map(film, films)))


def log(
    *turns: Turn,
    targets: Sequence[str] = ("Heat (1995)",),
    wishes: Sequence[str] = (),
    **more: Any,
) -> ConversationLog:
    scenario = Scenario(
        id="1",
        corpus="sample",
        history=(user("I like films."),),
        targets=tuple(map(film, targets)),
        wishes=tuple(wishes),
    )
    values = {"scenario": scenario, "interaction": turns, "ending": "round limit"} | more
    return ConversationLog.model_validate(values)


async def found(given: ConversationLog) -> tuple[dict[str, Rating], Debate]:
    """The ratings of `counted` by metric, and its debate."""
    evaluator = Counted().prepared(Context({"sample": CATALOGUE}))
    findings = await evaluator.rate(given, ask_of())
    (debate,) = (each for each in findings if isinstance(each, Debate))
    return {rating.metric: rating for rating in ratings_of(findings)}, debate
