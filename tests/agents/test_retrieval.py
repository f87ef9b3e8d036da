"""The retrieval CRS on the shipped sample."""

import asyncio
import re

import pytest

from recjury.agents import System
from recjury.agents.retrieval import Retrieval
from recjury.agents.retrieval.library import Library
from recjury.agents.retrieval.understanding import understand
from recjury.corpora import open_corpus
from recjury.errors import ConfigError
from recjury.knowledge import Catalogue, known_domain
from recjury.records import Conversation, Item, SystemReply
from tests.agents.contexts import around
from tests.agents.conversations import after, talk

CATALOGUE = open_corpus("sample").catalogue
LIBRARY = Library(CATALOGUE)
SYSTEM = Retrieval().prepared(around(CATALOGUE))


def respond(conversation: Conversation, system: System = SYSTEM) -> SystemReply:
    return asyncio.run(system.respond(conversation))


def described(item: Item) -> str:
    """What a person would say who has forgotten the title."""
    genres = " and ".join(item.genres[:2])
    plot = item.plot.replace(item.title, "it")
    return f"I am looking for a {genres} film. {plot}"


def test_a_film_is_found_by_its_description() -> None:
    items = [item for item in CATALOGUE if item.plot][::7]
    found = [
        item.id in [each.id for each in respond(talk(described(item))).items] for item in items
    ]
    assert len(items) > 50
    assert sum(found) / len(found) > 0.9  # ten random films of the sample: 0.02


def test_it_finds_what_people_recommended_far_more_often_than_chance() -> None:
    scenarios = open_corpus("sample").scenarios("test").scenarios
    hits = 0
    for scenario in scenarios:
        reply = respond(Conversation(turns=scenario.history))
        targets = {target.id for target in scenario.targets}
        hits += any(item.id in targets for item in reply.items)
    assert hits / len(scenarios) > 0.25  # ten random films: 0.03


def test_the_same_conversation_gets_the_same_reply() -> None:
    conversation = talk("Something tense with Robert De Niro, please.")
    assert respond(conversation) == respond(conversation, Retrieval().prepared(around(CATALOGUE)))


def test_a_named_director_brings_films_of_that_director_and_says_so() -> None:
    reply = respond(talk("I would love something directed by Akira Kurosawa."))
    films = [CATALOGUE.item(str(item.id)) for item in reply.items[:4]]
    assert all("Akira Kurosawa" in film.directors for film in films)
    assert "Akira Kurosawa directed it" in reply.text


def test_it_asks_when_it_knows_nothing_and_does_not_ask_twice() -> None:
    opening = talk("Hello!")
    first = respond(opening)
    assert "?" in first.text
    assert CATALOGUE.link(first.text) == ()
    assert len(first.items) == 10
    second = respond(after(opening, first, "Oh, I don't know, whatever you think."))
    assert CATALOGUE.link(second.text) != ()


@pytest.mark.parametrize(
    "answers",
    [
        ("I want a crime thriller.", "No, I have seen those. Something else?", "Not for me."),
        ("A comedy with a wedding.", "Hmm, any others?", "Seen it. Anything else?"),
        ("I liked Heat.", "I don't like those.", "Another one, please.", "Something else, then."),
    ],
)
def test_what_was_named_or_turned_down_is_not_recommended_again(answers: tuple[str, ...]) -> None:
    conversation = talk(answers[0])
    named: set[str] = {mention.id for mention in CATALOGUE.link(answers[0])}
    for answer in (*answers[1:], "ok"):
        reply = respond(conversation)
        now = {mention.id for mention in CATALOGUE.link(reply.text.split(":")[0])}
        assert not now & named
        named |= {mention.id for mention in CATALOGUE.link(reply.text)}
        conversation = after(conversation, reply, answer)


def test_turned_down_films_leave_the_list() -> None:
    opening = talk("Something scary in space.")
    first = respond(opening)
    named = {mention.id for mention in CATALOGUE.link(first.text)}
    assert named
    second = respond(after(opening, first, "No, I didn't like those. Something else?"))
    assert not named & {item.id for item in second.items}


def test_every_film_it_recommends_is_on_its_list() -> None:
    for item in list(CATALOGUE)[::25]:
        wish = talk(f"I want a {item.genres[0]} film.")
        reply = respond(wish)
        named = {mention.id for mention in CATALOGUE.link(reply.text)}
        assert named
        assert named <= {each.id for each in reply.items}


