"""A debate between models over real HTTP, through AutoGen's agents and the gateway."""

import asyncio
import json
import threading
from collections.abc import Mapping

import pytest

from recjury.debate import RatedLog, run_debate
from recjury.debate.llm_debaters import LlmDebaters
from recjury.debate.rules import NOT_SAID
from recjury.errors import ConfigError
from recjury.llm import EndpointSpec, Gateway
from recjury.prompts import with_code
from recjury.records import ChatRequest, DebateTranscript, Rating, Role, Status, Verdict
from tests.debate.voices import answer, never_agree, role_and_round
from tests.endpoint import Answer, Body, Fault, Script, ScriptedEndpoint, completion, prompt
from tests.judges.cases import MemoryRecorder, a_log, gateway_of, ratings_of

ALIASES = dict.fromkeys(Role, "model")


def debate(
    script: Script,
    *,
    rounds: int = 4,
    models: Mapping[Role, str] = ALIASES,
    ratings: tuple[Rating, ...] | None = None,
) -> tuple[DebateTranscript, Verdict, ScriptedEndpoint, MemoryRecorder]:
    recorder = MemoryRecorder()

    async def held(url: str) -> tuple[DebateTranscript, Verdict]:
        specs = {
            alias: EndpointSpec(base_url=url, name=alias, retries=0, timeout=20)
            for alias in set(models.values())
        }
        async with Gateway(specs, recorder) as gateway:
            own = ratings_of() if ratings is None else ratings
            return await run_debate(
                RatedLog(a_log(), own), LlmDebaters(gateway, models), max_rounds=rounds
            )

    with ScriptedEndpoint(script, models=tuple(set(models.values()))) as endpoint:
        transcript, verdict = asyncio.run(held(endpoint.url))
    return transcript, verdict, endpoint, recorder


def test_agreement_in_round_two_ends_the_debate_there() -> None:
    def agree_in_two(body: Body) -> str:
        role, number = role_and_round(body)
        return answer("Well.", 60 if number == 2 else len(role))

    transcript, verdict, endpoint, _ = debate(agree_in_two)
    assert len(endpoint.bodies) == 8
    assert (verdict.score, verdict.agreed, verdict.rounds, verdict.spoke) == (60, True, 2, 4)
    assert [s.round for s in transcript.statements] == [1] * 4 + [2] * 4


def test_a_debate_that_never_agrees_takes_sixteen_calls() -> None:
    transcript, verdict, endpoint, _ = debate(never_agree)
    assert len(endpoint.bodies) == 16
    last = [s.score for s in transcript.of_round(4)]
    assert last == [41, 42, 43, 44.5]
    assert verdict.score == pytest.approx(sum(score or 0 for score in last) / 4)
    assert (verdict.agreed, verdict.rounds) == (False, 4)


def test_equality_is_exact() -> None:
    def nearly(body: Body) -> str:
        role, _ = role_and_round(body)
        return answer("Hm.", 50.0001 if role is Role.LINGUIST else 50)

    _, verdict, endpoint, _ = debate(nearly, rounds=2)
    assert len(endpoint.bodies) == 8
    assert not verdict.agreed


def test_the_four_speak_at_the_same_time_and_keep_their_order() -> None:
    """Each round is answered last role first, once all four are there."""
    lock = threading.Lock()
    waiting: dict[tuple[Role, int], asyncio.Event] = {}
    came: list[Role] = []

    async def backwards(body: Body) -> str:
        role, number = role_and_round(body)
        event = asyncio.Event()
        with lock:
            waiting[role, number] = event
            if len([1 for _, n in waiting if n == number]) == 4:
                waiting[Role.HCI_EXPERT, number].set()
        await event.wait()
        came.append(role)
        before = list(Role)[list(Role).index(role) - 1]
        if role is not Role.COMMON_USER:
            waiting[before, number].set()
        return answer(f"{role} in {number}", 10 * number + list(Role).index(role))

    transcript, _, endpoint, _ = debate(backwards, rounds=2)
    assert endpoint.most_in_flight == 4
    assert came == list(Role)[::-1] * 2
    assert [s.role for s in transcript.statements] == list(Role) * 2
    heard = next(text for text in map(prompt, endpoint.bodies) if "This is round 2" in text)
    places = [heard.index(f"{role} in 1</statement>") for role in Role]
    assert places == sorted(places)


def test_roles_may_be_played_by_different_models() -> None:
    models = {role: f"m-{n}" for n, role in enumerate(Role)}
    transcript, _, endpoint, _ = debate(never_agree, rounds=1, models=models)
    assert {body["model"] for body in endpoint.bodies} == set(models.values())
    assert [s.speaker for s in transcript.statements] == list(models.values())


def test_a_model_cannot_pass_for_the_rule() -> None:
    gateway, _ = gateway_of([], "rule")
    with pytest.raises(ConfigError, match="cannot be called 'rule'"):
        LlmDebaters(gateway, dict.fromkeys(Role, "rule"))


