"""The user without a model: what it tells, in what order, and how it rates."""

import asyncio
import re
from collections.abc import Mapping

import pytest

from recjury.corpora import Corpus, open_corpus
from recjury.knowledge import Catalogue
from recjury.records import (
    JSON,
    Conversation,
    ConversationLog,
    Ending,
    Item,
    ItemRef,
    Rating,
    Scenario,
    Speaker,
    Status,
    SystemReply,
    Turn,
    UserContext,
)
from recjury.simulator import LeakGuard, RuleUser, converse
from recjury.simulator.agenda import agenda, decade_of, noun_of, phrases
from recjury.simulator.rule_persuasiveness import attribute_likeness
from tests.simulator.doubles import (
    ScriptedSystem,
    catalogue,
    film,
    scenario,
    system_turn,
    user_turn,
)

TARGET = film(
    "The Quiet Harbor (1994)",
    genres=("drama", "crime", "mystery"),
    actors=("Ann Reed", "Bo Lund"),
    directors=("Cy Marsh",),
    writers=("Di Falk",),
)
NEAR = film("Low Tide (1996)", genres=("drama", "crime"), actors=("Ann Reed",))
FAR = film("Laugh Track (1958)", genres=("comedy",), actors=("Ed Pike",), directors=("Flo Ross",))
BARE = film("Nameless")
KNOWN = catalogue(TARGET, NEAR, FAR, BARE)
USER = RuleUser(KNOWN)
VALUES = ("drama", "the 90s", "Ann Reed", "Cy Marsh", "crime", "Bo Lund", "Di Falk", "mystery")


class Browsing:
    """Recommends what comes next in the catalogue, and asks something now and then."""

    name = "browsing"
    settings: Mapping[str, JSON] = {}

    def __init__(self, known: Catalogue):
        self._items = list(known)

    async def respond(self, conversation: Conversation) -> SystemReply:
        at = 7 * len(conversation.turns) + len(conversation.turns[0].text)
        shown = [self._items[(at + n) % len(self._items)] for n in range(10)]
        questions = ("What genre do you like?", "Any favorite actor?", "How old may it be?", "")
        text = f"How about {shown[0].name}? {questions[at % 4]}"
        return SystemReply(text=text, items=tuple(item.ref for item in shown))

    async def aclose(self) -> None:
        """Nothing to release."""


@pytest.fixture(scope="module")
def sample() -> Corpus:
    return open_corpus("sample", None)


def say(
    *interaction: Turn,
    targets: tuple[Item, ...] = (TARGET,),
    history: tuple[Turn, ...] = (),
    hit: ItemRef | None = None,
    introduce: bool = False,
    named: bool = False,
    user: RuleUser = USER,
) -> str:
    moment = UserContext(
        scenario=scenario([one.ref for one in targets], history=history),
        interaction=interaction,
        hit=hit,
        introduce=introduce,
        system_named_hit=named,
    )
    return asyncio.run(user.speak(moment)).text


def told(text: str) -> set[str]:
    return {value for value in VALUES if re.search(rf"\b{value}\b", text)}


def test_it_opens_with_a_vague_wish() -> None:
    text = say()
    assert told(text) == {"drama"}
    assert any(text.startswith(greeting) for greeting in phrases().greeting)


def test_each_turn_tells_one_thing_more() -> None:
    turns: list[Turn] = []
    known: set[str] = set()
    for _ in range(len(VALUES)):
        text = say(*turns)
        assert len(told(text) - known) == 1
        known |= told(text)
        turns += [user_turn(text), system_turn("I see.")]
    assert known == set(VALUES)
    assert say(*turns) in phrases().exhausted


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Any favorite actor?", "Ann Reed"),
        ("Who should star in it?", "Ann Reed"),
        ("Is there a director you like?", "Cy Marsh"),
        ("Should it be recent or old?", "the 90s"),
        ("From which decade?", "the 90s"),
        ("What genre do you enjoy?", "drama"),
    ],
)
def test_it_answers_what_it_is_asked(question: str, value: str) -> None:
    assert told(say(system_turn(question))) == {value}


def test_it_says_so_when_it_does_not_mind() -> None:
    target = film("Silent (1930)", genres=("western",))
    user = RuleUser(catalogue(target))
    text = say(system_turn("Which actor do you like?"), targets=(target,), user=user)
    assert any(text.startswith(answer) for answer in phrases().indifferent["actor"])
    assert "western" in text


@pytest.mark.parametrize("turn", [system_turn("Try Laugh Track (1958)."), system_turn("", FAR.ref)])
def test_it_turns_down_what_does_not_fit_and_says_why(turn: Turn) -> None:
    text = say(turn)
    assert "Laugh Track" in text
    assert told(text) == {"drama"}


def test_the_reason_can_be_something_told_before() -> None:
    before = user_turn("I would like it to be from the 90s.")
    text = say(before, system_turn("Try Laugh Track (1958)."))
    assert re.search(r"Laugh Track .*the 90s", text)
    assert len(told(text)) == 2


def test_it_knows_what_came_up_in_the_history() -> None:
    text = say(system_turn("Low Tide (1996)?"), history=(user_turn("I liked Low Tide (1996)."),))
    assert "already know" in text or "came up before" in text


def test_after_a_hit_it_asks_for_an_introduction_then_for_more() -> None:
    first = say(system_turn("These?", TARGET.ref), hit=TARGET.ref, introduce=True)
    assert first in phrases().introduce
    shown = system_turn("These?", TARGET.ref)
    again = say(shown, user_turn(first), shown, hit=TARGET.ref, introduce=True)
    assert again in phrases().more
    assert say(shown, hit=TARGET.ref) in phrases().accept


