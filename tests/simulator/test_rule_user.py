"""The user without a model: what it wants, what it says, and what it never says."""

import asyncio
import re
from collections.abc import Mapping
from random import Random

import pytest

from recjury.corpora import Corpus, open_corpus
from recjury.knowledge import Catalogue, known_domain
from recjury.records import (
    JSON,
    Condition,
    Conversation,
    ConversationLog,
    Ending,
    Item,
    ItemRef,
    Person,
    PersonaTraits,
    Rating,
    Scenario,
    Speaker,
    Status,
    SystemReply,
    Turn,
    UserContext,
)
from recjury.records.person import Attribute, Behaviour, Degree
from recjury.simulator import LeakGuard, RuleUser, converse
from recjury.simulator.agenda import agenda, decade, spoken_categories
from recjury.simulator.grammar import Grammar, phrases, sentences
from recjury.simulator.own_words import own_clause, own_words
from recjury.simulator.rule_persuasiveness import attribute_likeness
from recjury.simulator.user_state import CURIOUS
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
# So that nothing but the title belongs to the target alone.
TWIN = film("Spring Flood (1993)", **TARGET.model_dump(include={"genres", "actors", "directors"}))
BARE = film("Nameless")
MANY = tuple(
    film(f"{genre.capitalize()} of Many Kinds {place} ({1960 + place})", genres=(genre,))
    for genre in ("drama", "crime", "mystery", "comedy")
    for place in range(12)
)
WEST = film("Zoe and Me (2001)", actors=("Zoe A. West",))
KNOWN = catalogue(WEST, TARGET, NEAR, FAR, TWIN, BARE, *MANY)
USER = RuleUser(KNOWN)
VALUES = ("drama", "the 90s", "Ann Reed", "Cy Marsh", "crime", "Bo Lund", "mystery")
SLOTS = (
    "thing told item its its_many its_noun a_noun noun nouns verb done value a_kind kinds hit "
    "clause question quote asked them those those_there year night list liked "
    "word reference decoy primed"
)
FILM = known_domain("film")


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


def moment(
    *interaction: Turn,
    targets: tuple[Item, ...] = (TARGET,),
    history: tuple[Turn, ...] = (),
    hit: ItemRef | None = None,
    introduce: bool = False,
    shows_list: bool = True,
    person: Person | None = None,
) -> UserContext:
    return UserContext(
        scenario=scenario([one.ref for one in targets], history=history),
        interaction=interaction,
        hit=hit,
        introduce=introduce,
        system_named_hit=hit is not None,
        shows_list=shows_list,
        person=person or Person(),
    )


def spoken(context: UserContext, user: RuleUser = USER) -> str:
    return asyncio.run(user.speak(context)).text


def each_seed(context: UserContext, known: Catalogue = KNOWN, seeds: int = 25) -> list[str]:
    """What users with different seeds say at this moment."""
    return [spoken(context, RuleUser(known, seed=seed)) for seed in range(seeds)]


def is_of(rule: str, text: str) -> bool:
    return Grammar(Random(0), ()).is_of(rule, text)


# --- the grammar ----------------------------------------------------------------------------------


def test_every_slot_of_the_phrases_is_one_that_is_filled() -> None:
    used = {
        slot.lower()
        for alternatives in phrases().say.values()
        for each in alternatives
        for slot in re.findall(r"\{(\w+)\}", each)
    }
    assert used == set(SLOTS.split())


def test_no_alternative_is_in_the_phrases_twice() -> None:
    for rule, alternatives in phrases().say.items():
        assert len(set(alternatives)) == len(alternatives), rule


def test_a_sentence_is_not_said_twice_whatever_fills_it() -> None:
    said: list[str] = []
    for _ in range(5):  # some look like parts of others
        text = Grammar(Random(1), said).say("reject_seen", item="Heat", done="seen", verb="watch")
        assert text
        said.append(text.replace("Heat", "Some Other Film"))
        assert len(set(said)) == len(said)
    every = [next(sentences(each)) for each in phrases().say["reject_seen"]]
    assert (
        Grammar(Random(1), every).say("reject_seen", item="Heat", done="seen", verb="watch") == ""
    )