@pytest.mark.parametrize(
    "bad",
    [
        "I would give it 50.",
        '{"statement": "Good.", "score": 101}',
        '{"statement": "Good.", "score": 0.66}',
        '{"statement": "Good.", "score": "fifty"}',
        '{"statement": "", "score": 50}',
        "",
        completion('{"statement": "Good.", "score": 50}', finish_reason="length"),
    ],
)
def test_an_answer_that_cannot_be_read_is_asked_for_again(bad: str | Body) -> None:
    def stumble(body: Body) -> Answer:
        if role_and_round(body)[0] is not Role.LINGUIST or "could not be used" in prompt(body):
            return answer("Fine.", 50)
        return bad

    transcript, verdict, endpoint, _ = debate(stumble)
    assert (verdict.score, verdict.agreed, len(endpoint.bodies)) == (50, True, 5)
    assert [len(s.calls) for s in transcript.statements] == [1, 1, 2, 1]


def test_after_three_attempts_a_role_is_missing_and_the_debate_goes_on() -> None:
    def mumble(body: Body) -> str:
        role, number = role_and_round(body)
        unread = role is Role.LINGUIST and number == 2
        return "Mumble." if unread else answer("Fine.", len(role) + (0 if number < 4 else 1))

    transcript, verdict, endpoint, _ = debate(mumble)
    assert len(endpoint.bodies) == 4 + 6 + 4 + 4
    assert {tuple(m["role"] for m in body["messages"]) for body in endpoint.bodies} == {  # type: ignore[attr-defined]
        ("system", "user")
    }
    assert (verdict.status, verdict.rounds, verdict.spoke) == (Status.SCORED, 4, 4)
    unread = transcript.of_round(2)[2]
    assert (unread.score, unread.status, unread.text) == (None, Status.UNREADABLE, "Mumble.")
    assert all(s.score is not None for s in transcript.statements if s is not unread)
    later = [text for text in map(prompt, endpoint.bodies) if "This is round 3" in text]
    missing = f'<statement by="Linguist" score="none">{NOT_SAID}</statement>'
    assert [missing in text for text in later] == [True] * 4


def test_a_failed_call_leaves_the_verdict_unscored() -> None:
    def down(body: Body) -> Answer:
        role, _ = role_and_round(body)
        return Fault("status", 500) if role is Role.COMMON_USER else answer("Fine.", 50)

    transcript, verdict, _, _ = debate(down)
    assert (verdict.score, verdict.status) == (None, Status.CALL_FAILED)
    assert transcript.statements[0].status is Status.CALL_FAILED
    assert "500" in verdict.reason


def test_a_role_without_a_scored_factor_is_not_asked() -> None:
    missing = Role.DOMAIN_EXPERT.factors
    ratings = tuple(
        Rating(
            evaluator="judge",
            factor=r.factor,
            score=None,
            status=Status.NOT_APPLICABLE,
            reason="the log has no recommendation list",
        )
        if r.factor in missing
        else r
        for r in ratings_of()
    )
    transcript, verdict, endpoint, _ = debate(lambda _: answer("Fine.", 50), ratings=ratings)
    assert len(endpoint.bodies) == 3
    assert (verdict.score, verdict.spoke) == (50, 3)
    assert transcript.statements[1].status is Status.ABSTAINED
    assert transcript.statements[1].speaker == "model"


def test_requests_reach_the_record_in_the_parts_they_were_cut_into() -> None:
    transcript, _, endpoint, recorder = debate(never_agree, rounds=3)
    log_parts = {
        part
        for call in recorder.calls.values()
        for message in call.request.messages
        for part in message.parts
        if part.startswith("<conversation>")
    }
    assert len(log_parts) == 1
    # The conversation, both rounds so far and the task are stored once each.
    parts = [p for c in recorder.calls.values() for m in c.request.messages for p in m.parts]
    assert sum(map(len, set(parts))) < 0.4 * sum(map(len, parts))
    sent = {json.dumps(body["messages"], sort_keys=True) for body in endpoint.bodies}
    kept = {
        json.dumps(
            [
                {"role": m.role, "content": m.text}
                for m in with_code(c.request, c.reply.code).messages
            ],
            sort_keys=True,
        )
        for c in recorder.calls.values()
    }
    assert kept == sent
    assert {call for s in transcript.statements for call in s.calls} == set(recorder.calls)


def test_a_debate_held_again_asks_nothing_that_was_answered() -> None:
    def differ(request: ChatRequest) -> str:
        place = list(Role).index(Role(request.purpose.split("/")[1]))
        return answer(request.purpose, 10 * place)

    gateway, model = gateway_of(differ, "model")
    debaters = LlmDebaters(gateway, ALIASES)
    shorter, _ = asyncio.run(run_debate(RatedLog(a_log(), ratings_of()), debaters, max_rounds=2))
    longer, _ = asyncio.run(run_debate(RatedLog(a_log(), ratings_of()), debaters, max_rounds=3))
    assert len(model.requests) == 12
    assert longer.statements[:8] == shorter.statements