def test_it_names_the_hit_once_the_system_has() -> None:
    heard = system_turn("The Quiet Harbor (1994)?", TARGET.ref)
    text = say(heard, hit=TARGET.ref, introduce=True, named=True)
    assert "The Quiet Harbor" in text
    assert "(1994)" not in text


def test_the_list_may_spell_the_hit_in_its_own_way() -> None:
    shown = ItemRef(id=TARGET.id, name="Quiet Harbor, The")
    heard = system_turn("The Quiet Harbor (1994)?", shown)
    text = say(heard, hit=shown, introduce=True, named=True)
    assert "The Quiet Harbor" in text


def test_attributes_that_would_name_the_target_are_kept_back() -> None:
    target = film("Western (1997)", genres=("western", "drama"), actors=("Ann Reed",))
    user = RuleUser(catalogue(target))
    targets = (target, film("Ann Reed", genres=("drama",)))
    known = RuleUser(catalogue(*targets))
    assert "Ann Reed" not in say(system_turn("Any actor?"), targets=targets, user=known)
    assert say(targets=(target,), user=user)


def test_without_a_known_target_the_wishes_are_told() -> None:
    talked = Scenario(corpus="c", record="r", wishes=("animation", "war"))
    moment = UserContext(scenario=talked, interaction=())
    assert "animation" in asyncio.run(USER.speak(moment)).text
    bare = Scenario(corpus="c", record="r", targets=(BARE.ref,))
    assert asyncio.run(USER.speak(UserContext(scenario=bare, interaction=()))).text


def test_rewriting_leaves_the_leaking_sentence_out() -> None:
    moment = UserContext(scenario=scenario([TARGET.ref]), interaction=())
    said = "Something sad. It is The Quiet Harbor."
    again = asyncio.run(USER.rewrite(moment, said, ["The Quiet Harbor"]))
    assert again.text == "Something sad."


def test_the_agenda_goes_from_vague_to_certain() -> None:
    assert tuple(one.value for one in agenda(TARGET, ())) == VALUES
    assert agenda(None, ("war",))[0].value == "war"
    assert agenda(BARE, ()) == ()


@pytest.mark.parametrize(
    ("year", "decade"), [(1994, "the 90s"), (2003, "the 2000s"), (1850, "the 1850s"), (None, None)]
)
def test_decades(year: int | None, decade: str | None) -> None:
    assert decade_of(film("X", year=year)) == decade


def test_what_has_writers_alone_is_a_book() -> None:
    assert noun_of(film("X", writers=("A",))) == "book"
    assert noun_of(film("X", writers=("A",), actors=("B",))) == "film"


def _hold(opened: Corpus, talked: Scenario, seed: int = 0) -> ConversationLog:
    user, known = RuleUser(opened.catalogue, seed=seed), opened.catalogue
    return asyncio.run(converse(user, Browsing(known), talked, LeakGuard(known), known))


def _said(log: ConversationLog) -> tuple[str, ...]:
    return tuple(turn.text for turn in log.interaction if turn.speaker is Speaker.USER)


def test_conversations_over_the_sample(sample: Corpus) -> None:
    scenarios = sample.scenarios(limit=20).scenarios
    logs = [_hold(sample, talked) for talked in scenarios]
    assert [_hold(sample, talked) for talked in scenarios] == logs
    assert len({_said(log) for log in logs}) == len(logs)
    assert all(log.leaks_caught == log.leaks_through == 0 for log in logs)
    assert any(_said(log) != _said(_hold(sample, log.scenario, seed=1)) for log in logs)
    for log in logs:
        if len(log.scenario.targets) == 1:
            _tells_more_and_more(sample, log)


def _named(opened: Corpus, log: ConversationLog, rounds: int) -> set[str | None]:
    turns = log.system_turns[:rounds]
    return {mention.id for turn in turns for mention in opened.catalogue.link(turn.text)}


def _tells_more_and_more(opened: Corpus, log: ConversationLog) -> None:
    values = {
        one.value
        for target in log.scenario.targets
        if target.id is not None
        for one in agenda(opened.catalogue.item(target.id), ())
    } - {each.value for each in LeakGuard(opened.catalogue).watch(log.scenario.targets).barred()}
    known: set[str] = set()
    for number, text in enumerate(_said(log), start=1):
        if log.hit_round is not None and number >= log.hit_round:
            break
        if any(target.id in _named(opened, log, number) for target in log.scenario.targets):
            break
        new = {value for value in values if re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text)}
        assert new - known or known == values, (text, values, known)
        known |= new


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


def test_settings_tell_seed_and_catalogue() -> None:
    assert RuleUser(KNOWN, seed=1).settings != USER.settings
    assert RuleUser(catalogue(TARGET)).settings != USER.settings
    assert RuleUser(KNOWN).settings == USER.settings


def test_a_scripted_system_meets_the_rule_user() -> None:
    hit = SystemReply(text="How about The Quiet Harbor (1994)?", items=(TARGET.ref,))
    talked = scenario([TARGET.ref])
    log = asyncio.run(
        converse(USER, ScriptedSystem(hit, hit, hit), talked, LeakGuard(KNOWN), KNOWN)
    )
    assert (log.ending, log.hit_round, log.leaks_caught) == (Ending.HIT, 1, 0)
