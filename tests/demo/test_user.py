"""The demo's user: what it says when, and that it never gives a target away."""

import asyncio
from typing import Any

import pytest

from recjury.corpora import Catalogue, Context, Corpus, Domain, Item, fold, open_corpus
from recjury.corpora.graph import Node
from recjury.demo import DemoUser
from recjury.records import ConversationLog, ItemRef, Scenario, Turn
from recjury.simulator import Session, Situation, converse
from recjury.simulator.leak_guard import names_title
from tests.demo.talk import film
from tests.simulator.doubles import ScriptedSystem, ask_of, system_says

SAMPLE = open_corpus("sample")
HEAT, ALIEN = film("Heat (1995)"), film("Alien (1979)")
SCENARIO = Scenario(id="1", corpus="sample", targets=(HEAT,))


def ready(corpus: Corpus = SAMPLE) -> DemoUser:
    return DemoUser().prepared(
        Context({corpus.name: corpus.catalogue}, {corpus.name: corpus.domain})
    )


def said(situation: Situation, user: DemoUser | None = None) -> str:
    return asyncio.run((user or ready()).speak(situation, ask_of())).text


def after(*turns: Turn, scenario: Scenario = SCENARIO, **more: Any) -> Situation:
    shown = turns[-1].items if turns else ()
    return Situation(scenario, interaction=turns, **{"shown": shown, **more})


def talk(scenario: Scenario, *answers: Turn) -> ConversationLog:
    system = ScriptedSystem(*answers)
    work = converse(ready(), system, scenario, ask_of(), session=Session(), play="p")
    return asyncio.run(work).log


def test_it_opens_with_a_wish() -> None:
    text = said(after())
    assert "film" in text
    assert any(value in fold(text) for value in SAMPLE.catalogue.items[HEAT.id].values)


def test_it_turns_down_what_is_no_target_and_says_one_more_thing() -> None:
    text = said(after(system_says("Alien?", ALIEN)))
    assert "Alien" in text
    assert len(text.split(". ")) >= 2


def test_it_asks_about_a_hit_and_thanks_for_it_at_last() -> None:
    turn = system_says("Heat it is.", HEAT)
    hit = after(turn, found=HEAT, may_name=(HEAT,))
    assert "Heat" in said(hit)
    assert said(hit).endswith("?")
    thanks = said(after(turn, found=HEAT, may_name=(HEAT,), last=True))
    assert "Heat" in thanks
    assert "?" not in thanks


def test_a_hit_that_nobody_named_is_not_named() -> None:
    assert "Heat" not in said(after(system_says("This one.", HEAT), found=HEAT, shown=None))


def test_wishes_of_the_scenario_come_first() -> None:
    wishes = Scenario(id="2", corpus="sample", wishes=("a slow film", "no war"))
    assert "a slow film" in said(after(scenario=wishes))
    told = Turn(speaker="user", text="I want a slow film.")
    assert "no war" in said(after(told, system_says("Any more?"), scenario=wishes))


def test_a_wish_in_a_longer_word_is_not_said_yet() -> None:
    wishes = Scenario(id="2", corpus="sample", wishes=("war", "crime"))
    told = Turn(speaker="user", text="It has won an award. No Crime, please.")
    assert "war" in said(after(told, system_says("Any more?"), scenario=wishes))


def test_withheld_values_are_not_said() -> None:
    values = tuple(v for each in SAMPLE.catalogue.items[HEAT.id].attributes.values() for v in each)
    text = said(after(withheld=values))
    assert not any(value in text for value in values)


def test_wishes_are_what_the_graph_knows_of_a_target() -> None:
    catalogue = Catalogue(SAMPLE.catalogue)
    ready_user = ready(SAMPLE._replace(catalogue=catalogue))
    before = said(after(), ready_user)
    ((relation, value), *_) = catalogue.graph.values_of(HEAT.id)
    assert value in before
    film_, genre = Node("item", HEAT.id), Node("value", fold(value))
    catalogue.graph.graph.remove_edge(film_, genre, key=relation)
    assert value not in said(after(), ready_user)


def test_targets_that_the_catalogue_lacks_do_no_harm() -> None:
    unknown = Scenario(id="3", corpus="sample", targets=(ItemRef(id="?x", name="X"),))
    assert said(after(scenario=unknown))


def test_it_speaks_of_books_as_books() -> None:
    domain = Domain(item="book", items="books", verb="read", done="read")
    emma = Item(id="1", name="Emma", attributes={"author": ("Jane Austen",), "shelf": ("B 2",)})
    books = Corpus("shelf", domain, Catalogue([emma]), ())
    scenario = Scenario(id="1", corpus="shelf", targets=(emma.ref,))
    text = said(after(scenario=scenario), ready(books))
    assert "book" in text
    assert "Jane Austen" in text


@pytest.mark.parametrize("scenario", SAMPLE.scenarios, ids=lambda scenario: scenario.id)
def test_it_never_names_a_target(scenario: Scenario) -> None:
    log = talk(scenario, system_says(f"What about {ALIEN.name}?", ALIEN))
    spoken = [turn.text for turn in log.interaction if turn.speaker == "user"]
    hidden = [target.name for target in scenario.targets if target != ALIEN]
    assert not any(names_title(text, name) for text in spoken for name in hidden)


def test_it_does_not_repeat_itself() -> None:
    log = talk(SCENARIO, system_says(f"I say {ALIEN.name}.", ALIEN))
    spoken = [turn.text for turn in log.interaction if turn.speaker == "user"]
    assert len(set(spoken)) == len(spoken) == 6


def test_the_same_situation_has_the_same_words() -> None:
    situation = after(system_says("Alien?", ALIEN))
    assert said(situation) == said(situation, ready())
