"""Decomposition by a model: votes, repair, and turns that stay whole."""

import asyncio
import json

import pytest

from recjury.errors import CallFailed, ParseError
from recjury.judges.face.decomposer import GivenDecomposer, LlmDecomposer, read_particles
from recjury.judges.face.voting import vote
from recjury.llm.provider import Completion
from recjury.llm.scripted import Line
from recjury.records import ChatRequest, Choice, Decomposition, DialogueAct, Particle, Status
from tests.answers import in_form, prompt_of
from tests.judges.face.logs import ASK, HEAT, OTHER, REC, SLOW, decomposition, log, scripted
from tests.llm.doubles import reply


def said(*particles: Particle) -> str:
    """A reply that has these particles."""
    rows = [p.model_dump(mode="json") for p in particles]
    return f"First I think. {json.dumps({'particles': rows})}"


def _several(*texts: str) -> Completion:
    return Completion(texts[0], further=tuple(Choice(text, "stop") for text in texts[1:]))


def _decomposed(*lines: Line, samples: int = 3) -> tuple[Decomposition, list[ChatRequest]]:
    gateway, model = scripted(lines)
    decomposer = LlmDecomposer(gateway, "main", samples=samples)
    found = asyncio.run(decomposer.decompose(log("Hi", "Try Heat (1995). It is slow.", "Heat!")))
    return found, model.requests


def test_what_most_samples_say_becomes_the_particles() -> None:
    other = Particle(act=REC, mention="Try Heat (1995). It is slow.")
    found, requests = _decomposed(_several(said(HEAT, SLOW), said(other), said(HEAT, SLOW)))
    (turn,) = found.turns
    assert (turn.turn, turn.particles, turn.status) == (1, (HEAT, SLOW), Status.SCORED)
    assert [(r.n, r.temperature, r.purpose) for r in requests] == [(3, 0.6, "face/decompose")]
    assert len(turn.calls) == 1


def test_what_had_to_be_repaired_in_a_sample_is_kept() -> None:
    def say(request: ChatRequest) -> Line:
        plain = in_form(said(HEAT), prompt_of(request.messages))
        slip = plain.replace("}],", "},],")
        return _several(plain, slip, slip)

    gateway, _ = scripted(say)
    conversation = log("Hi", "Try Heat (1995).", "Heat is great!")
    found = asyncio.run(LlmDecomposer(gateway, "main").decompose(conversation))
    assert found.turns[0].particles == (HEAT,)
    assert found.turns[0].repaired == "trailing comma"
    assert _decomposed(said(HEAT), samples=1)[0].turns[0].repaired == ""


@pytest.mark.parametrize("broken", ['{"particles": [', "none", '{"particles": [{"act": "rec"}]}'])
def test_a_reply_that_is_no_json_is_asked_for_again(broken: str) -> None:
    found, requests = _decomposed(Completion(broken), said(HEAT), samples=1)
    assert found.turns[0].particles == (HEAT,)
    assert [m.role for m in requests[1].messages] == ["user"]
    assert "could not be used" in requests[1].messages[0].text
    assert len(found.turns[0].calls) == 2


def test_after_three_attempts_a_turn_is_marked_as_not_decomposed() -> None:
    found, requests = _decomposed(_several("a", "b", "c"), *"defghi")
    (turn,) = found.turns
    assert (turn.particles, turn.status) == ((), Status.UNREADABLE)
    assert turn.reason == "no JSON object with its code was given"
    assert len(requests) == 7


def test_a_call_that_failed_is_no_empty_turn() -> None:
    found, _ = _decomposed(CallFailed("gone"))
    assert (found.turns[0].status, found.turns[0].reason) == (Status.CALL_FAILED, "gone")


def test_the_votes_for_act_and_feedback_are_counted_apart() -> None:
    asked = Particle(act=ASK, mention="try heat 1995", feedback="Heat is GREAT!")
    quiet = Particle(act=ASK, mention="Try Heat (1995)")
    assert vote([[HEAT], [asked], [quiet]]) == (
        Particle(act=ASK, mention="Try Heat (1995)", feedback="Heat is great"),
    )


def test_without_a_majority_the_one_most_like_the_others_wins() -> None:
    loose = Particle(act=OTHER, mention="Try Heat")
    assert vote([[loose], [HEAT], [HEAT, SLOW]]) == (HEAT,)
    assert vote([[], []]) == ()


def test_particles_of_the_same_words_are_voted_on_one_by_one() -> None:
    again = Particle(act=OTHER, mention="Try Heat (1995)")
    assert vote([[HEAT, again]] * 2) == (HEAT, again)


def test_acts_are_read_whatever_their_spelling_and_no_feedback_is_none() -> None:
    row = {"act": "Preference_Elicitation", "mention": "What now?", "feedback": "None"}
    text = json.dumps({"particles": [row, {**row, "feedback": "That one"}]})
    first, second = read_particles(reply(text), answered=True)
    assert (first.act, first.feedback, second.feedback) == (
        DialogueAct.PREFERENCE_ELICITATION,
        None,
        "That one",
    )
    assert read_particles(reply(text), answered=False)[1].feedback is None


@pytest.mark.parametrize(
    ("rows", "said_of_it"),
    [
        ([{"act": "praise", "mention": "x"}], "act"),
        ([{"act": "others", "mention": "  "}], "empty mention"),
        ([{"act": "others"}], "mention"),
    ],
)
def test_particles_that_are_none_cannot_be_read(rows: object, said_of_it: str) -> None:
    with pytest.raises(ParseError, match=said_of_it):
        read_particles(reply(json.dumps({"particles": rows})), answered=True)


def test_given_particles_are_taken_as_they_are() -> None:
    given = decomposition()
    decomposer = GivenDecomposer(
        {"kbrd_redial_1": given.model_copy(update={"turns": given.turns[:1]})}
    )
    found = asyncio.run(decomposer.decompose(log()))
    assert found.turns[0] == given.turns[0]
    assert found.turns[1].status is Status.NOT_APPLICABLE