def test_an_alternative_without_its_slot_is_left_out() -> None:
    assert Grammar(Random(0), ()).say("reject_unlike", item="Heat") == ""


# --- the wish of the history ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "wish"),
    [
        ("I am seeking a romantic movie. Something like Romeo", "a romantic movie"),
        ("I'm after a crime film in which the criminals are idiots.",
         "a crime film in which the criminals are idiots"),
        ("Could you recommend some movies that are similar to Platoon?",
         "something similar to Platoon"),
        ("Do you have any books by Mervyn Peake?", "something by Mervyn Peake"),
        ("Know any films by M. Night Shyamalan?", ""),
        ("I want a film by M. Night Shyamalan.", "a film by M. Night Shyamalan"),
        ("Something for my kids, six and nine.", "something for my kids"),
        ("Do you have any suggestions?", ""),
        ("Can you recommend a good movie?", ""),
        ("Do you know anything about Jan de Bont?", ""),
        ("Who else stars in that series?", ""),
        ("Good morning, something educational but entertaining about nature?",
         "something educational but entertaining about nature"),
        ("More obscure?", "something more obscure"),
        ("I must see more Danish films.", "a Danish film"),
        ("I need a forest.", "something with a forest"),
        ("This week's theme is hotels.", "something about hotels"),
        ("Something people can go home and discover?", ""),
        ("A friend mentioned that he was a good author.", ""),
        ("What other Marvel movies should I see?", "a Marvel movie"),
        ("I really enjoy stoner comedies!", "a stoner comedy"),
        ("I like crime movies.", ""),
        ("I love a little bit of everything.", ""),
        ("I am interested in what the cast will bring to it", ""),
        ("Something pretty that I don't have to follow.",
         "something pretty that I don't have to follow"),
        ("What film has a night in it, one single night?",
         "something that has a night in it, one single night"),
    ],
)  # fmt: skip
def test_the_persons_own_words_for_what_it_wants(said: str, wish: str) -> None:
    assert own_words(said) == wish


@pytest.mark.parametrize(
    ("said", "clause"),
    [
        ("I am a nurse and I don't want hospitals, I want a forest.", "I want a forest"),
        ("i want to feel smart but also laugh", "I want to feel smart but also laugh"),
        ("I want to see that", ""),
        ("Greetings. How are you tonight?", ""),
        ("I've heard of the British remake.", ""),
    ],
)
def test_a_clause_is_quoted_only_if_it_says_what_is_wanted(said: str, clause: str) -> None:
    assert own_clause(said) == clause


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("I love crime movies. Any other examples?", "crime"),
        ("What films with Ann Reed are there?", "Ann Reed"),
        ("I liked Low Tide a lot.", "Low Tide"),
        ("I like actress Zoe A. West a lot.", "Zoe A. West"),
        ("I'd like a film about harbors.", "harbors"),
        ("I'm researching immigrant stories.", "immigrant stories"),
        ("I don't want hospitals, I want a forest.", "I want a forest"),
        ("Do you know any? Which Marsh is the fastest?", "Marsh"),
    ],
)
def test_the_first_answer_follows_the_wish_of_the_history(said: str, word: str) -> None:
    history = (user_turn(said),)
    for heard in (system_turn("Try Laugh Track (1958)."), system_turn("What would you like?")):
        texts = each_seed(moment(heard, history=history))
        assert sum(word.lower() in text.lower() for text in texts) > 0.9 * len(texts), texts


def test_the_first_answer_follows_the_wish_when_the_target_is_named() -> None:
    context = moment(
        system_turn("Try The Quiet Harbor (1994).", TARGET.ref),
        history=(user_turn("I love crime movies."),),
        hit=TARGET.ref,
        introduce=True,
    )
    for text in each_seed(context):
        assert "crime" in text
        assert "The Quiet Harbor" in text
        assert text.endswith(("?", "."))


