"""Forks of debates: what stays, what is replaced, what is held anew, and what that costs."""

import asyncio
from collections.abc import Sequence

import pytest

from recjury.debate import EDITED, Edit, Fork, RatedLog, RuleDebaters, fork_id, run_debate, run_fork
from recjury.debate.forking import check_fork, parse_role
from recjury.debate.llm_debaters import LlmDebaters
from recjury.errors import ConfigError
from recjury.llm import Gateway, ScriptedModel
from recjury.records import ChatRequest, Debate, Rating, Role, Status
from tests.debate.voices import answer
from tests.judges.cases import a_log, gateway_of, ratings_of

LINGUIST = list(Role).index(Role.LINGUIST)


def differ(request: ChatRequest) -> str:
    """A statement and a score of its own for each role, model, round and course of the debate."""
    _, role, number = request.purpose.split("/")
    place = list(Role).index(Role(role))
    said = f"{role} by {request.model} in {number}."
    return answer(said, 10 * int(number) + place + (1 if "I changed" in _asked(request) else 0))


def _asked(request: ChatRequest) -> str:
    return "".join(message.text for message in request.messages)


def models() -> tuple[Gateway, ScriptedModel]:
    return gateway_of(differ, "model", "other")


def debaters_of(gateway: Gateway, **other: str) -> LlmDebaters:
    return LlmDebaters(
        gateway, dict.fromkeys(Role, "model") | {Role(k): v for k, v in other.items()}
    )


def held(debaters: LlmDebaters | RuleDebaters, ratings: Sequence[Rating] = ()) -> Debate:
    return asyncio.run(run_debate(RatedLog(a_log(), ratings or ratings_of()), debaters))


def forked(
    fork: Fork,
    original: Debate,
    debaters: LlmDebaters | RuleDebaters,
    ratings: Sequence[Rating] = (),
) -> Debate:
    return asyncio.run(
        run_fork(fork, original.transcript, RatedLog(a_log(), ratings or ratings_of()), debaters)
    )


def test_one_changed_statement_in_round_two_of_four_costs_eight_calls() -> None:
    gateway, model = models()
    original = held(debaters_of(gateway))
    asked = len(model.requests)
    fork = Fork(round=2, max_rounds=4, edits={Role.LINGUIST: Edit(text="I changed my mind.")})
    found = forked(fork, original, debaters_of(gateway))
    assert (asked, len(model.requests) - asked) == (16, 8)
    said = found.transcript.statements
    before = original.transcript.statements
    assert said[:4] == before[:4]
    edited = said[4 + LINGUIST]
    assert (edited.speaker, edited.text, edited.calls) == (EDITED, "I changed my mind.", ())
    assert edited.score == before[4 + LINGUIST].score
    assert [s for s in said[4:8] if s is not edited] == [
        s for s in before[4:8] if s.role is not Role.LINGUIST
    ]
    # All that was said later was said over the changed statement.
    assert [s.score for s in said[8:]] == [(s.score or 0) + 1 for s in before[8:]]
    assert found.verdict.score == (original.verdict.score or 0) + 1


def test_a_fork_held_again_costs_nothing() -> None:
    gateway, model = models()
    original = held(debaters_of(gateway))
    fork = Fork(round=2, max_rounds=4, edits={Role.LINGUIST: Edit(score=3)})
    first = forked(fork, original, debaters_of(gateway))
    asked = len(model.requests)
    assert forked(fork, original, debaters_of(gateway)) == first
    assert len(model.requests) == asked


def test_another_round_limit_goes_on_where_the_debate_ended() -> None:
    gateway, model = models()
    original = held(debaters_of(gateway))
    found = forked(Fork(round=4, max_rounds=6), original, debaters_of(gateway))
    assert found.transcript.statements[:16] == original.transcript.statements
    assert (found.verdict.rounds, len(model.requests)) == (6, 24)
    shorter = forked(Fork(round=2, max_rounds=2), original, debaters_of(gateway))
    assert shorter.transcript.statements == original.transcript.statements[:8]
    assert len(model.requests) == 24


def test_another_model_plays_its_role_from_there_on() -> None:
    gateway, model = models()
    original = held(debaters_of(gateway))
    asked = len(model.requests)
    found = forked(
        Fork(round=3, max_rounds=4, models={Role.LINGUIST: "other"}),
        original,
        debaters_of(gateway, Linguist="other"),
    )
    played = [s.speaker for s in found.transcript.statements if s.role is Role.LINGUIST]
    assert played == ["model", "model", "other", "other"]
    # Its statement in round 3, and all four of round 4.
    assert len(model.requests) - asked == 5
    third = found.transcript.of_round(3)
    assert [s for s in third if s.role is not Role.LINGUIST] == [
        s for s in original.transcript.of_round(3) if s.role is not Role.LINGUIST
    ]


