"""No rating rests on what is not there: logs made of parts, with and without each of them."""

from itertools import product
from typing import NamedTuple

import pytest

from recjury.judges.measured import MeasuredPanel
from recjury.records import ConversationLog, Factor, Item, Rating, Turn
from tests.judges.measured.logs import (
    ALIEN,
    AMELIE,
    BLIND,
    HEAT,
    NOVA,
    ORBIT,
    PANEL,
    PIXIE,
    SHOP,
    says,
    talk,
)

OF_LISTS = (Factor.EFFECTIVENESS, Factor.NOVELTY, Factor.DIVERSITY, Factor.SEMANTIC_RELEVANCE)
OF_ITEMS = (*OF_LISTS, Factor.PROACTIVENESS, Factor.EXPLAINABILITY, Factor.GROUNDNESS)
NO_CATALOGUE = "no catalogue: what items are is not known"


class Domain(NamedTuple):
    """A panel with a catalogue, three of its items, and a wish."""

    panel: MeasuredPanel
    items: tuple[Item, ...]
    wish: Turn


FILM = Domain(PANEL, (HEAT, ALIEN, AMELIE), says("A comedy.", "wish genre=comedy"))
PHONE = Domain(SHOP, (ORBIT, NOVA, PIXIE), says("A cheap one.", "wish price=cheap"))
BEGINNINGS = ("hello", "wish", "question")
ENDINGS = ("thanks", "refusal", "failure", "silence", "again")


def part(domain: Domain, name: str) -> tuple[Turn | str | None, ...]:
    """Two turns, or four, of a conversation."""
    first, second, third = domain.items
    thanks = says("Thanks!", "thank")
    return {
        "hello": (says("Hi", "chat"), "What do you like?"),
        "wish": (domain.wish, f"Try {first.name} or {second.name}."),
        "question": (says("What is it?", f"ask {first.id}"), f"It is {first.name}."),
        "thanks": (thanks, "You are most welcome."),
        "refusal": (domain.wish, f"{first.name}.", says("No!", "refuse"), f"{third.name}, then."),
        "failure": (thanks, None),
        "silence": (thanks, ""),
        "again": (thanks, "Have a nice day.", thanks, "Have a nice day."),
    }[name]


def made(domain: Domain, beginning: str, ending: str, *, lists: bool) -> ConversationLog:
    """A conversation of two parts."""
    turns = (*part(domain, beginning), *part(domain, ending))
    items = domain.items[:2] if lists else ()
    return talk(*turns, items=items, targets=domain.items[1:2])


LOGS = [
    (domain, beginning, ending)
    for domain, beginning, ending in product((FILM, PHONE), BEGINNINGS, ENDINGS)
]


def by_factor(panel: MeasuredPanel, told: ConversationLog) -> dict[str, Rating]:
    return {rating.factor: rating for rating in panel.measure(told)}


@pytest.mark.parametrize("lists", [True, False])
@pytest.mark.parametrize(("domain", "beginning", "ending"), LOGS)
def test_without_a_catalogue_a_rating_is_the_same_or_none(
    domain: Domain, beginning: str, ending: str, *, lists: bool
) -> None:
    told = made(domain, beginning, ending, lists=lists)
    seen, blind = by_factor(domain.panel, told), by_factor(BLIND, told)
    for factor in Factor:
        if blind[factor].score is not None:
            assert blind[factor] == seen[factor]
        elif seen[factor].score is not None:
            assert blind[factor].reason == NO_CATALOGUE
    assert [factor for factor in OF_ITEMS if blind[factor].score is not None] == []


@pytest.mark.parametrize(("domain", "beginning", "ending"), LOGS)
def test_without_lists_only_their_factors_are_lost(
    domain: Domain, beginning: str, ending: str
) -> None:
    listed = by_factor(domain.panel, made(domain, beginning, ending, lists=True))
    bare = by_factor(domain.panel, made(domain, beginning, ending, lists=False))
    for factor in Factor:
        if factor in OF_LISTS:
            assert bare[factor].reason == "the log has no recommendation list"
        elif factor is not Factor.RECOVERABILITY:  # a listed item can be refused, too
            assert bare[factor] == listed[factor]
