"""What the models read of a conversation: utterances with roles, entities, earlier replies."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

from recjury.agents.neural.tokens import Tokens
from recjury.knowledge import KnowledgeGraph
from recjury.records import Conversation, Speaker

# Two of a system's turns must not share an n-gram of so many tokens: shorter bans break the set
# phrases of a small generator, longer ones let whole sentences through.
REPEAT_NGRAM = 4

_SPEAKERS = (Speaker.USER, Speaker.SYSTEM)
_REMEMBERED = 10_000


class Context(NamedTuple):
    """What a model answers: utterances (even index = user, odd = system) and entity ids.

    An empty utterance stands where one side said nothing. `entities` are the known ones among
    the last names of the conversation, in order, repeats kept.
    """

    utterances: tuple[str, ...]
    entities: tuple[int, ...] = ()


def utterances(conversation: Conversation) -> tuple[str, ...]:
    """The texts of the turns; where one side did not speak, an empty text takes its place."""
    found: list[str] = []
    for turn in conversation.turns:
        if turn.speaker is not _SPEAKERS[len(found) % 2]:
            found.append("")
        found.append(turn.text)
    return tuple(found)


def joined(said: Sequence[str], separator: str) -> str:
    """All utterances, empty ones too, without roles (KBRD)."""
    return separator.join(said)


def prefixed(said: Sequence[str], separator: str) -> str:
    """The utterances that are not empty, each after its role (BARCOR, UniCRS)."""
    names = ("User", "System")
    return separator.join(f"{names[index % 2]}: {text}" for index, text in enumerate(said) if text)


class EncodedContext(NamedTuple):
    """A conversation for a model.

    `named` are the catalogue's ids of all items that have been named; `turns` is how many turns
    there have been.
    """

    context: Context
    named: frozenset[str]
    turns: int


class ContextEncoder:
    """Links what is said to the graph; the last `limit` entities count, repeats kept."""

    def __init__(self, graph: KnowledgeGraph, limit: int):
        """Listen with a graph's names."""
        self._graph, self._limit = graph, limit
        self._linked: OrderedDict[str, tuple[int, ...]] = OrderedDict()

    def hear(self, conversation: Conversation) -> EncodedContext:
        """What a model reads of the conversation."""
        named = [entity for turn in conversation.turns for entity in self._link(turn.text)]
        recent = tuple(named[-self._limit :]) if self._limit else ()
        items = {self._graph.item_ids[e] for e in named if e in self._graph.item_ids}
        context = Context(utterances(conversation), recent)
        return EncodedContext(context, frozenset(items), len(conversation.turns))

    def _link(self, text: str) -> tuple[int, ...]:
        """The entities of one utterance; a conversation's earlier ones come again each turn."""
        found = self._linked.get(text)
        if found is None:
            found = self._linked[text] = self._graph.mentioned(text)
            if len(self._linked) > _REMEMBERED:
                self._linked.popitem(last=False)
        return found


def earlier_replies(
    heard: EncodedContext, tokens: Tokens, between: int, *, before: str = ""
) -> list[int]:
    """The ids of the system's earlier turns, written as it generates them.

    All turns count, also those that are too long ago to be read. `between` is the id that keeps
    two turns apart, `before` what a reply begins with.
    """
    said = (text for text in heard.context.utterances[1::2] if text)
    return [id_ for text in said for id_ in (*tokens.encode(before + text), between)]
