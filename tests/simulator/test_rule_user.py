"""The user without a model: what it does, what it declares, and what it never says."""

import asyncio
from collections.abc import Mapping

import pytest

from recjury.corpora import Corpus, open_corpus
from recjury.knowledge import Catalogue, known_domain
from recjury.language import ReplyCheck
from recjury.language.tokens import sentence_texts
from recjury.records import (
    JSON,
    Act,
    Attribute,
    Condition,
    Conversation,
    ConversationLog,
    DeclaredAct,
    Ending,
    ItemRef,
    Person,
    PersonaTraits,
    Scenario,
    Speaker,
    SystemReply,
    Turn,
    UserContext,
)
from recjury.records.person import Behaviour, Degree
from recjury.simulator import LeakGuard, RuleUser, converse
from recjury.simulator import turn_facts as facts
from recjury.simulator.turn_facts import turn_facts
from tests.simulator.doubles import (
    ScriptedSystem,
    catalogue,
    film,
    scenario,
    system_turn,
    user_turn,
)
from tests.simulator.moments import (
    FAR,
    KNOWN,
    NEAR,
    TARGET,
    USER,
    does,
    each_seed,
    moment,
    spoken,
    turn_of,
    values,
)

FILM = known_domain("film")


def declared(text: str, *acts: DeclaredAct) -> Turn:
    return user_turn(text).model_copy(update={"acts": acts})


def wish(kind: str, value: str) -> DeclaredAct:
    return DeclaredAct(act=Act.WISH, attribute=kind, value=value)


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


# --- what it understands --------------------------------------------------------------------------


def test_it_hears_items_questions_and_repeats_by_look_ups() -> None:
    first = system_turn("How about Laugh Track (1958)? Who should direct it?")
    turns = (user_turn("I liked Low Tide."), first)
    understood = turn_facts(turns, KNOWN, FILM)
    assert understood.named == (FAR.id,)
    assert understood.asks
    assert not understood.asked  # "direct" is no word for a director
    again = system_turn("How about Laugh Track (1958)? who should direct it")
    assert turn_facts((*turns, user_turn("No."), again), KNOWN, FILM).repeated
    other = system_turn("How about Spring Flood (1993)? Who should direct it?")
    assert turn_facts((*turns, user_turn("No."), other), KNOWN, FILM).only_titles
    compared = system_turn("Laugh Track, as well as Low Tide. Any favourite actor?")
    understood = turn_facts((*turns, compared), KNOWN, FILM, {NEAR.id})
    assert understood.named == (FAR.id,)
    assert [each.name for each in understood.asked] == ["actor"]


def test_it_asks_back_at_nonsense(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "read_reply", lambda reply, before: ReplyCheck(1.0, True, "garbled"))
    for said in each_seed(moment(user_turn("Hi."), system_turn("The the music is film of."))):
        assert does(said, Act.COMPLAIN)
        assert does(said, Act.ASK)


def test_a_turn_that_names_nothing_is_asked_for_a_title() -> None:
    for said in each_seed(moment(user_turn("Hi."), system_turn("There are many good ones."))):
        assert does(said, Act.WISH)


def test_it_notices_that_the_system_repeats_itself() -> None:
    same = system_turn("Try Laugh Track (1958).")
    for said in each_seed(moment(same, user_turn("Not that."), same)):
        assert does(said, Act.COMPLAIN)


# --- what it wants ------------------------------------------------------------------------------


def test_it_opens_with_a_wish_that_is_true_of_the_target() -> None:
    for said in each_seed(moment()):
        assert values(said) == {Attribute("genre", "drama")}
        assert "drama" in said.text


def test_it_says_nothing_false_of_its_target(sample: Corpus) -> None:
    index = sample.catalogue.attributes
    for talked in sample.scenarios(limit=20).scenarios:
        targets = {target.id for target in talked.targets}
        for said in _said(_hold(sample, talked)):
            for act in said.acts:
                if act.act is Act.WISH and act.wish:
                    assert targets & set(index.items_with(act.wish)), said.text