def test_a_fork_ends_where_all_agree() -> None:
    uneven = tuple(
        r.model_copy(update={"score": 4 if r.factor in Role.LINGUIST.factors else 0})
        for r in ratings_of()
    )
    original = held(RuleDebaters(), uneven)
    assert original.verdict.rounds == 4
    edits = {role: Edit(score=50) for role in Role}
    found = forked(Fork(round=2, max_rounds=4, edits=edits), original, RuleDebaters(), uneven)
    assert (found.verdict.rounds, found.verdict.agreed, found.verdict.score) == (2, True, 50)


def test_a_fork_of_a_fork_keeps_what_was_edited() -> None:
    gateway, _ = models()
    original = held(debaters_of(gateway))
    edit = Edit(text="I changed my mind.", score=90)
    first = forked(
        Fork(round=2, max_rounds=4, edits={Role.LINGUIST: edit}), original, debaters_of(gateway)
    )
    second = forked(
        Fork(round=3, max_rounds=4, edits={Role.LINGUIST: Edit(score=5)}),
        first,
        debaters_of(gateway),
    )
    assert second.transcript.statements[:8] == first.transcript.statements[:8]
    assert second.transcript.statements[4 + LINGUIST].speaker == EDITED
    assert second.transcript.statements[8 + LINGUIST].score == 5


def test_an_unscored_statement_needs_a_score() -> None:
    def mumble(request: ChatRequest) -> str:
        return "Hm." if request.purpose == "debate/Linguist/1" else differ(request)

    gateway, _ = gateway_of(mumble, "model")
    original = held(debaters_of(gateway))
    assert original.transcript.of_round(1)[LINGUIST].status is Status.UNREADABLE
    with pytest.raises(ConfigError, match=r"^Linguist in round 1 has no score: give it one"):
        forked(
            Fork(round=1, max_rounds=4, edits={Role.LINGUIST: Edit(text="Fine.")}),
            original,
            debaters_of(gateway),
        )
    fork = Fork(round=1, max_rounds=2, edits={Role.LINGUIST: Edit(text="Fine.", score=40)})
    found = forked(fork, original, debaters_of(gateway))
    assert (found.verdict.rounds, found.verdict.status) == (2, Status.SCORED)


@pytest.mark.parametrize(
    ("fork", "said"),
    [
        (Fork(round=5, max_rounds=6), "there is no round 5 to fork from: the debate has 4 rounds"),
        (Fork(round=3, max_rounds=2), "a fork from round 3 has at least 3 rounds"),
        (Fork(round=2, max_rounds=4), "nothing would differ: replace"),
        (
            Fork(round=1, max_rounds=4, edits={Role.LINGUIST: Edit(score=12)}),
            "nothing would differ: replace",
        ),
    ],
)
def test_a_fork_that_cannot_be_is_refused(fork: Fork, said: str) -> None:
    gateway, _ = models()
    original = held(debaters_of(gateway))
    with pytest.raises(ConfigError, match=said):
        check_fork(fork, original.transcript)


def test_a_debate_that_all_agreed_in_is_not_lengthened() -> None:
    original = held(RuleDebaters(), ratings_of(0))
    with pytest.raises(ConfigError, match="the debate is over after round 1"):
        check_fork(Fork(round=1, max_rounds=8), original.transcript)


def test_whatever_can_change_a_fork_is_in_its_identity() -> None:
    fork = Fork(round=2, max_rounds=4, edits={Role.LINGUIST: Edit(score=3)})
    others = [
        fork.model_copy(update={"round": 3}),
        fork.model_copy(update={"max_rounds": 5}),
        fork.model_copy(update={"edits": {Role.LINGUIST: Edit(score=4)}}),
        fork.model_copy(update={"edits": {Role.LINGUIST: Edit(score=3, text="So.")}}),
        fork.model_copy(update={"models": {Role.LINGUIST: "other"}}),
        fork.model_copy(update={"debaters": {"protocol": "other"}}),
    ]
    identities = {fork_id("a" * 32, each) for each in [fork, *others]} | {fork_id("b" * 32, fork)}
    assert len(identities) == len(others) + 2
    again = Fork.model_validate(fork.model_dump(mode="json"))
    assert fork_id("a" * 32, again) == fork_id("a" * 32, fork)


def test_roles_are_found_however_they_are_written() -> None:
    names = ["common-user", "Common_User", "COMMON USER"]
    assert {parse_role(name) for name in names} == {Role.COMMON_USER}
    assert parse_role("hci-expert") is Role.HCI_EXPERT
    with pytest.raises(ConfigError, match=r"no role is called 'critic' \(known: common-user, "):
        parse_role("critic")
