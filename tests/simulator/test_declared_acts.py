"""Acts that a simulated user declares: kept with its turn, hidden from the system."""

import asyncio

import pytest

from recjury.records import Act, ConversationLog, DeclaredAct, Speaker, UserContext, Utterance
from recjury.simulator import ConversationFailed, LeakGuard, converse
from tests.simulator.doubles import EndlessSystem, ScriptedUser, catalogue, scenario

KNOWN = catalogue("Alien (1979)", "Solaris (1972)")
ALIEN, SOLARIS = (item.ref for item in KNOWN)


class DeclaringUser(ScriptedUser):
    """Says one sentence, and declares these acts."""

    def __init__(self, text: str, *acts: DeclaredAct):
        super().__init__(rewrite=lambda context, said: "Something else?")
        self._text, self._acts = text, acts

    async def speak(self, context: UserContext) -> Utterance:
        return Utterance(text=self._text, acts=self._acts)


def talk(user: DeclaringUser, system: EndlessSystem | None = None) -> ConversationLog:
    system = system or EndlessSystem()
    return asyncio.run(converse(user, system, scenario([ALIEN]), LeakGuard(KNOWN), KNOWN))


def test_declared_acts_stand_in_the_turn_and_not_in_what_the_system_sees() -> None:
    seen = DeclaredAct(act=Act.SEEN, item=SOLARIS.id)
    system = EndlessSystem()
    log = talk(DeclaringUser("Solaris? Twice.", seen), system)
    said = [turn for turn in log.interaction if turn.speaker is Speaker.USER]
    assert all(turn.acts == (seen,) for turn in said)
    assert [turn.text for turn in system.seen][-1] == "Solaris? Twice."
    assert not any(turn.acts for turn in system.seen)


def test_a_rewritten_utterance_declares_nothing() -> None:
    log = talk(DeclaringUser("What about Alien?", DeclaredAct(act=Act.WISH)))
    said = [turn for turn in log.interaction if turn.speaker is Speaker.USER]
    assert {turn.text for turn in said} == {"Something else?"}
    assert not any(turn.acts for turn in said)


@pytest.mark.parametrize(
    ("acts", "message"),
    [
        ((DeclaredAct(act=Act.SEEN, item="zz"),), "'zz' is no item of the catalogue"),
        (
            (DeclaredAct(act=Act.ACCEPT), DeclaredAct(act=Act.REFUSE)),
            "accepts and refuses a suggestion",
        ),
    ],
)
def test_impossible_acts_fail_the_conversation(acts: tuple[DeclaredAct, ...], message: str) -> None:
    with pytest.raises(ConversationFailed, match=message):
        talk(DeclaringUser("Well.", *acts))


def test_a_turn_without_acts_has_the_form_that_identities_rest_on() -> None:
    log = talk(DeclaringUser("Well."))
    assert all("acts" not in turn.model_dump() for turn in log.interaction)