def test_it_introduces_the_film_that_is_asked_about() -> None:
    reply = respond(talk("Can you tell me more about Seven Samurai?"))
    film = CATALOGUE.named("Seven Samurai")
    assert film is not None
    assert reply.items[0].id == film.id
    for fact in (film.directors[0], film.actors[0], str(film.year)):
        assert fact in reply.text


def test_it_introduces_its_own_first_film_when_asked_about_it() -> None:
    opening = talk("I would love something directed by Akira Kurosawa.")
    first = respond(opening)
    named = CATALOGUE.link(first.text)[0]
    second = respond(after(opening, first, "Tell me more about it."))
    assert second.items[0].id == named.id
    assert second.text.startswith(CATALOGUE.item(named.id).name)


def test_asked_again_about_the_same_film_it_says_why() -> None:
    opening = talk("I would love something directed by Akira Kurosawa.")
    conversation = after(opening, respond(opening), "Tell me more about it.")
    told = respond(conversation)
    why = respond(after(conversation, told, "And what makes it fit what I asked for?"))
    assert why.items[0] == told.items[0]
    assert why.text != told.text
    assert "Akira Kurosawa directed it" in why.text


def test_who_comes_back_to_an_offer_without_praise_declines_it() -> None:
    opening = talk("I would love something directed by Akira Kurosawa.")
    first = respond(opening)
    film = CATALOGUE.item(CATALOGUE.link(first.text)[0].id)
    for answer in (
        f"{film.title} is from another time; I want one from the 80s.",
        f"{film.title} does not fit, for I want one from the 80s.",
    ):
        second = respond(after(opening, first, answer))
        assert film.id not in {item.id for item in second.items}
        best = CATALOGUE.item(str(second.items[0].id))
        assert best.year is not None
        assert 1980 <= best.year <= 1989
    praised = respond(after(opening, first, f"{film.title} is great, what else is like it?"))
    assert film.id in {item.id for item in praised.items}


def test_five_turns_give_five_different_replies() -> None:
    conversation = talk("I want a crime thriller.")
    said = set()
    for _ in range(5):
        reply = respond(conversation)
        said.add(reply.text)
        conversation = after(conversation, reply, "Something else, please.")
    assert len(said) == 5


def test_every_fact_in_a_reason_is_true() -> None:
    for item in list(CATALOGUE)[::9]:
        reply = respond(talk(f"I like {item.directors[0]}, and I enjoyed {item.name}."))
        claims = re.findall(r"([^:.]+?): (\w[^:]*?) directed it[.,]", reply.text)
        for title, director in claims:
            named = CATALOGUE.link(title)
            assert director.strip() in CATALOGUE.item(named[-1].id).directors


def test_the_list_has_the_asked_length_and_no_repeats() -> None:
    reply = respond(
        talk("An old western."), Retrieval().prepared(around(CATALOGUE, list_length=25))
    )
    assert len({item.id for item in reply.items}) == len(reply.items) == 25


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        ("A funny western.", {"comedy", "western"}, set()),
        ("I don't want a horror film, but a comedy would be nice.", {"comedy"}, {"horror"}),
        ("Nothing with Tom Cruise; a thriller.", {"thriller"}, {"tom cruise"}),
        ("I don't mind horror.", {"horror"}, set()),
    ],
)
def test_wishes_are_told_from_refusals(text: str, wanted: set[str], unwanted: set[str]) -> None:
    wish = understand(talk(text), LIBRARY)
    assert {name for name, weight in wish.wanted.items() if weight > 0} == wanted
    assert wish.unwanted == unwanted


def test_a_seen_film_counts_as_taste_and_is_not_offered() -> None:
    wish = understand(talk("I've already seen Heat and loved it."), LIBRARY)
    heat = CATALOGUE.named("Heat")
    assert heat is not None
    row = LIBRARY.rows[heat.id]
    assert row in wish.liked
    assert row in wish.rejected


def test_settings_change_with_what_changes_replies() -> None:
    plain = SYSTEM.settings
    assert plain == Retrieval().prepared(around(CATALOGUE)).settings
    assert plain != Retrieval().prepared(around(CATALOGUE, list_length=5)).settings


def test_an_empty_catalogue_and_an_empty_list_are_refused() -> None:
    with pytest.raises(ConfigError, match="no item"):
        Retrieval().prepared(around(Catalogue("none", [])))
    with pytest.raises(ConfigError, match="at least 1, got 0"):
        around(CATALOGUE, list_length=0)


def test_it_answers_a_conversation_that_has_not_begun() -> None:
    reply = respond(Conversation(turns=()))
    assert "?" in reply.text
    assert reply.items


