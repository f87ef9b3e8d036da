"""Persuasiveness without a model."""

import asyncio

import pytest

from recjury.records import ConversationLog, Ending, Item, Rating, Speaker, Status, Turn
from recjury.simulator import RuleUser
from recjury.simulator.rule_persuasiveness import attribute_likeness
from tests.simulator.doubles import catalogue, film, scenario, system_turn, user_turn
from tests.simulator.moments import FAR, KNOWN, NEAR, TARGET

BARE = film("Nameless")
USER = RuleUser(catalogue(*KNOWN, BARE))


def rate(*turns: Turn, targets: tuple[Item, ...] = (TARGET,)) -> Rating:
    log = ConversationLog(
        system="s",
        scenario=scenario([one.ref for one in targets]),
        interaction=turns,
        ending=Ending.ROUND_LIMIT,
    )
    return asyncio.run(USER.persuasiveness(log))


def test_persuasiveness_by_rule() -> None:
    assert rate(system_turn("The Quiet Harbor (1994).", FAR.ref)).score == 2
    assert rate(system_turn("These.", TARGET.ref, FAR.ref)).score == 2
    assert rate(system_turn("Low Tide (1996).")).score == 1
    assert rate(system_turn("Laugh Track (1958).", TARGET.ref)).score == 0
    assert rate(system_turn("Hello."), user_turn("Hi.")).score == 0


def test_persuasiveness_that_cannot_be_computed_is_unscored() -> None:
    failed = Turn(speaker=Speaker.SYSTEM, text="", failure="broken")
    assert rate(failed).status is Status.NOT_APPLICABLE
    assert rate(system_turn("Low Tide (1996)."), targets=()).status is Status.NOT_APPLICABLE
    assert rate(system_turn("Nameless?", BARE.ref)).status is Status.NOT_MEASURED
    assert rate(system_turn("Low Tide (1996)."), targets=(BARE,)).status is Status.NOT_MEASURED


def test_likeness() -> None:
    assert attribute_likeness(TARGET, TARGET) == 1.0
    assert attribute_likeness(TARGET, FAR) == 0.0
    assert attribute_likeness(TARGET, NEAR) == pytest.approx(0.6 * 2 / 3 + 0.3 + 0.1)
    assert attribute_likeness(TARGET, BARE) is None
