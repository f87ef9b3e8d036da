"""The templates of the rule user: well formed, said once, and read as the acts they declare."""

from collections.abc import Iterator
from random import Random

import pytest

from recjury.knowledge import domain_names, known_domain
from recjury.language import read
from recjury.language.reader import RULED_OUT, SURE
from recjury.records import Act, Attribute, Item, PersonaTraits, contradiction_in
from recjury.simulator import RuleUser
from recjury.simulator.said_so_far import said_so_far
from recjury.simulator.templates import Speech, fill, rules, slots_of, variants
from recjury.simulator.turn_writer import TurnWriter, utterance
from recjury.simulator.user_mind import UserMind
from recjury.simulator.wants import Want, a_noun, plural, thing, want_of
from tests.simulator.doubles import system_turn, user_turn
from tests.simulator.moments import FAR, KNOWN, TARGET, moment

SLOTS = frozenset(
    {"thing", "value", "words", "kinds", "with"}  # of a want
    | {"item", "its", "its_many", "its_noun", "hit", "asked", "them"}  # of a suggestion
    | {"noun", "nouns", "a_noun", "verb", "done"}  # of the domain
    | {"quote", "word", "reference", "decoy", "primed"}
)
LABELS = {"brief", "chatty", "simple", "grumpy", "cheerful", *domain_names()}
FILM = known_domain("film")
VALUES = (
    Attribute("genre", "comedy"),
    Attribute("genre", "horror"),
    Attribute("actor", "Ann Reed"),
    Attribute("director", "Cy Marsh"),
    Attribute("decade", "1990s"),
    Attribute("language", "French"),
)


@pytest.mark.parametrize("rule", rules())
def test_each_template_is_one_closed_sentence_or_more(rule: str) -> None:
    for sentence in (each for one in rules()[rule].templates for each in variants(one)):
        assert slots_of(sentence) <= SLOTS
        assert sentence.endswith((".", "!", "?", "{quote}")), (rule, sentence)
        assert "  " not in sentence
        assert sentence.strip() == sentence
        assert sentence.count("(") == sentence.count("|") == 0


def test_no_template_stands_in_the_file_twice_in_a_rule() -> None:
    for name, rule in rules().items():
        found = list(rule.say)
        assert len(set(found)) == len(found), name
        assert set(rule.also) <= LABELS, name
        assert not {Act.CHAT} & set(rule.acts) or len(rule.acts) == 1, name


def test_a_sentence_is_not_said_twice_whatever_fills_it() -> None:
    said: list[str] = []
    slots = {"item": "Heat", "done": "seen"}
    for _ in range(5):
        text = Speech(Random(1), said, PersonaTraits(), "film").say("seen", slots)
        assert text
        said.append(text.replace("Heat", "Some Other Film"))
    assert len(set(said)) == len(said)
    whole = [fill(each, slots) for one in rules()["seen"].templates for each in variants(one)]
    assert Speech(Random(1), whole, PersonaTraits(), "film").say("seen", slots) == ""


def test_a_template_without_its_slot_is_left_out() -> None:
    assert Speech(Random(0), (), PersonaTraits(), "film").say("seen", {"done": "seen"}) == ""


@pytest.mark.parametrize(
    ("sentence", "title", "text"),
    [
        ("I know {item}.", "Who Is It?", "I know Who Is It?"),
        ("I know {item}.", "Sally...", "I know Sally..."),
        ("{item} is old.", "xXx", "xXx is old."),
        ("{item} is old.", "it", "It is old."),
    ],
)
def test_titles_bring_their_own_stops_and_capitals(sentence: str, title: str, text: str) -> None:
    assert fill(sentence, {"item": title}) == text


def test_people_speak_in_their_own_way() -> None:
    slots = {"item": "Heat", "noun": "film"}

    def said(traits: PersonaTraits) -> set[str]:
        return {Speech(Random(n), (), traits, "film").say("unconvinced", slots) for n in range(60)}

    assert "I not like Heat." in said(PersonaTraits(language="low"))
    assert "I not like Heat." not in said(PersonaTraits())


