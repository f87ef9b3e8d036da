"""The input of the models from a conversation: utterances with roles, entities, earlier replies."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

from recjury.agents.neural.tokens import Tokens
from recjury.knowledge import KnowledgeGraph
from recjury.records import Conversation, Speaker

# Two of a system's turns must not share an n-gram of so many tokens. Shorter bans break the fixed
# phrases of a small generator, longer ones allow whole sentences to be repeated.
REPEAT_NGRAM = 4

_SPEAKERS = (Speaker.USER, Speaker.SYSTEM)
_REMEMBERED = 10_000


class Context(NamedTuple):
    """The conversation that a model answers: utterances (even index = user, odd = system), entity
    ids.

    An empty utterance stands for a side that said nothing. `entities` are the known entities among
    the last names of the conversation, in order, with repetitions.
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
    """All utterances, including empty ones, without roles (KBRD)."""
    return separator.join(said)


def prefixed(said: Sequence[str], separator: str) -> str:
    """The utterances that are not empty, each after its role (BARCOR, UniCRS)."""
    names = ("User", "System")
    return separator.join(f"{names[index % 2]}: {text}" for index, text in enumerate(said) if text)


class EncodedContext(NamedTuple):
    """A conversation in a model's form.

    `named` has the catalogue's ids of all items that have been named; `turns` is the number of
    turns so far.
    """

    context: Context
    named: frozenset[str]
    turns: int


class ContextEncoder:
    """Links the conversation to the graph; the last `limit` entities count, with repetitions."""

    def __init__(self, graph: KnowledgeGraph, limit: int):
        """`graph` has the names that are recognised."""
        self._graph, self._limit = graph, limit
        self._linked: OrderedDict[str, tuple[int, ...]] = OrderedDict()

    def hear(self, conversation: Conversation) -> EncodedContext:
        """The input of a model from the conversation."""
        named = [entity for turn in conversation.turns for entity in self._link(turn.text)]
        recent = tuple(named[-self._limit :]) if self._limit else ()
        items = {self._graph.item_ids[e] for e in named if e in self._graph.item_ids}
        context = Context(utterances(conversation), recent)
        return EncodedContext(context, frozenset(items), len(conversation.turns))

    def _link(self, text: str) -> tuple[int, ...]:
        """The entities of one utterance; cached, because earlier utterances return in each turn."""
        found = self._linked.get(text)
        if found is None:
            found = self._linked[text] = self._graph.mentioned(text)
            if len(self._linked) > _REMEMBERED:
                self._linked.popitem(last=False)
        return found


def earlier_replies(
    heard: EncodedContext, tokens: Tokens, between: int, *, before: str = ""
) -> list[int]:
    """The ids of the system's earlier turns, encoded as it generates them.

    All turns count, even if they are too old to be read. `between` is the id that separates two
    turns; `before` are the ids with which a reply begins.
    """
    said = (text for text in heard.context.utterances[1::2] if text)
    return [id_ for text in said for id_ in (*tokens.encode(before + text), between)]
