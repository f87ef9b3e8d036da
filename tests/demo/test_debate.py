"""The debate of counts: roles begin with their means and move halfway to the mean of all."""

import asyncio
from collections.abc import Sequence

from autogen_agentchat.base import ChatAgent, Team
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.teams import RoundRobinGroupChat

from recjury.debate import edited
from recjury.demo import Counted
from recjury.demo.debate import HalfwayDebater
from recjury.records import Rating, Statement, Status
from tests.demo.talk import found, log, system


def counted(**scores: float) -> list[Rating]:
    return [Rating(metric=name, rater="counted", score=score) for name, score in scores.items()]


EACH = counted(effectiveness=4, novelty=2, naturalness=0, explainability=2)


def held(ratings: Sequence[Rating], opening: Sequence[Statement] = ()) -> list[list[float | None]]:
    """The scores of each round, in the order of roles."""
    debate = asyncio.run(Counted().debated(ratings, opening))
    return [
        [said.score for said in debate.statements if said.round == number]
        for number in range(1, debate.rounds + 1)
    ]


def test_roles_move_halfway() -> None:
    assert held(EACH) == [
        [100, 50, 0, 50],
        [75, 50, 25, 50],
        [62, 50, 38, 50],
        [56, 50, 44, 50],
    ]


def test_the_verdict_is_the_mean_of_the_last_round() -> None:
    assert asyncio.run(Counted().debated(EACH)).verdict.score == 50


def test_equal_roles_agree_at_once() -> None:
    assert held(counted(effectiveness=2, novelty=2, naturalness=2, explainability=2)) == [[50] * 4]


def test_a_role_without_counts_abstains() -> None:
    debate = asyncio.run(Counted().debated(counted(effectiveness=4)))
    assert [said.status for said in debate.statements].count(Status.NOT_APPLICABLE) == 3
    assert debate.verdict.score == 100


def test_nothing_counted_is_no_verdict() -> None:
    assert asyncio.run(Counted().debated([])).verdict.status is Status.NOT_APPLICABLE


def test_a_changed_statement_moves_the_others() -> None:
    debate = asyncio.run(Counted().debated(EACH))
    opening = [
        edited(said, score=0) if said.role == "Common User" else said
        for said in debate.statements
        if said.round == 1
    ]
    assert held(EACH, opening)[:2] == [[0, 50, 0, 50], [12, 38, 12, 38]]


def test_the_verdict_is_a_rating_of_the_evaluator() -> None:
    ratings, debate = asyncio.run(found(log(system("See Heat.", "Heat (1995)"))))
    assert ratings["overall"] == debate.verdict
    assert len(debate.statements) == 4 * debate.rounds


def test_debaters_sit_in_a_group_chat_of_autogen() -> None:
    agents: list[ChatAgent | Team] = [
        HalfwayDebater("Common User", counted(effectiveness=4)),
        HalfwayDebater("Linguist", counted(naturalness=0)),
    ]

    async def talk() -> list[str]:
        chat = RoundRobinGroupChat(agents, termination_condition=MaxMessageTermination(5))
        result = await chat.run(task="Is it good?")
        return [message.source for message in result.messages]

    assert asyncio.run(talk())[1:] == ["Common_User", "Linguist"] * 2
