"""Acts and replies as they are read: declared first, doubtful where nothing can be seen."""

from importlib import resources

import pytest

from recjury.knowledge import Catalogue
from recjury.language import read, read_reply
from recjury.language.english import is_english
from recjury.language.weights import FILE
from recjury.records import Act, Attribute, DeclaredAct, Item, Speaker, Turn


def user(text: str, *acts: DeclaredAct) -> Turn:
    return Turn(speaker=Speaker.USER, text=text, acts=acts)


def system(text: str) -> Turn:
    return Turn(speaker=Speaker.SYSTEM, text=text)


def test_declared_acts_are_taken_whatever_the_words_say() -> None:
    wish = DeclaredAct(act=Act.WISH, attribute="genre", value="comedy")
    seen = DeclaredAct(act=Act.SEEN, item="heat")
    reading = read(user("Thanks, bye!", wish, seen), (system("Heat?"),))
    assert reading.declared
    assert reading.yes == {Act.WISH, Act.SEEN}
    assert reading.no == frozenset(Act) - reading.yes
    assert reading.wants == (Attribute("genre", "comedy"),)
    assert reading.items == ("heat",)


@pytest.mark.parametrize(
    ("before", "text", "act"),
    [
        ("Heat (1995) is a crime film.", "No thanks, not for me.", Act.REFUSE),
        ("Heat (1995) is a crime film.", "I have already seen that one.", Act.SEEN),
        ("Heat (1995) is a crime film.", "Sounds good, I'll watch it tonight.", Act.ACCEPT),
        ("Hello! How can I help?", "I am looking for a funny movie.", Act.WISH),
        ("Heat (1995) is a crime film.", "Who directed it?", Act.ASK),
        ("What genre do you like?", "You already asked me that, are you listening?", Act.COMPLAIN),
        ("It is on Netflix.", "Thank you so much!", Act.THANK),
        ("Anything else?", "No, that's all. Goodbye!", Act.BYE),
    ],
)
def test_plain_sentences_are_surely_read(before: str, text: str, act: Act) -> None:
    assert act in read(user(text), (system(before),)).yes


def test_the_question_before_decides_what_a_yes_is() -> None:
    seen = read(user("Yes"), (system("Have you seen Heat?"),)).acts
    wants = read(user("Yes"), (system("Would you like to watch Heat tonight?"),)).acts
    assert seen[Act.SEEN] > wants[Act.SEEN]
    assert wants[Act.ACCEPT] > seen[Act.ACCEPT]


@pytest.mark.parametrize(
    "text", ["", "   ", "🎉🎉🎉", "?!", "我想看一部喜剧片", "Я хочу посмотреть комедию про собак"]
)
def test_what_cannot_be_read_is_doubtful(text: str) -> None:
    reading = read(user(text), (system("What would you like?"),))
    assert not reading.yes
    assert not reading.no


ENGLISH = (
    "I would like to see something with robots, please.",
    "Heat",
    "Nope, hard pass, hate zombies, sorry",
    "Inception, Titanic, Alien, Heat, Avatar.",
    "I'd recommend Les Quatre Cents Coups, La Haine and Das Boot",
    "GIVE ME A COMEDY NOW",
)
OTHERS = (
    "Ich möchte heute Abend einen lustigen Film sehen, der nicht zu lang ist",
    "quiero ver una película de acción con mucho humor para los niños",
    "Gracias, ya la vi",
    "Claro, te recomiendo Airplane! (1980)",
    "Kan du snakke andre språk?",
)


def test_other_languages_are_told_from_english() -> None:
    assert [text for text in ENGLISH if not is_english(text)] == []
    assert [text for text in OTHERS if is_english(text)] == []
    assert read_reply("Das ist ein sehr guter Film, und der Regisseur ist auch gut.").broken is None


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("I would recommend {title} to you.", "residue"),
        ("It is about a man and a man and a man and a man and a man", "loop"),
        ("...", "empty"),
    ],
)
def test_certain_defects_are_named_and_quoted(reply: str, kind: str) -> None:
    check = read_reply(reply)
    assert check.broken is True
    assert check.kind == kind
    assert check.quote in reply


@pytest.mark.parametrize(
    "reply",
    [
        "Have you seen Heat (1995)? It is a crime film with Al Pacino and Robert De Niro.",
        "What genre do you like?",
        "You could try The Godfather; it is a classic.",
    ],
)
def test_plain_replies_are_not_called_broken(reply: str) -> None:
    assert read_reply(reply).broken is not True


def test_the_weights_are_small() -> None:
    assert (resources.files("recjury.language") / FILE).stat().st_size < 3_000_000  # type: ignore[attr-defined]


def test_a_megabyte_of_one_word_is_read_in_part() -> None:
    huge = "no " * 350_000
    reading = read(user(huge), (system("word " * 200_000),))
    assert set(reading.acts) == set(Act)
    assert read_reply(huge).kind == "loop"


@pytest.mark.parametrize("text", ["drama", "Drama", "I want a drama.", "Some Comedy or Drama?"])
def test_a_wish_for_a_value_names_no_item_of_that_title(text: str) -> None:
    items = (
        Item(id="d", name="Drama (2012)", title="Drama", year=2012, genres=("Comedy",)),
        Item(id="c", name="Comedy (2002)", title="Comedy", year=2002, genres=("Drama",)),
    )
    reading = read(user(text), (), Catalogue("own", items))
    assert Attribute("genre", "Drama") in reading.wants
    assert reading.items == ()
