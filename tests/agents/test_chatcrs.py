"""ChatCRS: what its model is told, and where its lists come from (CoRE, section 6.3)."""

import asyncio
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from recjury.agents import LoadedSystem
from recjury.agents.chat import ChatCRS
from recjury.corpora import Catalogue, Corpus, Domain, Item
from recjury.errors import UserError
from recjury.llm import ScriptedModel
from recjury.llm.embeddings import to_text
from recjury.records import EmbeddingShape, Request, Turn
from tests.agents.talk import loaded, talk_with

GOLDEN = Path(__file__).parent / "golden" / "chatcrs.txt"

BOOKS = Corpus(
    "books",
    Domain(item="book", items="books", verb="read", done="read", attributes=("genre", "author")),
    Catalogue(
        [
            Item(id="b1", name="Dune", year=1965, description="A desert planet and its worms."),
            Item(id="b2", name="Emma", year=1815, description="A matchmaker in a village."),
            Item(id="b3", name="Ulysses", year=1922, description="A day in Dublin."),
        ]
    ),
    (),
)


def system(**settings: object) -> LoadedSystem:
    return loaded({"kind": "chatcrs"} | settings, BOOKS)


def talk(model: ScriptedModel, *says: str, **settings: object) -> list[Turn]:
    return asyncio.run(talk_with(system(**settings), says, model))


def test_its_model_is_told_the_domain_and_the_conversation() -> None:
    model = ScriptedModel(["What do you like?", "Read Dune (1965)."])
    talk(model, "Hello.", "Planets.")
    instruction, *said = model.requests[1].messages
    assert instruction.role == "system"
    for words in ("a book to read", "one to three books", "the genre, the author"):
        assert words in instruction.text
    assert [(message.role, message.text) for message in said] == [
        ("user", "Hello."),
        ("assistant", "What do you like?"),
        ("user", "Planets."),
    ]


def test_a_changed_prompt_is_noticed() -> None:
    """Whoever changes how it is made also changes RENDERING of its settings, and this file."""
    model = ScriptedModel(["Heat."])
    asyncio.run(talk_with(loaded({"kind": "chatcrs"}), ["Hi."], model))
    assert f"{model.requests[0].messages[0].text}\n" == GOLDEN.read_text("utf-8")


def test_an_independent_list_has_what_fits_the_conversation() -> None:
    (turn,) = talk(ScriptedModel(["I would read Emma."]), "Something about a desert planet?")
    assert [item.id for item in turn.items] == ["b1"]


def test_a_list_by_vectors_has_what_is_nearest_and_each_vector_is_asked_for_once() -> None:
    """Two texts are near if they share one of three words."""

    def say(request: Request, code: str) -> str:
        if not isinstance(request.shape, EmbeddingShape):
            return "Hm."
        text = request.messages[0].text.casefold()
        return to_text(np.array([word in text for word in ("planet", "village", "dublin")], "f4"))

    model = ScriptedModel(say)
    turns = talk(model, "Dublin, and no planet.", "A village?", "Dublin.", embedder="main")
    assert [turn.items[0].id for turn in turns] == ["b1", "b2", "b3"]
    asked = Counter(request.purpose for request in model.requests)
    assert asked == {"catalogue": 3, "embedding": 3, "system": 3}
    assert all(len(turn.calls) == 1 for turn in turns)


def test_an_embedder_is_for_lists_of_their_own() -> None:
    with pytest.raises(UserError, match="embedder"):
        system(embedder="embed", list_source="from_text")


def test_a_list_from_the_text_has_what_the_text_names() -> None:
    model = ScriptedModel(["Read Emma, or Ulysses (1922)."])
    (turn,) = talk(model, "Something about a planet?", list_source="from_text")
    assert [item.id for item in turn.items] == ["b2", "b3"]


def test_texts_are_searched_for_items_only_if_the_list_is_from_the_text() -> None:
    assert ChatCRS(list_source="from_text").links
    assert not ChatCRS().links


def test_a_conversation_about_nothing_in_the_catalogue_has_no_list() -> None:
    (turn,) = talk(ScriptedModel(["What do you like?"]), "Hm?")
    assert turn.items == ()
    assert len(turn.calls) == 1


def test_a_model_that_says_nothing_fails_the_turn() -> None:
    (turn,) = talk(ScriptedModel([""] * 3), "Hello.")
    assert "main" in turn.failure
    assert len(turn.calls) == 3


def test_its_identity_has_what_its_model_and_prompts_stand_for() -> None:
    versions = {
        system().version,
        system(model="other").version,
        system(list_source="from_text").version,
        system(version=2).version,
    }
    assert len(versions) == 4
    assert system(name="mine").version == system().version


def test_an_empty_catalogue_has_no_list() -> None:
    empty = BOOKS._replace(catalogue=Catalogue())
    (turn,) = asyncio.run(
        talk_with(loaded({"kind": "chatcrs"}, empty), ["Hi."], ScriptedModel(["Hello."]))
    )
    assert turn.items == ()