def test_it_tells_one_thing_more_from_turn_to_turn() -> None:
    turns: list[Turn] = []
    told: list[Attribute] = []
    for _ in range(10):
        said = spoken(moment(*turns))
        new = values(said) - set(told)
        assert len(new) <= 1
        told += new
        turns += [turn_of(said), system_turn("I see. Anything more?")]
    assert len(told) >= 3


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Any favorite actor?", Attribute("actor", "Ann Reed")),
        ("Is there a director you like?", Attribute("director", "Cy Marsh")),
        ("From which decade?", Attribute("decade", "1990s")),
        ("What genre do you enjoy?", Attribute("genre", "drama")),
    ],
)
def test_it_answers_what_it_is_asked(question: str, value: Attribute) -> None:
    said = each_seed(moment(system_turn(question)))
    assert all(value in values(each) for each in said)
    assert len({each.text for each in said}) > 8


def test_it_says_so_when_it_does_not_mind() -> None:
    target = film("Silent (1930)", genres=("western",))
    known = catalogue(target, film("Dust (1931)", genres=("western",)))
    context = moment(user_turn("Hi."), system_turn("Which actor?"), targets=(target,))
    for said in each_seed(context, known):
        assert "actor" in said.text
        assert not values(said)


def test_the_first_answer_follows_a_declared_wish_of_the_history() -> None:
    history = (declared("I love crime movies.", wish("genre", "crime")),)
    for said in each_seed(moment(system_turn("Laugh Track (1958)?"), history=history)):
        assert Attribute("genre", "crime") in values(said), said.text


def test_the_first_answer_quotes_what_nobody_declared() -> None:
    history = (user_turn("Hello there! I don't want hospitals, I want a forest."),)
    for said in each_seed(moment(system_turn("Laugh Track (1958)?"), history=history)):
        if not does(said, Act.ASK):
            assert "I don't want hospitals, I want a forest." in said.text


def test_what_the_history_refused_is_not_wished_for() -> None:
    refused = DeclaredAct(act=Act.REFUSE, attribute="genre", value="drama")
    history = (declared("No dramas, please.", refused),)
    for question in ("What genre?", "Laugh Track (1958)?"):
        for said in each_seed(moment(system_turn(question), history=history)):
            assert Attribute("genre", "drama") not in values(said)


# --- turning down -------------------------------------------------------------------------------


def test_it_turns_down_with_reasons_that_hold() -> None:
    context = moment(user_turn("Hi."), system_turn("Try Laugh Track (1958)."))
    said = each_seed(context, seeds=60)
    assert all(does(each, Act.REFUSE, Act.SEEN, Act.ASK) for each in said)
    assert sum("Laugh Track" in each.text for each in said) > 30
    assert any("comed" in each.text for each in said)
    assert any("old" in each.text for each in said)
    assert not any("too new" in each.text or "too recent" in each.text for each in said)


def test_a_kind_that_it_asked_for_is_missed() -> None:
    before = declared("A drama, please.", wish("genre", "drama"))
    context = moment(system_turn("Hello."), before, system_turn("Try Laugh Track (1958)."))
    said = each_seed(context, seeds=40)
    refused = [each for each in said if does(each, Act.REFUSE)]
    assert len(refused) > 20
    assert all(Attribute("genre", "drama") in values(each) for each in refused)


def test_an_item_of_another_domain_is_turned_down_as_such() -> None:
    book = film("Page Turner", writers=("Di Falk",))
    known = Catalogue("mixed", [*KNOWN, book], others={book.id: known_domain("book")})
    for said in each_seed(moment(user_turn("Hi."), system_turn("Page Turner?")), known):
        assert "a book" in said.text or "a film" in said.text
        assert does(said, Act.REFUSE)


def test_what_is_not_shown_is_not_spoken_of() -> None:
    context = moment(user_turn("Hi."), system_turn("Let me see", FAR.ref), shows_list=False)
    for said in each_seed(context):
        assert not does(said, Act.REFUSE, Act.SEEN)
        assert "Laugh Track" not in said.text