def test_what_the_person_did_not_like_is_no_wish() -> None:
    history = (user_turn("I watched Low Tide but it was boring."),)
    for text in each_seed(moment(system_turn("Try Laugh Track (1958)."), history=history)):
        assert "Low Tide" not in text


# --- opening, telling more, answering -------------------------------------------------------------


def test_it_opens_with_a_greeting_and_a_vague_wish() -> None:
    for text in each_seed(moment()):
        assert is_of("greeting", text)
        assert "drama" in text or any(each in text for each in phrases().feels["drama"])


def test_it_tells_one_thing_more_from_turn_to_turn() -> None:
    turns: list[Turn] = []
    told: list[str] = []
    for _ in range(12):
        text = spoken(moment(*turns))
        new = [value for value in VALUES if value in text and value not in told]
        assert len(new) <= 2
        told += new
        turns += [user_turn(text), system_turn("I see. Anything more?")]
    assert len(told) >= 3
    assert sum("the 90s" in turn.text for turn in turns) <= 2


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Any favorite actor?", ("Ann Reed",)),
        ("Who should star in it?", ("Ann Reed",)),
        ("Is there a director you like?", ("Cy Marsh",)),
        ("Should it be recent or old?", ("the 90s",)),
        ("From which decade?", ("the 90s",)),
        ("What genre do you enjoy?", ("drama", *phrases().feels["drama"])),
    ],
)
def test_it_answers_what_it_is_asked(question: str, values: tuple[str, ...]) -> None:
    for text in each_seed(moment(system_turn(question))):
        assert any(value.lower() in text.lower() for value in values), text


def test_it_answers_in_more_than_one_way() -> None:
    answers = set(each_seed(moment(system_turn("Any favorite actor?"))))
    assert len(answers) > 8


def test_it_says_so_when_it_does_not_mind() -> None:
    target = film("Silent (1930)", genres=("western",))
    known = catalogue(target, film("Dust (1931)", genres=("western",)))
    for text in each_seed(
        moment(system_turn("Which actor do you like?"), targets=(target,)), known
    ):
        assert is_of("indifferent_cast", text), text


def test_a_turn_that_says_nothing_confuses_it() -> None:
    for text in each_seed(moment(system_turn("The The The few."))):
        assert is_of("confused", text) or is_of("garbled", text), text


def test_it_notices_that_the_system_repeats_itself() -> None:
    same = system_turn("Try Laugh Track (1958).")
    for text in each_seed(moment(same, user_turn("Not that."), same)):
        assert is_of("repeats", text)


# --- rejecting ------------------------------------------------------------------------------------


def asks(text: str) -> bool:
    """Whether it asks about a suggestion before it decides."""
    return any(is_of(rule, text) for rule in CURIOUS)


def rules_of(text: str) -> set[str]:
    return {rule for rule in phrases().say if rule.startswith("reject_") and is_of(rule, text)}


@pytest.mark.parametrize("turn", [system_turn("Try Laugh Track (1958)."), system_turn("", FAR.ref)])
def test_it_rejects_what_does_not_fit_in_many_ways(turn: Turn) -> None:
    texts = each_seed(moment(turn), seeds=60)
    found = set().union(*(rules_of(text) for text in texts))
    assert all(rules_of(text) or asks(text) for text in texts)
    assert found >= {"reject_category", "reject_older", "reject_seen", "reject_unconvinced"}
    assert "reject_newer" not in found
    assert sum("Laugh Track" in text for text in texts) > 30


def test_an_item_of_another_domain_is_rejected_as_such() -> None:
    book = film("Page Turner", writers=("Di Falk",))
    known = Catalogue("mixed", [*KNOWN, book], others={book.id: known_domain("book")})
    for text in each_seed(moment(system_turn("Page Turner?")), known):
        assert "reject_domain" in rules_of(text), text
        assert "a book" in text or "a film" in text


