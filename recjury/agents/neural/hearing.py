"""From a conversation to what a model reads of it: utterances, and the entities they name."""

from collections import OrderedDict
from typing import NamedTuple

from recjury.agents.neural.dialogue import Context, utterances
from recjury.knowledge import KnowledgeGraph
from recjury.records import Conversation

_REMEMBERED = 10_000


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