def test_it_does_not_contradict_what_it_declared() -> None:
    seen = DeclaredAct(act=Act.SEEN, item=FAR.id)
    turns = (
        system_turn("Try Laugh Track (1958)."),
        declared("Seen it.", seen),
        system_turn("Then I have just the one: Laugh Track (1958)."),
    )
    for said in each_seed(moment(*turns)):
        assert does(said, Act.COMPLAIN)
        assert not does(said, Act.ASK)
    asked = declared("What is Laugh Track?", DeclaredAct(act=Act.ASK, item=FAR.id))
    told = system_turn("Laugh Track (1958) is about a theatre.")
    for said in each_seed(moment(system_turn("Laugh Track?"), asked, told), seeds=60):
        assert not does(said, Act.SEEN)


def test_a_question_that_the_system_passes_over_is_complained_of() -> None:
    asked = declared("What is Laugh Track?", DeclaredAct(act=Act.ASK, item=FAR.id))
    turns = (system_turn("Laugh Track (1958)?"), asked, system_turn("How about Low Tide (1996)?"))
    for said in each_seed(moment(*turns)):
        assert does(said, Act.COMPLAIN)
        assert "Laugh Track" in said.text


# --- the target -----------------------------------------------------------------------------------


def test_after_a_hit_it_asks_about_it_then_for_more_and_then_takes_it() -> None:
    shown = system_turn("The Quiet Harbor (1994)?", TARGET.ref)
    first = spoken(moment(shown, hit=TARGET.ref, introduce=True))
    about = DeclaredAct(act=Act.ASK, item=TARGET.id)
    assert about in first.acts
    assert "The Quiet Harbor" in first.text
    told = system_turn("The Quiet Harbor (1994) is about a harbor, as quiet as any.")
    more = moment(shown, turn_of(first), told, hit=TARGET.ref, introduce=True)
    again = spoken(more)
    assert about in again.acts
    last = moment(shown, turn_of(first), told, hit=TARGET.ref, last=True)
    for said in each_seed(last):
        assert DeclaredAct(act=Act.ACCEPT, item=TARGET.id) in said.acts
        assert does(said, Act.THANK)


def test_it_comes_back_to_the_target_when_the_system_does_not() -> None:
    shown, other = (
        system_turn("The Quiet Harbor?", TARGET.ref),
        system_turn("Or Laugh Track (1958)?"),
    )
    asked = declared("Tell me.", DeclaredAct(act=Act.ASK, item=TARGET.id))
    back = spoken(moment(shown, asked, other, hit=TARGET.ref, introduce=True))
    assert "The Quiet Harbor" in back.text
    assert does(back, Act.ASK)
    for said in each_seed(moment(shown, asked, other, hit=TARGET.ref)):
        assert does(said, Act.ACCEPT)
        assert not does(said, Act.THANK)


def test_what_only_a_list_has_is_taken_after_a_word_about_it() -> None:
    listed = system_turn("Here are some.", TARGET.ref)
    for said in each_seed(moment(listed, hit=TARGET.ref, introduce=True)):
        assert DeclaredAct(act=Act.ASK, item=TARGET.id) in said.acts
        assert not does(said, Act.ACCEPT)
    for said in each_seed(moment(listed, hit=TARGET.ref, last=True)):
        assert "?" not in said.text  # nobody would answer
        assert does(said, Act.BYE)
        assert not does(said, Act.ACCEPT)
    asked = declared("What is it?", DeclaredAct(act=Act.ASK, item=TARGET.id))
    other = system_turn("Or Laugh Track (1958)?")
    for said in each_seed(moment(listed, asked, other, hit=TARGET.ref, last=True)):
        assert not does(said, Act.ACCEPT)
        assert does(said, Act.BYE)
    told = system_turn("It is about a harbor.")
    for said in each_seed(moment(listed, asked, told, hit=TARGET.ref, last=True)):
        assert does(said, Act.ACCEPT)