def test_what_is_not_shown_is_not_spoken_of() -> None:
    for text in each_seed(moment(system_turn("Hm, let me see", FAR.ref), shows_list=False)):
        assert not rules_of(text)
        assert "Laugh Track" not in text


def test_a_person_it_asked_for_is_missed() -> None:
    before = user_turn("I always enjoy Ann Reed.")
    context = moment(system_turn("Hello."), before, system_turn("Try Laugh Track (1958)."))
    texts = each_seed(context, seeds=60)
    assert any("reject_cast" in rules_of(text) and "Ann Reed" in text for text in texts)


def test_it_knows_what_came_up_in_the_history() -> None:
    history = (user_turn("I liked Low Tide (1996)."),)
    for text in each_seed(moment(system_turn("Low Tide (1996)?"), history=history)):
        assert rules_of(text) & {"reject_history", "reject_came_up"}, text


def test_a_suggestion_that_comes_back_is_rejected_as_such() -> None:
    turns = (
        system_turn("Try Laugh Track (1958)."),
        user_turn("Not for me."),
        system_turn("Then I have just the one: Laugh Track (1958)."),
    )
    for text in each_seed(moment(*turns)):
        assert "reject_came_up" in rules_of(text), text


# --- the target -----------------------------------------------------------------------------------


def test_after_a_hit_it_asks_about_it_then_for_more_and_then_takes_it() -> None:
    shown = system_turn("The Quiet Harbor (1994)?", TARGET.ref)
    first = spoken(moment(shown, hit=TARGET.ref, introduce=True))
    assert is_of("likes", first)
    assert is_of("ask_about", first) or is_of("ask_story", first)
    told = system_turn(
        "The Quiet Harbor (1994) is about a harbor, as quiet as any that you have seen."
    )
    context = moment(shown, user_turn(first), told, hit=TARGET.ref, introduce=True)
    again = spoken(context)
    assert any(is_of(rule, again) for rule in phrases().say if rule.startswith("more"))
    last = moment(shown, user_turn(first), told, user_turn(again), told, hit=TARGET.ref)
    assert is_of("accept", spoken(last))
    assert is_of("accept_now", spoken(moment(shown, hit=TARGET.ref)))


def test_it_comes_back_to_the_target_when_the_system_does_not() -> None:
    shown, other = (
        system_turn("The Quiet Harbor?", TARGET.ref),
        system_turn("Or Laugh Track (1958)?"),
    )
    context = moment(shown, user_turn("Tell me."), other, hit=TARGET.ref, introduce=True)
    assert is_of("back", spoken(context))
    last = moment(shown, user_turn("Tell me."), other, hit=TARGET.ref)
    for text in each_seed(last):
        assert is_of("accept_blind", text) or is_of("accept_blind_nameless", text)


def test_the_title_is_said_without_its_year_and_as_the_catalogue_spells_it() -> None:
    shown = ItemRef(id=TARGET.id, name="Quiet Harbor, The")
    text = spoken(moment(system_turn("These?", shown), hit=shown, introduce=True))
    assert "The Quiet Harbor" in text
    assert "(1994)" not in text


# --- what it never says ---------------------------------------------------------------------------


def test_attributes_that_only_the_target_has_are_kept_back() -> None:
    known = catalogue(TARGET, NEAR, FAR)
    own = ("Bo Lund", "Cy Marsh", "Di Falk", "mystery")
    questions = ("Any actor?", "Which director?", "Who should have written it?", "What genre?")
    for question in questions:
        for text in each_seed(moment(system_turn(question)), known, seeds=10):
            assert not any(value in text for value in own), text


def test_barred_values_are_kept_back() -> None:
    context = moment(system_turn("Any actor?")).model_copy(
        update={"barred": frozenset({Attribute("actor", "Ann Reed")})}
    )
    assert not any("Ann Reed" in text for text in each_seed(context))