def filled(rule: str, template: str) -> Iterator[str]:
    """The template in all its variants, with values of the catalogue."""
    wants = [want for value in VALUES if (want := want_of(value, FILM)) is not None]
    for place, sentence in enumerate(variants(template)):
        want = fitting(rule, wants, place)
        slots = {
            "thing": thing((want,), FILM),
            "value": want.value,
            "words": want.words,
            "kinds": plural(want, FILM),
            "with": want.words.removesuffix(want.value).strip(),
            "its": "a horror film",
            "its_many": "horror films",
            "its_noun": "a book",
            "a_noun": a_noun(FILM),
            "noun": FILM.item,
            "nouns": FILM.items,
            "verb": FILM.verb,
            "done": FILM.done,
            "them": "those",
            "word": "actor",
            "quote": "Who directed it?" if rule == "quote_ask" else "I want a forest.",
            "primed": "comedy",
            **dict.fromkeys(("item", "hit", "asked", "reference", "decoy"), FAR.title),
        }
        yield fill(sentence, {name: value for name, value in slots.items() if value})


def fitting(rule: str, wants: list[Want], place: int) -> Want:
    """A want of the kind that the rule is about."""
    kinds = {"kind": ("genre",), "person": ("actor", "director"), "era": ("decade",)}
    wanted = next((kinds[end] for end in kinds if rule.endswith(end)), None)
    fit = [w for w in wants if wanted is None or (w.attribute and w.attribute.kind in wanted)]
    return fit[place % len(fit)]


# What may name another item than the one that was suggested.
OF_OTHERS = (
    *("likes_listed", "back", "accept", "accept_blind", "accept_seen"),
    *("not_told", "question_passed", "reference", "decoy"),
)


@pytest.mark.parametrize(
    ("rule", "suggested"),
    [(rule, FAR.name) for rule in rules()] + [(rule, "Spring Flood (1993)") for rule in OF_OTHERS],
)
def test_no_template_is_read_as_another_act_than_it_declares(rule: str, suggested: str) -> None:
    declared = set(rules()[rule].acts)
    opens = rule in ("greeting", "open", "open_vague")
    # A wish right after a suggestion turns the suggestion down as well.
    asked = declared == {Act.WISH} and rule not in OF_OTHERS
    answered = "What would you like?" if asked else f"How about {suggested}?"
    before = () if opens else (user_turn("Hello."), system_turn(answered))
    for sentence in (each for one in rules()[rule].templates for each in filled(rule, one)):
        acts = read(user_turn(sentence), before, KNOWN).acts
        read_otherwise = {
            act: acts[act]
            for act in set(Act) - {Act.CHAT}
            if (acts[act] <= RULED_OUT if act in declared else acts[act] >= SURE)
        }
        assert not read_otherwise, sentence


@pytest.mark.parametrize("rule", rules())
def test_what_a_rule_declares_can_be_true_and_is_about_what_it_says(rule: str) -> None:
    context = moment(system_turn("Laugh Track (1958)?"))
    mind = UserMind(KNOWN, context, said_so_far((), KNOWN), lambda text: False, 0)
    want = want_of(VALUES[0], FILM)
    assert want is not None
    refused = [Attribute("genre", "horror")] if Act.REFUSE in rules()[rule].acts else []
    given = dict.fromkeys(SLOTS - {"thing", "value", "words", "kinds", "item", "with"}, "it")
    writer = TurnWriter(mind, Random(0))
    said = writer.say(rule, FAR, (want,), refused, **given | {"with": "with"})
    acts = utterance(said).acts
    assert contradiction_in(acts) == ""
    assert {each.act for each in acts} == (set(rules()[rule].acts) or {Act.CHAT})
    for each in acts:
        assert each.item in (None, FAR.id)
        if each.act is Act.WISH:
            assert each.wish == VALUES[0]


def test_the_sentences_are_part_of_the_identity() -> None:
    assert RuleUser(KNOWN).settings["sentences"]
    assert isinstance(TARGET, Item)