def test_the_title_is_said_without_its_year_and_as_the_catalogue_spells_it() -> None:
    shown = ItemRef(id=TARGET.id, name="Quiet Harbor, The")
    text = spoken(moment(system_turn("These?", shown), hit=shown, introduce=True)).text
    assert "The Quiet Harbor" in text
    assert "(1994)" not in text


def test_the_utterance_that_ends_without_a_target_says_goodbye() -> None:
    for said in each_seed(moment(user_turn("Hi."), system_turn("Laugh Track?"), last=True)):
        assert does(said, Act.BYE)


# --- what it never says ---------------------------------------------------------------------------


def test_attributes_that_only_the_target_has_are_kept_back() -> None:
    known = catalogue(TARGET, NEAR, FAR)
    own = ("Bo Lund", "Cy Marsh", "Di Falk", "mystery")
    for question in ("Any actor?", "Which director?", "Which screenwriter?", "What genre?"):
        for said in each_seed(moment(system_turn(question)), known, seeds=10):
            assert not any(value in said.text for value in own), said.text


def test_barred_values_are_kept_back() -> None:
    barred = frozenset({Attribute("actor", "Ann Reed")})
    context = moment(system_turn("Any actor?"), barred=barred)
    assert not any("Ann Reed" in said.text for said in each_seed(context))


def test_attributes_that_name_the_target_are_kept_back() -> None:
    target = film("Western (1997)", genres=("western", "drama"), actors=("Ann Reed",))
    targets = (target, film("Ann Reed", genres=("drama",)))
    known = catalogue(*targets, TARGET)
    for said in each_seed(moment(system_turn("Any actor?"), targets=targets), known):
        assert "Ann Reed" not in said.text
    assert spoken(moment(targets=(target,)), RuleUser(catalogue(target))).text


def test_a_quoted_sentence_does_not_name_the_target() -> None:
    history = (user_turn("Do you have something like The Quiet Harbor?"),)
    for said in each_seed(moment(system_turn("Laugh Track (1958)?"), history=history)):
        assert "Quiet Harbor" not in said.text


def test_rewriting_leaves_the_leaking_sentence_out() -> None:
    context = UserContext(scenario=scenario([TARGET.ref]), interaction=())
    said = "Something sad. It is The Quiet Harbor."
    again = asyncio.run(USER.rewrite(context, said, ["The Quiet Harbor"]))
    assert again.text == "Something sad."


def test_without_a_known_target_it_is_vague() -> None:
    bare = Scenario(corpus="c", record="r", targets=(ItemRef(id=None, name="Nameless"),))
    assert does(spoken(UserContext(scenario=bare, interaction=())), Act.WISH)


# --- who speaks -----------------------------------------------------------------------------------


def traits(**given: Degree) -> Person:
    return Person(traits=PersonaTraits.model_validate(given))


def test_verbose_people_say_more() -> None:
    asked = (user_turn("Hi."), system_turn("How about Laugh Track (1958)? Have you seen it?"))
    lengths = [
        sum(len(said.text) for said in each_seed(moment(*asked, person=traits(verbosity=degree))))
        for degree in ("low", "medium", "high")
    ]
    assert lengths[0] < lengths[1] <= lengths[2]


def test_impatient_people_show_it_sooner() -> None:
    wanted = (declared("A drama, please.", wish("genre", "drama")),)
    turns = (system_turn("Low Tide?"), user_turn("No."), system_turn("Or Laugh Track (1958)?"))

    def complaints(*turns: Turn, **given: Degree) -> int:
        context = moment(*turns, person=traits(**given), history=wanted)
        return sum(does(said, Act.COMPLAIN) for said in each_seed(context, seeds=40))

    assert complaints(*turns, patience="low") > complaints(*turns, patience="high") == 0
    met = (*turns[:2], system_turn("Or Spring Flood (1993)?"))
    assert complaints(*met, patience="low") == 0