def test_what_the_history_said_may_be_said_again() -> None:
    known = catalogue(TARGET, NEAR, FAR)
    history = (user_turn("Do you know films by Cy Marsh?"),)
    texts = each_seed(moment(system_turn("Laugh Track (1958)?"), history=history), known)
    assert any("Cy Marsh" in text for text in texts)


def test_attributes_that_name_the_target_are_kept_back() -> None:
    target = film("Western (1997)", genres=("western", "drama"), actors=("Ann Reed",))
    targets = (target, film("Ann Reed", genres=("drama",)))
    known = catalogue(*targets, TARGET)
    for text in each_seed(moment(system_turn("Any actor?"), targets=targets), known):
        assert "Ann Reed" not in text
    assert spoken(moment(targets=(target,)), RuleUser(catalogue(target)))


def test_rewriting_leaves_the_leaking_sentence_out() -> None:
    context = UserContext(scenario=scenario([TARGET.ref]), interaction=())
    said = "Something sad. It is The Quiet Harbor."
    again = asyncio.run(USER.rewrite(context, said, ["The Quiet Harbor"]))
    assert again.text == "Something sad."


def test_without_a_known_target_the_wishes_are_told() -> None:
    talked = Scenario(corpus="c", record="r", wishes=("animation", "war"))
    assert "animation" in spoken(UserContext(scenario=talked, interaction=()))
    bare = Scenario(corpus="c", record="r", targets=(BARE.ref,))
    assert spoken(UserContext(scenario=bare, interaction=()))


# --- who speaks -----------------------------------------------------------------------------------


def traits(**given: Degree) -> Person:
    return Person(traits=PersonaTraits.model_validate(given))


def test_verbose_people_say_more() -> None:
    heard = system_turn("How about Laugh Track (1958)? Have you seen it?")
    lengths = [
        sum(len(text) for text in each_seed(moment(heard, person=traits(verbosity=degree))))
        for degree in ("low", "medium", "high")
    ]
    assert lengths[0] < lengths[1] <= lengths[2]


def test_impatient_people_show_it_sooner() -> None:
    turns = (system_turn("Laugh Track (1958)?"), user_turn("No."), system_turn("Or what?"))
    soon, late = (
        sum(is_of("impatient", text) for text in each_seed(moment(*turns, person=person), seeds=40))
        for person in (traits(patience="low"), traits(patience="high"))
    )
    assert soon > late == 0


def test_open_people_ask_about_a_suggestion_first_and_only_once() -> None:
    heard = system_turn("How about Laugh Track (1958)?")
    texts = each_seed(moment(heard, person=traits(openness="high")), seeds=40)
    assert sum(map(asks, texts)) > 15
    closed = traits(openness="low")
    assert not any(map(asks, each_seed(moment(heard, person=closed))))
    asked = next(filter(asks, texts))
    other = system_turn("How about Low Tide (1996)?")
    later = moment(heard, user_turn(asked), other, person=traits(openness="high"))
    assert not any(map(asks, each_seed(later)))


def test_people_who_are_not_open_turn_down_what_nobody_knows() -> None:
    rare = film("Obscure Matter (1991)", genres=("drama",), popularity=0.0)
    heard = moment(system_turn("Obscure Matter (1991)?"), person=traits(openness="low"))
    texts = each_seed(heard, catalogue(*KNOWN, rare), seeds=40)
    assert any("reject_unknown" in rules_of(text) for text in texts)


def test_people_who_know_little_name_no_director() -> None:
    person = traits(knowledge="low")
    texts = each_seed(moment(system_turn("Is there a director you like?"), person=person))
    assert not any("Cy Marsh" in text for text in texts)


@pytest.mark.parametrize(
    ("behaviour", "rules"),
    [
        ("rejection_without_reason", ("reject_bare",)),
        ("off_topic", ("off_topic",)),
        ("change_of_mind", ("change_of_mind", "change_vague")),
        ("contradiction", ("contradiction", "contradiction_vague")),
        ("giving_up", ("leave",)),
    ],
)
def test_behaviours(behaviour: Behaviour, rules: tuple[str, ...]) -> None:
    context = moment(
        system_turn("How about Laugh Track (1958)?"),
        history=(user_turn("I like crime movies."),),
        person=Person(behaviours=(behaviour,)),
    )
    for text in each_seed(context):
        assert any(is_of(rule, text) for rule in rules), text