DUNE = Item(
    id="1", name="Dune", title="Dune", year=1965, genres=("Sci-Fi",), writers=("F. Herbert",)
)
FILMED = Item(id="2", name="Dune (1984)", title="Dune", year=1984, genres=("Sci-Fi",), popularity=9)
SOLARIS = DUNE.model_copy(update={"id": "3", "name": "Solaris", "title": "Solaris", "year": 1961})
BOTH = Catalogue("both", [DUNE, FILMED, SOLARIS], others=dict.fromkeys("13", known_domain("book")))


def test_a_user_who_wants_a_book_gets_no_film() -> None:
    asked = talk("Something with a desert planet, sci-fi, please.")
    system = Retrieval().prepared(around(BOTH))

    def first(domain: str, conversation: Conversation = asked) -> list[str | None]:
        told = conversation.model_copy(update={"domain": domain})
        return [item.id for item in respond(told, system).items]

    assert first("film")[0] == "2"
    assert first("book")[-1] == "2"
    assert first("", talk("A sci-fi novel, please."))[-1] == "2"
    assert first("", talk("A sci-fi movie, please."))[0] == "2"


def test_books_are_spoken_of_as_books() -> None:
    system = Retrieval().prepared(around(BOTH))
    conversation = talk("Tell me about Solaris.").model_copy(update={"domain": "book"})
    question = respond(Conversation(turns=talk("Hello!").turns, domain="book"), system).text

    text = respond(conversation, system).text

    assert text.startswith("Solaris came out in 1961. F. Herbert wrote it. It counts as Sci-Fi.")
    assert "watch" not in text
    assert "an author" in question
    assert "director" not in question


def test_a_book_that_was_read_is_turned_down() -> None:
    conversation = talk("A sci-fi book?", "How about Solaris?", "I have already read that.")
    wish = understand(conversation.model_copy(update={"domain": "book"}), Library(BOTH))

    assert wish.declined
    assert wish.rejected == {2}


def test_restaurants_are_found_by_their_attributes_and_spoken_of_by_them() -> None:
    places = [
        Item(
            id=name,
            name=name,
            title=name,
            attributes=(("cuisines", (cuisine,)), ("area", ("the harbour",)), ("chefs", (chef,))),
        )
        for name, cuisine, chef in (("Sol", "Thai", "Ann Lee"), ("Mar", "Greek", "Bo Kim"))
    ]
    system = Retrieval().prepared(
        around(Catalogue("town", places, domain=known_domain("restaurant")))
    )

    found = respond(talk("I would like to eat Greek food tonight."), system)
    told = respond(talk("Greek food?", found.text, "Tell me more about Mar."), system)

    assert found.items[0].id == "Mar"
    assert "Mar" in found.text
    assert "its cuisine is Greek, which you asked for" in found.text
    assert told.text.startswith("Gladly: Mar. Bo Kim runs it. Its cuisine is Greek.")
    assert "watch" not in told.text


@pytest.mark.parametrize(
    "said",
    [
        "I'm interested in Solaris. What makes you think of that one?",
        "Hold on, what about Solaris? You haven't told me anything about it.",
        "Those can wait. What is Solaris like?",
        "I like the sound of Solaris. Tell me a little about it, please.",
        "I was hoping for a calm book, so Solaris might be right. Could you describe it a little?",
        "Tell me a little about Solaris.",
        "Solaris, yes, that could be it. What's the story?",
        "Solaris? Is there a lot of talking in it?",
    ],
)
def test_a_question_about_an_item_is_heard_however_it_is_asked(said: str) -> None:
    conversation = talk("A sci-fi book?", "How about Dune, or Solaris?", said)

    assert understand(conversation, Library(BOTH)).asked_about == 2


@pytest.mark.parametrize(
    "said",
    [
        "Solaris isn't much like Dune.",
        "What about a comedy?",
        "I'm interested in crime novels.",
        "What are some books like Dune?",
    ],
)
def test_other_remarks_are_no_question_about_an_item(said: str) -> None:
    conversation = talk("A sci-fi book?", "How about Solaris?", said)

    assert understand(conversation, Library(BOTH)).asked_about is None


def test_an_item_for_which_only_its_story_speaks_is_recommended_by_it() -> None:
    told = DUNE.model_copy(update={"plot": "A boy rides a worm. He wins."})
    system = Retrieval().prepared(around(Catalogue("one", [told])))

    text = respond(talk("Hello", "What do you like?", "I don't know."), system).text

    assert "Dune" in text
    assert "A boy rides a worm." in text
    assert "reason" not in text