def test_open_people_ask_about_a_suggestion_and_others_do_not() -> None:
    turns = (user_turn("Hi."), system_turn("How about Low Tide (1996)?"))
    asked, closed = (
        sum(does(said, Act.ASK) for said in each_seed(moment(*turns, person=person), seeds=40))
        for person in (traits(openness="high"), traits(openness="low"))
    )
    assert asked > 12
    assert closed == 0


def test_people_who_know_little_name_no_director() -> None:
    person = traits(knowledge="low")
    said = each_seed(moment(system_turn("Is there a director you like?"), person=person))
    assert not any("Cy Marsh" in each.text for each in said)


@pytest.mark.parametrize(
    ("behaviour", "acts"),
    [
        ("rejection_without_reason", {Act.REFUSE}),
        ("off_topic", {Act.CHAT}),
        ("change_of_mind", {Act.REFUSE, Act.WISH}),
        ("contradiction", {Act.REFUSE}),
        ("giving_up", {Act.BYE}),
    ],
)
def test_behaviours(behaviour: Behaviour, acts: set[Act]) -> None:
    context = moment(
        system_turn("How about Laugh Track (1958)?"),
        history=(declared("I like crime movies.", wish("genre", "crime")),),
        person=Person(behaviours=(behaviour,)),
    )
    for said in each_seed(context):
        assert acts <= {each.act for each in said.acts}, said
        if behaviour in ("change_of_mind", "contradiction"):
            assert values(said, Act.REFUSE) == {Attribute("genre", "crime")}
            assert Attribute("genre", "crime") not in values(said)


@pytest.mark.parametrize(
    ("condition", "word"),
    [
        (Condition(name="reference_dependence", item=FAR.ref), "Laugh Track"),
        (Condition(name="decoy", item=FAR.ref), "Laugh Track"),
        (Condition(name="priming", attribute=Attribute("actor", "Ed Pike")), "Ed Pike"),
    ],
)
def test_conditions_are_said_once(condition: Condition, word: str) -> None:
    person = Person(condition=condition)
    first = moment(system_turn("What would you like?"), person=person)
    assert all(word in said.text for said in each_seed(first))
    later = moment(
        system_turn("Low Tide?"), user_turn("Hm."), system_turn("Low Tide?"), person=person
    )
    assert not any(word in said.text for said in each_seed(later))


def test_a_person_with_wishes_speaks_of_them_alone() -> None:
    wishes = (Attribute("genre", "comedy"), Attribute("decade", "1950s"))
    person = Person(knows="wishes", wishes=wishes)
    turns: list[Turn] = []
    told: set[Attribute] = set()
    for _ in range(5):
        said = spoken(moment(*turns, person=person))
        turns += [turn_of(said), system_turn("What genre? From which decade?")]
        told |= values(said)
    assert told == set(wishes)


# --- whole conversations --------------------------------------------------------------------------


def _hold(opened: Corpus, talked: Scenario, seed: int = 0) -> ConversationLog:
    user, known = RuleUser(opened.catalogue, seed=seed), opened.catalogue
    return asyncio.run(converse(user, Browsing(known), talked, LeakGuard(known), known))


def _said(log: ConversationLog) -> tuple[Turn, ...]:
    return tuple(turn for turn in log.interaction if turn.speaker is Speaker.USER)


def test_conversations_over_the_sample(sample: Corpus) -> None:
    scenarios = sample.scenarios(limit=20).scenarios
    logs = [_hold(sample, talked) for talked in scenarios]
    assert [_hold(sample, talked) for talked in scenarios] == logs
    assert len({_said(log) for log in logs}) == len(logs)
    assert all(log.leaks_caught == log.leaks_through == 0 for log in logs)
    assert any(_said(log) != _said(_hold(sample, log.scenario, seed=1)) for log in logs)
    for log in logs:
        assert all(turn.acts for turn in _said(log))
        parts = [part for turn in _said(log) for part in sentence_texts(turn.text)]
        parts = [part for part in parts if len(part) > 12]
        assert len(set(parts)) == len(parts), parts


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
