"""The replies that generators learn: those of a corpus, with a token in place of items."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from recjury.agents.kbrd.dataset import ENTITY_LIMIT
from recjury.agents.neural.tokens import ITEM
from recjury.corpora import Corpus, TrainingExample
from recjury.knowledge import Catalogue, KnowledgeGraph

_SENTENCE = re.compile(r"[^.!?]+[.!?]*\s*")
_YEAR_BEHIND = re.compile(rf"({ITEM}) \(\d{{4}}\)")
_WORD = re.compile(r"\w+")
_SHORTEST, _LONGEST = 4, 30
_OFTEN = 3


class TrainingReply(NamedTuple):
    """One reply to learn: the texts before it, the entities in them, and the reply.

    In `reply` the item token stands for every item; none of these items was named before. `text` is
    the original reply.
    """

    dialogue: str
    context: tuple[str, ...]
    entities: tuple[int, ...]
    reply: str
    text: str


def learnable_words(examples: Iterable[TrainingExample]) -> frozenset[str]:
    """The words, in lower case, that occur in at least three different texts.

    A rarer word is learnt by heart, if at all, and generated wrongly elsewhere.
    """
    texts = {text for each in examples for text in (*each.context, each.response)}
    heard = Counter(word for text in texts for word in _words(text))
    return frozenset(word for word, count in heard.items() if count >= _OFTEN)


def training_replies(
    corpus: Corpus, examples: Iterable[TrainingExample], known: frozenset[str]
) -> list[TrainingReply]:
    """The replies in the examples: the last one of each, and the earlier ones.

    A reply is left out if it names an item that was named before, because with an item token it
    would be about another item. Sentences are left out if they have words that are not `known`, or
    if they name people whom nobody has named before: they are about one film, and would be
    generated for another. Replies with fewer than four words besides items and very long replies
    are left out too.
    """
    found: dict[tuple[str, ...], TrainingReply] = {}
    for example in examples:
        said = (*example.context, example.response)
        for place in range(1, len(said), 2):
            if said[place].strip() and any(said[:place]) and said[: place + 1] not in found:
                speech = _speech(corpus, example.dialogue, said[:place], said[place], known)
                if speech is not None:
                    found[said[: place + 1]] = speech
    return list(found.values())


def _speech(
    corpus: Corpus, dialogue: str, context: tuple[str, ...], text: str, known: frozenset[str]
) -> TrainingReply | None:
    graph = corpus.graph
    before = [entity for said in context for entity in graph.mentioned(said)]
    items = {graph.item_ids[e] for e in before if e in graph.item_ids}
    masked = _masked(corpus.catalogue, text, items)
    if masked is None:
        return None
    sentences = _about_anyone(graph, masked, set(before))
    reply = "".join(each for each in sentences if _words(each) <= known).strip()
    words = len(reply.replace(ITEM, "").split())
    if not _SHORTEST <= words <= _LONGEST or (ITEM in masked and ITEM not in reply):
        return None
    return TrainingReply(dialogue, context, tuple(before[-ENTITY_LIMIT:]), reply, text)


def _masked(catalogue: Catalogue, text: str, named: set[str]) -> str | None:
    """The text with the item token for every item; None if one was named before."""
    parts, end = [], 0
    for mention in catalogue.link(text):
        if mention.id in named:
            return None
        parts += [text[end : mention.start], ITEM]
        end = mention.end
    return _YEAR_BEHIND.sub(r"\1", "".join([*parts, text[end:]]))


def _about_anyone(graph: KnowledgeGraph, text: str, before: set[int]) -> Iterator[str]:
    """The sentences that name no people except those named before."""
    for match in _SENTENCE.finditer(text):
        named = set(graph.mentioned(match.group())) - before
        if not any(_is_person(graph, entity) for entity in named):
            yield match.group()


def _words(text: str) -> set[str]:
    """The words of a text in lower case, without the item token."""
    return set(_WORD.findall(text.replace(ITEM, " ").lower()))


def _is_person(graph: KnowledgeGraph, entity: int) -> bool:
    return " " in graph.entities[entity] and entity not in graph.item_ids


def held_out(found: Sequence[TrainingReply], train: Sequence[TrainingReply]) -> list[TrainingReply]:
    """The replies that are not also in `train`: splits can have different turns of one dialogue."""
    known = {(each.context, each.text) for each in train}
    return [each for each in found if (each.context, each.text) not in known]
