"""The debate: rounds, agreement, missing roles, the verdict (CoRE 4.2 and method)."""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response

from examples.own_agent import Counter
from recjury.debate import DebateSettings, RolePrompts, edited, run_debate
from recjury.debate.agents import AgentProvider, Debater
from recjury.errors import CallFailed
from recjury.llm import Ask, AttemptError, Remedy
from recjury.llm.prompts import pack
from recjury.records import Debate, Message, Rating, Request, Statement, Status
from tests.logs import LOG, ask_of, said

ROLES = ["Common User", "Domain Expert", "Linguist", "HCI Expert"]
FACTORS = [
    "effectiveness",
    "recoverability",
    "coherence",
    "novelty",
    "diversity",
    "groundness",
    "naturalness",
    "grammatical_correctness",
    "appropriateness",
    "explainability",
    "proactiveness",
    "semantic_relevance",
]
RATINGS = [Rating(metric=name, rater="main", score=3, rationale=f"why {name}") for name in FACTORS]


def role_of(request: Request) -> str:
    return next(role for role in ROLES if f"You are the {role}," in said(request))


def round_of(request: Request) -> int:
    return said(request).count('<discussion round="') + 1


def speaking(scores: Callable[[str, int], float | str]) -> Callable[[Request, str], str]:
    """A model that gives each role its score in each round; a text is said as it is."""

    def script(request: Request, code: str) -> str:
        role, number = role_of(request), round_of(request)
        score = scores(role, number)
        if isinstance(score, str):
            return score
        words = f"{role} in round {number}."
        return json.dumps({"statement": words, "score": score, "code": code})

    return script


def debated(
    ask: Ask,
    settings: DebateSettings,
    ratings: Sequence[Rating] = RATINGS,
    opening: Sequence[Statement] = (),
) -> Debate:
    prompts = RolePrompts(pack(settings.prompts), LOG, ratings)
    return asyncio.run(run_debate(prompts, ask, settings, opening))


def held(
    scores: Callable[[str, int], float | str],
    ratings: Sequence[Rating] = RATINGS,
    opening: Sequence[Statement] = (),
    **settings: Any,
) -> tuple[Debate, list[Request]]:
    ask, model = ask_of(speaking(scores))
    return debated(ask, DebateSettings.model_validate(settings), ratings, opening), model.requests


def test_equal_scores_end_the_debate() -> None:
    debate, _ = held(lambda role, number: 60 if number > 1 else 50 + ROLES.index(role))
    assert debate.rounds == 2
    assert debate.verdict.score == 60


def test_the_verdict_is_the_mean_of_the_last_round() -> None:
    debate, requests = held(lambda role, number: 10 * ROLES.index(role) + number)
    assert debate.rounds == 4
    assert len(requests) == 16
    assert debate.verdict.score == pytest.approx(15 + 4)
    assert [s.role for s in debate.statements if s.round == 1] == ROLES


def test_nobody_hears_the_round_that_goes_on() -> None:
    _, requests = held(lambda role, number: ROLES.index(role), max_rounds=2)
    for request in requests:
        heard = said(request).count("in round 1.")
        assert heard == (0 if round_of(request) == 1 else 4)


def test_each_role_has_its_own_report_in_each_round() -> None:
    _, requests = held(lambda role, number: ROLES.index(role), max_rounds=2)
    for request in requests:
        own = [name for name in FACTORS if f"why {name}" in said(request)]
        assert len(own) == 3
        if role_of(request) == "Linguist":
            assert set(own) == {"naturalness", "grammatical_correctness", "appropriateness"}


def test_who_sees_list_and_target() -> None:
    _, requests = held(lambda role, number: 50)
    seen = {
        role_of(r): ("<recommendation_list>" in said(r), "<target>" in said(r)) for r in requests
    }
    assert seen == {
        "Common User": (True, True),
        "Domain Expert": (True, False),
        "Linguist": (False, False),
        "HCI Expert": (True, False),
    }


def test_lists_all_shows_the_list_to_everybody() -> None:
    _, requests = held(lambda role, number: 50, prompts="core-paper")
    assert all("<recommendation_list>" in said(request) for request in requests)


def test_one_missing_role_is_not_in_the_mean_and_no_agreement() -> None:
    debate, _ = held(lambda role, number: "I say nothing." if role == "Linguist" else 40)
    assert debate.rounds == 4
    assert debate.verdict.score == 40
    assert "3 roles" in debate.verdict.rationale
    assert {s.status for s in debate.statements if s.role == "Linguist"} == {Status.UNREADABLE}


def test_two_missing_roles_are_no_verdict() -> None:
    debate, _ = held(lambda role, number: "No." if role in ROLES[:2] else 40)
    assert debate.verdict.score is None
    assert debate.verdict.status is Status.UNREADABLE


def test_a_role_without_a_scored_factor_abstains() -> None:
    some = [r for r in RATINGS if r.metric not in ("novelty", "diversity", "groundness")]
    debate, requests = held(lambda role, number: 40, some)
    assert debate.rounds == 1
    assert debate.verdict.score == 40
    assert {role_of(request) for request in requests} == set(ROLES) - {"Domain Expert"}