@pytest.mark.parametrize(
    ("condition", "rule", "word"),
    [
        (Condition(name="reference_dependence", item=FAR.ref), "reference", "Laugh Track"),
        (Condition(name="decoy", item=FAR.ref), "decoy", "Laugh Track"),
        (
            Condition(name="priming", attribute=Attribute("actor", "Ed Pike")),
            "priming",
            "Ed Pike",
        ),
    ],
)
def test_conditions_are_said_once(condition: Condition, rule: str, word: str) -> None:
    person = Person(condition=condition)
    first = moment(system_turn("What would you like?"), person=person)
    assert all(is_of(rule, text) and word in text for text in each_seed(first))
    later = moment(
        system_turn("Low Tide?"), user_turn("Hm."), system_turn("Low Tide?"), person=person
    )
    assert not any(is_of(rule, text) for text in each_seed(later))


def test_a_person_with_wishes_speaks_of_them_alone() -> None:
    wishes = (Attribute("genre", "comedy"), Attribute("decade", "1950s"))
    person = Person(knows="wishes", wishes=wishes)
    turns: list[Turn] = []
    said = ""
    for _ in range(5):
        text = spoken(moment(*turns, person=person))
        turns += [user_turn(text), system_turn("What genre? From which decade?")]
        said += f" {text}"
    assert "comed" in said
    assert "the 50s" in said
    assert not any(value in said for value in VALUES)


# --- the agenda -----------------------------------------------------------------------------------


def test_the_agenda_begins_with_a_category_and_has_every_kind() -> None:
    wants = agenda(TARGET, FILM, Random(0))
    assert wants[0].value == "drama"
    assert {want.role for want in wants} == {"category", "era", "cast", "maker"}
    assert {want.value for want in wants} >= set(VALUES)
    assert agenda(BARE, FILM, Random(0)) == ()


@pytest.mark.parametrize(
    ("year", "spoken_decade"), [(1994, "the 90s"), (2003, "the 2000s"), (1850, "the 1850s")]
)
def test_decades(year: int, spoken_decade: str) -> None:
    assert decade(year) == spoken_decade


def test_books_are_read_and_not_watched() -> None:
    books = [
        film(f"Book {n}", genres=("Fantasy", "Young-adult fiction"), writers=("Ann Reed",))
        for n in range(3)
    ]
    known = Catalogue("books", books, domain=known_domain("book"))
    texts = each_seed(moment(targets=(books[0],)), known, seeds=40)
    for asked in ("Book 2?", "Which author do you like?"):
        texts += each_seed(moment(system_turn(asked), targets=(books[0],)), known, seeds=40)
    talk = " ".join(texts)
    assert re.search(r"\b(?:book|novel)s?\b", talk)
    assert "Ann Reed" in talk
    assert not re.search(r"\b(?:watch|film|films|movie|movies|seen)\b", talk)


def test_other_domains_speak_of_their_own_attributes() -> None:
    places = [
        Item(
            id=f"p{n}",
            name=f"Place Number {n}",
            title=f"Place Number {n}",
            attributes=(("cuisines", ("Thai",)), ("areas", ("Soho",))),
        )
        for n in range(3)
    ]
    known = Catalogue("places", places, domain=known_domain("restaurant"))
    texts = each_seed(moment(targets=(places[0],)), known)
    assert all("Thai" in text for text in texts)
    assert spoken_categories(places[0], known.domain) == ("Thai",)
    answers = each_seed(moment(system_turn("In which area?"), targets=(places[0],)), known)
    assert all("Soho" in text for text in answers)


# --- whole conversations --------------------------------------------------------------------------


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
        assert len(set(_said(log))) == len(_said(log)), _said(log)


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
