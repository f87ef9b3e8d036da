"""A user played by a model that tells what its utterances do: what is asked, kept and counted."""

import json

import pytest

from recjury.language import Reading
from recjury.records import Act, ConversationLog, DeclaredAct, Speaker, Utterance
from recjury.simulator import LeakGuard, LlmUser, converse, declared_reply
from recjury.simulator.declared_reply import DeclaredReply, checked_acts
from tests.simulator.doubles import EndlessSystem
from tests.simulator.test_llm_user import KNOWN, OPENING, TALK, Lines, with_user

LOW_TIDE = "low tide (1996)"
FILM = KNOWN.domain


def reply(text: str, *acts: object) -> str:
    return json.dumps({"text": text, "acts": list(acts)})


def say(*lines: str, declares: bool = True) -> tuple[Utterance, list[str]]:
    return with_user(Lines(*lines), lambda user: user.speak(OPENING), declares=declares)


def kept(*acts: object, text: str = "Well.") -> tuple[tuple[DeclaredAct, ...], int]:
    found = checked_acts(DeclaredReply(text=text, acts=acts), (), KNOWN, FILM)
    return found.acts, found.dropped


def test_words_and_acts_come_in_one_reply() -> None:
    wish = {"act": "wish", "attribute": "genre", "value": "Drama"}
    said, (asked,) = say(reply("A drama, please.", wish))
    assert said.text == "A drama, please."
    assert said.acts == (DeclaredAct(act=Act.WISH, attribute="genre", value="drama"),)
    assert (said.acts_dropped, said.acts_differing) == (0, 0)
    assert '"acts"' in asked
    assert "genre, director, actor, writer, year, language, decade" in asked


def test_plain_words_declare_nothing() -> None:
    said, _ = say("A drama, please.")
    assert (said.text, said.acts) == ("A drama, please.", ())


def test_nothing_is_asked_or_read_by_default() -> None:
    said, (asked,) = say("A drama, please.", declares=False)
    assert said.acts == ()
    assert '"acts"' not in asked


def test_what_cannot_be_used_is_asked_for_again() -> None:
    said, prompts = say(reply("System: hello.\nUser: hi."), reply("A drama."))
    assert said.text == "A drama."
    assert len(prompts) == 2


@pytest.mark.parametrize(
    ("written", "act"),
    [
        ({"act": "SEEN", "item": "Low Tide"}, DeclaredAct(act=Act.SEEN, item=LOW_TIDE)),
        ({"act": "refuse", "item": "low tide (1996)", "value": ""},
         DeclaredAct(act=Act.REFUSE, item=LOW_TIDE)),
        ({"act": "ask", "attribute": "actor"}, DeclaredAct(act=Act.ASK, attribute="actor")),
        ({"act": "wish", "attribute": "decade", "value": "1990s"},
         DeclaredAct(act=Act.WISH, attribute="decade", value="1990s")),
        ("thank", DeclaredAct(act=Act.THANK)),
    ],
)  # fmt: skip
def test_acts_are_read_tolerantly(written: object, act: DeclaredAct) -> None:
    assert kept(written) == ((act,), 0)


@pytest.mark.parametrize(
    "written",
    [
        {"act": "dance"},
        {"act": "seen", "item": "No Such Film"},
        {"act": "wish", "attribute": "genre", "value": "polka"},
        {"act": "wish", "attribute": "colour", "value": "red"},
        {"act": "wish", "value": "drama"},
        {"act": "thank", "item": "Low Tide"},
        {"item": "Low Tide"},
        7,
    ],
)
def test_what_is_unknown_or_impossible_is_dropped_and_counted(written: object) -> None:
    assert kept(written, "bye") == ((DeclaredAct(act=Act.BYE),), 1)


def test_acts_that_contradict_an_earlier_one_are_dropped() -> None:
    about = {"item": "Low Tide"}
    acts, dropped = kept({"act": "accept", **about}, {"act": "refuse", **about}, "chat")
    assert acts == (DeclaredAct(act=Act.ACCEPT, item=LOW_TIDE),)
    assert dropped == 2


def test_what_the_words_surely_do_otherwise_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = Reading({}, yes=frozenset({Act.REFUSE, Act.CHAT}), no=frozenset({Act.THANK}))
    monkeypatch.setattr(declared_reply, "read", lambda *given: reading)
    said = DeclaredReply(text="No.", acts=("thank", "wish"))
    assert checked_acts(said, (), KNOWN, FILM).differing == 2


async def talk(user: LlmUser) -> ConversationLog:
    return await converse(user, EndlessSystem(), TALK, LeakGuard(KNOWN), KNOWN)


def test_counts_stand_in_the_log_and_only_if_there_are_any() -> None:
    def log(*lines: str) -> dict[str, object]:
        found, _ = with_user(Lines(*lines), talk, declares=True)
        return found.model_dump()

    counted = log(reply("A drama.", "dance", "wish"))
    assert counted["acts_dropped"] == 5
    assert "acts_dropped" not in log(reply("A drama.", "wish"))


def test_a_rewritten_utterance_brings_its_own_acts() -> None:
    leaking = reply("The Quiet Harbor, please.", "wish")
    found, _ = with_user(Lines(leaking, reply("Bye then.", "bye")), talk, declares=True)
    turns = [turn for turn in found.interaction if turn.speaker is Speaker.USER]
    assert {turn.acts for turn in turns} == {(DeclaredAct(act=Act.BYE),)}


def test_the_setting_is_part_of_the_identity() -> None:
    async def settings(user: LlmUser) -> dict[str, object]:
        return dict(user.settings)

    plain, _ = with_user(Lines(""), settings)
    declaring, _ = with_user(Lines(""), settings, declares=True)
    assert "declares" not in plain
    assert {**declaring, "declares": ""} == {**plain, "declares": ""}
    assert str(declaring["declares"]).startswith("core-simulator-acts/1/")