def test_nobody_can_speak() -> None:
    debate, requests = held(lambda role, number: 40, [])
    assert not requests
    assert debate.verdict.status is Status.NOT_APPLICABLE


def test_a_failed_call_ends_the_debate_without_a_verdict() -> None:
    def down(role: str, number: int) -> float:
        if number == 2:
            raise CallFailed("no answer")
        return ROLES.index(role)

    debate, _ = held(down)
    assert debate.rounds == 2
    assert debate.verdict.score is None
    assert debate.verdict.status is Status.CALL_FAILED


def test_a_refused_role_is_missing_in_its_round_alone() -> None:
    def refused(role: str, number: int) -> float:
        if role == "Linguist" and number == 1:
            raise AttemptError(Remedy("refused", "content filter"))
        return 30

    debate, _ = held(refused)
    assert debate.rounds == 2
    assert debate.verdict.score == 30


def test_an_opening_is_taken_as_it_is() -> None:
    first, _ = held(lambda role, number: ROLES.index(role), max_rounds=1)
    changed = [edited(s, score=77) if s.role == "Linguist" else s for s in first.statements]
    debate, requests = held(lambda role, number: 20, opening=changed)
    assert [round_of(request) for request in requests] == [2] * 4
    assert all('by="Linguist" score="77">I give 77.' in said(request) for request in requests)
    assert debate.verdict.score == 20


def test_long_statements_are_shown_shortened() -> None:
    long = json.dumps({"statement": "word " * 400, "score": 10, "code": "CODE"})
    ask, model = ask_of(lambda request, code: long.replace("CODE", code))
    debated(ask, DebateSettings(max_rounds=2))
    assert len(model.requests) == 4
    ask, model = ask_of(
        lambda r, code: long.replace("CODE", code).replace("10", str(ROLES.index(role_of(r))))
    )
    debated(ask, DebateSettings(max_rounds=2))
    assert all(said(r).count("word ") < 4 * 200 for r in model.requests if round_of(r) == 2)


def test_every_statement_is_spoken_by_an_agent_of_autogen(monkeypatch: pytest.MonkeyPatch) -> None:
    spoken: list[str] = []
    made = BaseChatAgent.__init__

    def noted(self: BaseChatAgent, name: str, description: str) -> None:
        made(self, name, description)
        answer = self.on_messages

        async def on_messages(*arguments: Any) -> Any:
            spoken.append(self.name)
            return await answer(*arguments)

        monkeypatch.setattr(self, "on_messages", on_messages, raising=False)

    monkeypatch.setattr(BaseChatAgent, "__init__", noted)
    debate, _ = held(lambda role, number: ROLES.index(role), max_rounds=2)
    assert len(spoken) == len(debate.statements) == 8


def asked_of(make_agent: Callable[[], Any], **settings: Any) -> Remedy:
    """What is to be done after an agent of one's own was asked."""
    request = Request((Message("user", ("Well?",)),))
    with pytest.raises(AttemptError) as error:
        asyncio.run(AgentProvider(make_agent, **settings).ask(["c1"], request, "", frozenset()))
    return error.value.remedy


def test_an_agent_that_fails_is_asked_again_and_one_that_cannot_be_made_stops_the_run() -> None:
    class Silent(Counter):
        async def on_messages(self, *_: Any) -> Response:
            await asyncio.sleep(3600)
            raise AssertionError

    class Broken(Counter):
        async def on_messages(self, *_: Any) -> Response:
            raise OSError("no\nnetwork")

    slow = asked_of(lambda: Silent("silent", "Says nothing."), timeout=0.01)
    assert slow.do == "again"
    broken = asked_of(lambda: Broken("broken", "Fails."))
    assert (broken.do, broken.reason.count("\n")) == ("again", 0)
    assert asked_of(lambda: Counter("no identifier", "Cannot be made.")).do == "stop"


@pytest.mark.parametrize("role", ["Children's Librarian", "1st Reader", "Книголюб"])
def test_a_role_of_ones_own_may_have_any_name(role: str) -> None:
    assert Debater(role).role == role


def test_a_role_may_have_another_model() -> None:
    ask, _ = ask_of(speaking(lambda role, number: 50), aliases=("main", "other"))
    settings = DebateSettings.model_validate({"roles": {"domain expert": "other"}})
    debate = debated(ask, settings)
    assert [s.speaker for s in debate.statements] == ["main", "other", "main", "main"]


@pytest.mark.parametrize("score", ["-1", "101", '"good"', "null", "true"])
def test_a_score_beyond_the_scale_is_no_statement(score: str) -> None:
    reply = '{"statement": "Well.", "score": SCORE, "code": "CODE"}'.replace("SCORE", score)
    ask, _ = ask_of(lambda request, code: reply.replace("CODE", code))
    debate = debated(ask, DebateSettings(max_rounds=1))
    assert {s.status for s in debate.statements} == {Status.UNREADABLE}
