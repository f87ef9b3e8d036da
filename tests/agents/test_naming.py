"""What models read of conversations, and names in what they say."""

from recjury.agents.neural.context import (
    Context,
    ContextEncoder,
    EncodedContext,
    joined,
    prefixed,
    utterances,
)
from recjury.agents.neural.naming import NameFromList, as_said
from recjury.agents.neural.tokens import ITEM
from recjury.records import Conversation, ItemRef, Speaker, Turn
from tests.agents.conversations import talk
from tests.agents.tiny import CORPUS

NAME = NameFromList(CORPUS.catalogue)


def items(*names: str) -> list[ItemRef]:
    found = [CORPUS.catalogue.ref(name) for name in names]
    assert all(item.id for item in found)
    return found


def heard(*named: ItemRef) -> EncodedContext:
    return EncodedContext(Context(()), frozenset(item.id for item in named if item.id), 1)


def test_utterances_alternate_whoever_speaks() -> None:
    assert utterances(talk("a", "b", "c")) == ("a", "b", "c")
    assert utterances(talk("a", "b", first=Speaker.SYSTEM)) == ("", "a", "b")
    twice = tuple(Turn(speaker=Speaker.USER, text=text) for text in ("a", "b"))
    assert utterances(Conversation(turns=twice)) == ("a", "", "b")


def test_roles_are_told_by_place_and_empty_utterances_left_out() -> None:
    said = ("", "Hello", "Hi", "", "Well")
    assert prefixed(said, "|") == "System: Hello|User: Hi|User: Well"
    assert joined(said, "|") == "|Hello|Hi||Well"


def test_the_last_entities_of_all_turns_count() -> None:
    ran, window = items("Ran", "Rear Window")
    conversation = talk("I like Ran and Rear Window.", "Rear Window is good.", "Rear Window, yes.")
    numbers = [CORPUS.graph.entity_of(str(item.id)) for item in (ran, window, window, window)]
    found = ContextEncoder(CORPUS.graph, 3).hear(conversation)
    assert list(found.context.entities) == numbers[-3:]
    assert found.turns == 3
    assert found.named == {ran.id, window.id}
    assert list(ContextEncoder(CORPUS.graph, 9).hear(conversation).context.entities) == numbers
    assert ContextEncoder(CORPUS.graph, 0).hear(conversation).context.entities == ()


def test_item_tokens_become_the_best_items_nobody_named() -> None:
    ran, psycho, vertigo = items("Ran", "Psycho", "Vertigo")
    text = f"Try {ITEM} or {ITEM}!"
    assert NAME(text, heard(), [ran, psycho, vertigo]) == f"Try {ran.name} or {psycho.name}!"
    assert NAME(text, heard(ran), [ran, psycho, vertigo]) == (
        f"Try {psycho.name} or {vertigo.name}!"
    )
    assert NAME(text, heard(ran), [ran]) == f"Try {ran.name} or {ran.name}!"
    assert NAME(f"Try {ITEM}", heard(), []) == "Try"


def test_a_name_from_neither_list_nor_conversation_gives_way() -> None:
    ran, psycho, vertigo = items("Ran", "Psycho", "Vertigo")
    text = f"If you like {ran.name}, try {vertigo.name}."
    assert NAME(text, heard(ran), [psycho]) == f"If you like {ran.name}, try {psycho.name}."
    assert NAME(text, heard(ran), [psycho, vertigo]) == text
    both = f"{vertigo.name} or {psycho.name}?"
    replaced = NAME(both, heard(), [psycho, ran])
    assert replaced == f"{ran.name} or {psycho.name}?"
    assert NAME("What do you like?", heard(), [ran]) == "What do you like?"


def test_published_text_is_left_alone() -> None:
    assert as_said("Try Vertigo", heard(), items("Ran")) == "Try Vertigo"
