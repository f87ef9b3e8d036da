"""The user played by a model, over real HTTP: what it is told, and what becomes of its replies."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from recjury.errors import CallFailed
from recjury.llm import EndpointSpec, Gateway
from recjury.prompts import CODE, load_pack
from recjury.records import (
    Attribute,
    Behaviour,
    Condition,
    ConversationLog,
    Ending,
    ItemRef,
    Person,
    PersonaTraits,
    Rating,
    Speaker,
    Status,
    SystemReply,
    Turn,
    UserContext,
    Utterance,
)
from recjury.simulator import ConversationFailed, LeakGuard, LlmUser, converse
from recjury.simulator.user_prompts import PACK, UserPrompts
from tests.endpoint import Fault, ScriptedEndpoint, completion, prompt
from tests.llm.doubles import MemoryRecorder
from tests.simulator.doubles import (
    EndlessSystem,
    ScriptedSystem,
    catalogue,
    film,
    scenario,
    system_turn,
    user_turn,
)

TARGET = film(
    "The Quiet Harbor (1994)",
    genres=("drama",),
    actors=("Ann Reed",),
    directors=("Cy Marsh",),
    plot="A pilot <finds> a letter.",
)
KNOWN = catalogue(TARGET, "Low Tide (1996)")
TALK = scenario([TARGET.ref], history=(user_turn("Hello </history> there"),))
OPENING = UserContext(scenario=TALK, interaction=())
T = TypeVar("T")
Script = Callable[[dict[str, object]], str | dict[str, object] | Fault]


class Lines:
    """A script that gives its lines in order, and the last one from then on."""

    def __init__(self, *lines: str | dict[str, object] | Fault):
        self._lines = list(lines)

    def __call__(self, body: dict[str, object]) -> str | dict[str, object] | Fault:
        return self._lines.pop(0) if len(self._lines) > 1 else self._lines[0]


def with_user(
    script: Script, act: Callable[[LlmUser], Awaitable[T]], *, declares: bool = False
) -> tuple[T, list[str]]:
    """What `act` returns, and the prompts that were sent."""

    async def run(url: str) -> T:
        spec = EndpointSpec(base_url=url, name="scripted", retries=0)
        async with Gateway({"user": spec}, MemoryRecorder()) as gateway:
            return await act(LlmUser(gateway, "user", KNOWN, declares=declares))

    with ScriptedEndpoint(script) as endpoint:
        result = asyncio.run(run(endpoint.url))
        return result, [prompt(body) for body in endpoint.bodies]


def test_it_says_what_the_model_says() -> None:
    said, prompts = with_user(Lines("Something calm, please."), lambda user: user.speak(OPENING))
    assert said.text == "Something calm, please."
    assert len(said.calls) == 1
    assert len(prompts) == 1


def test_the_prompt_tells_the_target_and_fences_what_others_said() -> None:
    _, prompts = with_user(Lines("Hm."), lambda user: user.speak(OPENING))
    for known in ("The Quiet Harbor (1994)", "drama", "Ann Reed", "Cy Marsh", "1994"):
        assert known in prompts[0]
    assert "A pilot &lt;finds&gt; a letter." in prompts[0]
    assert "Hello &lt;/history&gt; there" in prompts[0]
    assert "You have not said anything in this conversation yet" in prompts[0]


SHOWN = system_turn("How about this?", TARGET.ref)


def asked(**context: object) -> str:
    """The prompt for a turn in this context."""
    given = {"scenario": TALK, "interaction": (SHOWN,), **context}
    moment = UserContext.model_validate(given)
    return with_user(Lines("Hm."), lambda user: user.speak(moment))[1][0]


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ({}, "The system has just spoken"),
        ({}, "You may not name a target item"),
        ({"hit": TARGET.ref, "introduce": True}, "to introduce it"),
        ({"speakable": (TARGET.ref,)}, "you may call these by their titles"),
        ({"speakable": (TARGET.ref,)}, "<told>\n- The Quiet Harbor (1994)\n</told>"),
        ({"hit": TARGET.ref}, "Say that you are content with it"),
        ({"last": True}, "take your leave"),
        ({"barred": {Attribute("director", "Cy Marsh")}}, "<withheld>\n- Cy Marsh\n</withheld>"),
    ],
)
def test_the_situation_is_told(context: dict[str, object], expected: str) -> None:
    text = asked(**context)
    assert expected in text
    assert "the system showed you this list:\n\n<list>\n1. The Quiet Harbor (1994)" in text


def test_a_user_who_sees_no_list_is_told_of_none() -> None:
    text = asked(shows_list=False)
    assert "1. The Quiet Harbor" not in text
    assert "You see only what the system writes, no lists." in text


WISHES = (Attribute("genre", "drama"), Attribute("actor", "Ann </wishes> Reed"))


def test_a_user_with_wishes_knows_no_target() -> None:
    person = Person(knows="wishes", wishes=WISHES)
    text = asked(
        person=person, interaction=(), barred={Attribute("director", "Cy Marsh")}, shows_list=False
    )
    assert "<wishes>\ngenre: drama\nactor: Ann &lt;/wishes&gt; Reed\n</wishes>" in text
    for secret in ("target", "Quiet Harbor", "Cy Marsh", "1994", "pilot"):
        assert secret not in text


def test_a_persona_is_told_by_its_sentence_and_traits() -> None:
    traits = PersonaTraits(patience="low", language="high")
    text = asked(person=Person(persona="x", about="You sail <fast>.", traits=traits))
    assert "- You sail &lt;fast&gt;.\n- You are impatient" in text
    assert "- You are eloquent" in text
    assert "talkative" not in text
    assert "What you are like" not in asked()


@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        ("change_of_mind", "You have changed your mind"),
        ("contradiction", "contradicts what you said earlier"),
        ("rejection_without_reason", "Give no reason"),
        ("off_topic", "nothing to do with what you are looking for"),
        ("giving_up", "You have had enough"),
    ],
)
def test_a_behaviour_replaces_the_answer_unless_the_user_is_content(
    behaviour: Behaviour, expected: str
) -> None:
    person = Person(behaviours=(behaviour,))
    assert expected in asked(person=person)
    assert "The system has just spoken" not in asked(person=person)
    assert expected not in asked(person=person, hit=TARGET.ref)


def test_a_condition_is_told_with_what_it_is_about() -> None:
    tide = ItemRef(id="low tide (1996)", name="Low Tide (1996)")
    text = asked(person=Person(condition=Condition(name="decoy", item=tide)))
    assert "you could simply take it" in text
    assert "<in_mind>\n<item>\ntitle: Low Tide (1996)\nyear: 1996\n</item>\n</in_mind>" in text
    primed = Condition(name="priming", attribute=Attribute("genre", "war"))
    assert "<in_mind>\ngenre: war\n</in_mind>" in asked(person=Person(condition=primed))


USELESS: dict[str, str | dict[str, object]] = {
    "empty": "",
    "no words": "...",
    "cut off": completion("Something with", finish_reason="length"),
    "refusing": "I'm sorry, but I can't assist with that request.",
    "a model": "As an AI language model, I do not watch films.",
    "json": '{"utterance": "Something calm"}',
    "garbage": "```json\n[{]]",
    "both sides": "Something calm.\nSystem: How about Low Tide?\nUser: Yes!",
    "tags": "<user>Something calm</user>",
    "too long": "so " * 500,
}


@pytest.mark.parametrize("kind", USELESS)
def test_a_useless_reply_is_asked_for_again(kind: str) -> None:
    script = Lines(USELESS[kind], "Something calm, please.")
    said, prompts = with_user(script, lambda user: user.speak(OPENING))
    assert said.text == "Something calm, please."
    assert len(said.calls) == len(prompts) == 2


@pytest.mark.parametrize("kind", USELESS)
def test_three_useless_replies_fail_the_trial_with_the_reason(kind: str) -> None:
    system = EndlessSystem()

    async def hold(user: LlmUser) -> ConversationLog:
        return await converse(user, system, TALK, LeakGuard(KNOWN), KNOWN)

    with pytest.raises(ConversationFailed, match="no usable utterance in 3 replies: "):
        with_user(Lines(USELESS[kind]), hold)


def test_a_failing_endpoint_fails_the_trial() -> None:
    with pytest.raises(CallFailed, match="could not be asked"):
        with_user(Lines(Fault("status", status=500)), lambda user: user.speak(OPENING))


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ('"Something calm."', "Something calm."),
        ("User: Something calm.", "Something calm."),
        ("**User:** Something calm.", "Something calm."),
        ('"Calm" or "quiet"', '"Calm" or "quiet"'),
        ("I'm sorry, but I can't stand horror.", "I'm sorry, but I can't stand horror."),
        ("<think>Hm.</think>Something calm.", "Something calm."),
    ],
)
def test_an_utterance_is_read_out_of_its_wrapping(reply: str, text: str) -> None:
    said, _ = with_user(Lines(reply), lambda user: user.speak(OPENING))
    assert said.text == text


def test_a_rewrite_is_told_the_leaks() -> None:
    async def rewrite(user: LlmUser) -> Utterance:
        return await user.rewrite(OPENING, "The quiet harbor?", ["quiet harbor"])

    said, prompts = with_user(Lines("Something by the sea?"), rewrite)
    assert said.text == "Something by the sea?"
    assert "- quiet harbor" in prompts[0]
    assert "<utterance>\nThe quiet harbor?\n</utterance>" in prompts[0]


def test_a_rewrite_that_cannot_be_read_is_empty_and_keeps_its_calls() -> None:
    async def rewrite(user: LlmUser) -> Utterance:
        return await user.rewrite(OPENING, "The quiet harbor?", ["quiet harbor"])

    said, _ = with_user(Lines(""), rewrite)
    assert said.text == ""
    assert len(said.calls) == 3
    with pytest.raises(CallFailed):
        with_user(Lines(Fault("drop")), rewrite)


def _leaky(body: dict[str, object]) -> str:
    if "gives away an item" in prompt(body):
        return "A film by the water. The Quiet Harbor!"
    return "Is it The Quiet Harbor (1994)?"


def test_a_model_that_leaks_whatever_it_is_told_gets_nothing_through() -> None:
    async def hold(user: LlmUser) -> ConversationLog:
        return await converse(user, EndlessSystem(), TALK, LeakGuard(KNOWN), KNOWN)

    log, _ = with_user(_leaky, hold)
    sent = [turn for turn in log.interaction if turn.speaker is Speaker.USER]
    assert {turn.text for turn in sent} == {"A film by the water."}
    assert all(len(turn.calls) == 2 for turn in sent)
    assert (log.leaks_caught, log.leaks_through) == (5, 0)


def test_a_conversation_with_a_hit() -> None:
    def script(body: dict[str, object]) -> str:
        asked = prompt(body)
        if "to introduce it" in asked:
            return "Tell me about The Quiet Harbor."
        return "Thanks!" if "Say that you are content" in asked else "Something calm."

    hit = SystemReply(text="LeakChecker The Quiet Harbor (1994).", items=(TARGET.ref,))
    miss = SystemReply(text="What do you like?")

    async def hold(user: LlmUser) -> ConversationLog:
        system = ScriptedSystem(miss, hit, hit)
        return await converse(user, system, TALK, LeakGuard(KNOWN), KNOWN)

    log, _ = with_user(script, hold)
    said = [turn.text for turn in log.interaction if turn.speaker is Speaker.USER]
    assert said == ["Something calm.", "Tell me about The Quiet Harbor.", "Thanks!"]
    assert (log.hit_round, log.ending, log.leaks_caught) == (2, Ending.HIT, 0)


def rated(*lines: str | dict[str, object] | Fault, turns: tuple[Turn, ...] = ()) -> Rating:
    log = ConversationLog(
        system="s",
        scenario=TALK,
        interaction=turns or (system_turn("Low Tide?"), user_turn("Maybe.")),
        ending=Ending.ROUND_LIMIT,
    )
    return with_user(Lines(*lines), lambda user: user.persuasiveness(log))[0]


def test_persuasiveness_of_a_user_with_wishes() -> None:
    log = ConversationLog(
        system="s",
        scenario=TALK,
        interaction=(system_turn("Low Tide?"), user_turn("Maybe.")),
        ending=Ending.CONTENT,
        person=Person(knows="wishes", wishes=WISHES, about="You sail."),
    )
    script = Lines("All of it. <rating>2</rating>")
    rating, (sent,) = with_user(script, lambda user: user.persuasiveness(log))
    assert rating.score == 2
    assert rating.rubric.startswith("core-persuasiveness-person/1/")
    assert "an item with all your wishes" in sent
    assert "- You sail." in sent
    assert "Quiet Harbor" not in sent
    targets = log.model_copy(update={"person": Person(about="You sail.")})
    _, (sent,) = with_user(script, lambda user: user.persuasiveness(targets))
    assert "Quiet Harbor" in sent


def test_persuasiveness() -> None:
    rating = rated("It came near.\n<rating>1</rating>")
    assert (rating.score, rating.low, rating.high) == (1, 0, 2)
    assert (rating.factor, rating.evaluator) == ("Persuasiveness", "user")
    assert rating.rationale == "It came near."
    assert rating.rubric.startswith("core-persuasiveness/1/")
    assert len(rating.calls) == 1


@pytest.mark.parametrize(
    "useless",
    [
        "<rating>3</rating>",
        "",
        "2",
        "<rating>1</rating> or <rating>2</rating>",
        "<rating>1.5</rating>",
    ],
)
def test_persuasiveness_that_cannot_be_read_is_unscored(useless: str) -> None:
    rating = rated(useless)
    assert rating.score is None
    assert rating.status is Status.UNREADABLE
    assert rating.reason
    assert len(rating.calls) == 3
    assert rated(useless, "Good. <rating>2</rating>").score == 2


def test_persuasiveness_without_an_answer_of_the_endpoint_or_system() -> None:
    assert rated(Fault("drop")).status is Status.CALL_FAILED
    failed = Turn(speaker=Speaker.SYSTEM, text="", failure="broken")
    assert rated("<rating>2</rating>", turns=(failed,)).status is Status.NOT_APPLICABLE


def test_the_settings_hold_prompts_and_temperature() -> None:
    async def settings(user: LlmUser) -> dict[str, object]:
        return dict(user.settings)

    told, _ = with_user(Lines("Hm."), settings)
    assert set(told) == {"user", "prompts", "temperature", "longest", "catalogue"}


def test_the_prompts_are_as_written_down() -> None:
    """The rendered prompts; when they are meant to change, so does this file."""
    moment = UserContext(
        scenario=TALK,
        interaction=(system_turn("How about <b>Low Tide</b>?", TARGET.ref),),
        hit=TARGET.ref,
        introduce=True,
        speakable=(TARGET.ref,),
    )
    prompts = UserPrompts(load_pack(PACK), KNOWN)
    log = ConversationLog(
        system="s", scenario=TALK, interaction=moment.interaction, ending=Ending.RECORDED
    )
    rendered = (
        *prompts.rewrite(moment, "Harbor?", ["Harbor"]),
        *prompts.persuasiveness(log),
    )
    text = "\n".join(f"[{message.role}]\n{message.text}" for message in rendered) + "\n"
    text = text.replace(CODE, "CODE")
    assert text == Path(__file__).with_name("golden_prompts.txt").read_text("utf-8")


def test_the_papers_user_gets_history_and_targets_and_may_not_name_them() -> None:
    """CoRE, section 6.4."""
    prompts = UserPrompts(load_pack("core-paper-simulator"), KNOWN)
    heard = (system_turn("How about something else?"),)
    asked = [
        "".join(message.text for message in prompts.turn(moment))
        for moment in (
            UserContext(scenario=TALK, interaction=heard),
            UserContext(scenario=TALK, interaction=heard, hit=TARGET.ref, introduce=True),
        )
    ]
    for text in asked:
        assert f"title: {TARGET.name}" in text
        assert "<history>" in text
        assert "Never tell the title of a target item" in text
    assert "introduce it" not in asked[0]
    assert "introduce it" in asked[1]
