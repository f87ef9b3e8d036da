"""ChatCRS over a real endpoint on 127.0.0.1."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal

import pytest

from recjury.agents.chatcrs import ChatCRS
from recjury.agents.embedding import EndpointEmbedder
from recjury.agents.endpoint_crs import EndpointCRS
from recjury.corpora import open_corpus
from recjury.errors import CallFailed, ConfigError, SystemFailed
from recjury.knowledge import Catalogue, known_domain, named_items
from recjury.llm import EndpointSpec, Gateway
from recjury.records import Conversation, Item, SystemReply
from tests.agents.contexts import around
from tests.agents.conversations import talk
from tests.endpoint import Body, Fault, Script, ScriptedEndpoint, completion
from tests.llm.doubles import MemoryRecorder
from tests.llm.test_spoken_text import FORMS, SAID

CATALOGUE = open_corpus("sample").catalogue
WISH = talk("Hello", "What do you like?", "Something directed by Akira Kurosawa")


def with_gateway(
    script: Script, work: Callable[[Gateway, ScriptedEndpoint], Awaitable[SystemReply]]
) -> SystemReply:
    async def run(endpoint: ScriptedEndpoint) -> SystemReply:
        spec = EndpointSpec(base_url=endpoint.url, name="scripted", retries=0)
        models = {"main": spec, "vectors": spec.model_copy(update={"embedding": True})}
        async with Gateway(models, MemoryRecorder()) as gateway:
            return await work(gateway, endpoint)

    with ScriptedEndpoint(script) as endpoint:
        return asyncio.run(run(endpoint))


def answer(
    script: Script,
    conversation: Conversation = WISH,
    *,
    list_source: Literal["independent", "from_text"] = "independent",
    list_length: int = 10,
) -> SystemReply:
    async def work(gateway: Gateway, _: ScriptedEndpoint) -> SystemReply:
        context = around(CATALOGUE, gateway, list_length=list_length)
        system = ChatCRS(list_source=list_source).prepared(context)
        return await system.respond(conversation)

    return with_gateway(script, work)


def test_an_independent_list_follows_the_conversation_and_not_the_text() -> None:
    reply = answer(lambda body: "Try Heat (1995).")
    films = [CATALOGUE.item(str(item.id)) for item in reply.items[:5]]
    assert all("Akira Kurosawa" in film.directors for film in films)
    assert len(reply.items) == 10
    assert reply.text == "Try Heat (1995)."
    assert len(reply.calls) == 1


def test_only_the_last_two_messages_count_for_an_independent_list() -> None:
    early = talk("Akira Kurosawa", "Toy Story?", "", "Toy Story?", "Pixar animation, family")
    late = talk("Toy Story?", "Pixar animation, family", first=early.turns[1].speaker)
    said = lambda body: "Fine."  # noqa: E731
    assert answer(said, early).items == answer(said, late).items


def test_a_list_from_text_has_what_the_text_names_in_its_order() -> None:
    text = 'Ran (1985) is one. Then Heat (1995), and "A Film Nobody Made", and Ran again.'
    reply = answer(lambda body: text, list_source="from_text")
    assert [item.name for item in reply.items] == [
        "Ran (1985)",
        "Heat (1995)",
        "A Film Nobody Made",
    ]
    assert reply.items[2].id is None
    assert all(item.id in CATALOGUE for item in reply.items[:2])


def test_a_question_gives_an_empty_list_from_text() -> None:
    assert answer(lambda body: "Which genre?", list_source="from_text").items == ()


def test_the_model_sees_the_conversation_as_messages_after_the_instructions() -> None:
    bodies = []

    def script(body: dict[str, object]) -> str:
        bodies.append(body)
        return "Fine."

    answer(script)
    messages = bodies[0]["messages"]
    assert isinstance(messages, list)
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert messages[-1]["content"] == "Something directed by Akira Kurosawa"


@pytest.mark.parametrize("text", ["", "  \n "])
def test_an_empty_reply_fails_the_turn(text: str) -> None:
    with pytest.raises((SystemFailed, CallFailed)):
        answer(lambda body: completion(text))


def test_a_failing_endpoint_fails_the_turn() -> None:
    with pytest.raises(CallFailed):
        answer(lambda body: Fault("status", 500, "broken"))


def test_an_endpoint_embeds_the_items_once(tmp_path: Path) -> None:
    async def work(gateway: Gateway, endpoint: ScriptedEndpoint) -> SystemReply:
        def make() -> ChatCRS:
            return ChatCRS(embeddings="vectors").prepared(
                around(CATALOGUE, gateway, cache=tmp_path)
            )

        first = await make().respond(WISH)
        calls = len(endpoint.embedded)
        second = await make().respond(talk("Something else entirely"))
        assert len(endpoint.embedded) == calls + 1  # the new conversation alone
        assert len(second.items) == 10
        return first

    assert len(with_gateway(lambda body: "Fine.", work).items) == 10


def test_an_unknown_model_is_refused() -> None:
    gateway = Gateway({}, MemoryRecorder())
    with pytest.raises(ConfigError, match="no model 'main' for chatcrs: there are none"):
        ChatCRS().prepared(around(CATALOGUE, gateway))
    with pytest.raises(ConfigError, match="no model 'vectors'"):
        EndpointEmbedder(gateway, "vectors")


def test_a_chat_model_does_not_embed() -> None:
    spec = EndpointSpec(base_url="http://127.0.0.1:9/v1", name="scripted")
    with pytest.raises(ConfigError, match="set `embedding: true`"):
        EndpointEmbedder(Gateway({"main": spec}, MemoryRecorder()), "main")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "1. Heat (1995) - a duel\n2. Zanzibar Nights: a romance",
            ["Heat (1995)", "Zanzibar Nights"],
        ),
        ("You could try **Moon Over Nowhere** tonight.", ["Moon Over Nowhere"]),
        ("**Heat by Michael Mann** and *Ran*", ["Heat (1995)", "Ran (1985)"]),
        ("I like “low-budget” stories.", []),
        ("What about it? It is up to you.", []),
    ],
)
def test_titles_are_told_from_other_words(text: str, names: list[str]) -> None:
    assert [item.name for item in named_items(text, CATALOGUE)] == names


@pytest.mark.parametrize("form", ["think", "closing tag alone, in lines", "channels", "reasoning"])
@pytest.mark.parametrize("list_source", ["independent", "from_text"])
def test_thoughts_change_neither_text_nor_list(
    form: str, list_source: Literal["independent", "from_text"]
) -> None:
    plain = answer(lambda body: SAID, list_source=list_source)
    thinking = answer(lambda body: FORMS[form], list_source=list_source)
    assert (thinking.text, thinking.items) == (plain.text, plain.items)


@pytest.mark.parametrize("bad", [completion(""), completion("Try", finish_reason="length")])
def test_an_answer_is_asked_for_once_more_with_the_same_messages(bad: Body) -> None:
    asked: list[Body] = []

    def script(body: Body) -> str | Body:
        asked.append(body)
        return bad if len(asked) == 1 else "Try Heat (1995)."

    said = answer(script)
    assert said.text == "Try Heat (1995)."
    assert len(set(said.calls)) == 2
    assert asked[0]["messages"] == asked[1]["messages"]


@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_a_reply_that_is_cut_off_fails_the_turn(finish: str) -> None:
    with pytest.raises(SystemFailed, match="cut off"):
        answer(lambda body: completion("Try Heat (19", finish_reason=finish))


@pytest.mark.parametrize("kind", ["chatcrs", "endpoint"])
def test_a_reply_of_thoughts_alone_fails_the_turn(kind: str) -> None:
    async def work(gateway: Gateway, _: ScriptedEndpoint) -> SystemReply:
        entry = ChatCRS() if kind == "chatcrs" else EndpointCRS(model="main", name="mine")
        return await entry.prepared(around(CATALOGUE, gateway)).respond(WISH)

    with pytest.raises(SystemFailed, match="thoughts"):
        with_gateway(lambda body: "<think>Heat (1995)?</think>", work)


@pytest.mark.parametrize("form", FORMS)
def test_an_endpoint_that_thinks_is_heard_without_its_thoughts(form: str) -> None:
    async def work(gateway: Gateway, _: ScriptedEndpoint) -> SystemReply:
        entry = EndpointCRS(model="main", name="mine")
        return await entry.prepared(around(CATALOGUE, gateway)).respond(WISH)

    reply = with_gateway(lambda body: FORMS[form], work)
    assert (reply.text, [item.name for item in reply.items]) == (SAID, ["Ran (1985)"])


DUNE = Item(id="1", name="Dune", title="Dune", genres=("Sci-Fi",), writers=("F. Herbert",))
FILMED = Item(id="2", name="Dune (1984)", title="Dune", year=1984, genres=("Sci-Fi",))
BOTH = Catalogue("both", [DUNE, FILMED], others={"1": known_domain("book")})
TOWN = Catalogue(
    "town",
    [Item(id="1", name="Sol", title="Sol", attributes=(("cuisines", ("Thai",)),))],
    domain=known_domain("restaurant"),
)


def told(catalogue: Catalogue, domain: str) -> tuple[str, list[str | None]]:
    """The system message, and the list, of a conversation about items of this domain."""
    prompts: list[str] = []

    async def work(gateway: Gateway, endpoint: ScriptedEndpoint) -> SystemReply:
        conversation = talk("Something like Dune, sci-fi").model_copy(update={"domain": domain})
        reply = await ChatCRS().prepared(around(catalogue, gateway)).respond(conversation)
        messages = endpoint.bodies[0]["messages"]
        assert isinstance(messages, list)
        prompts.append(messages[0]["content"])
        return reply

    reply = with_gateway(lambda body: completion("Gladly."), work)
    return prompts[0], [item.id for item in reply.items]


def test_it_is_told_which_kind_of_item_is_wanted_and_lists_no_other() -> None:
    book, books = told(BOTH, "book")
    film, films = told(BOTH, "film")

    assert book.startswith("You help people find a book to read.")
    assert "about a genre, a mood, an author, or a book they liked" in book
    assert "film" not in book
    assert books == ["1"]
    assert film.startswith("You help people find a film to watch.")
    assert "who made it, who is in it, and what it is about" in film
    assert films == ["2"]
    assert told(BOTH, "")[0] == film


def test_a_corpus_of_restaurants_is_spoken_of_by_its_attributes() -> None:
    prompt, _ = told(TOWN, "")

    assert prompt.startswith("You help people find a restaurant to try.")
    assert "tell them about it: its cuisine, price range, diet, main ingredient, chef and" in prompt
    assert "Call each by its full name." in prompt
    assert "film" not in prompt
