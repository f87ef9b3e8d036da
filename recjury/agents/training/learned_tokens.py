"""Tokenizers of models from scratch: byte-level BPE of the corpus, and entities as tokens."""

import re
from collections.abc import Iterable

from recjury.agents.neural.tokens import Family, Tokens
from recjury.agents.training.replies import TrainingReply
from recjury.corpora import Corpus, TrainingExample
from recjury.knowledge import KnowledgeGraph

_YEAR = re.compile(r"\s*\(\d{4}\)$")
_SHORTEST = 3
_ROLES = "User: System:"


def learn_tokens(
    examples: Iterable[TrainingExample],
    replies: Iterable[TrainingReply],
    family: Family,
    *,
    size: int,
) -> Tokens:
    """A tokenizer of at most `size` tokens for the texts of the examples.

    The replies count once more in the form in which they will be learnt: a word that is one token
    cannot be broken when it is generated, and names of items, which are not generated, need no
    tokens.
    """
    texts = {_ROLES: None}
    for example in examples:
        texts.update(dict.fromkeys([*example.context, example.response]))
    return Tokens.train([*texts, *(each.reply for each in replies)], family, size=size)


def add_entities(
    tokens: Tokens, corpus: Corpus, examples: Iterable[TrainingExample]
) -> dict[int, int]:
    """Make the names of the graph's entities tokens; returns entity ids by token id.

    A film is also known without its year, and a genre in lower case and capitalised. A single word
    that people write in lower case is not a name, unless it is a genre.
    """
    said = {w for e in examples for text in e.context for w in re.findall(r"\w+", text)}
    spellings = _spellings(corpus.graph, said)
    tokens.add_names(spellings)
    found = ((tokens.find(spelling), entity) for spelling, entity in spellings.items())
    return {token: entity for token, entity in found if token is not None}


def _spellings(graph: KnowledgeGraph, said: set[str]) -> dict[str, int]:
    """Entity ids by spelling; an exact name has priority over a name without its year."""
    popular = {tail for _, _, tail in graph.triples} - set(graph.item_entities)
    words = {
        each: entity
        for entity in sorted(_plain(graph, popular))
        for each in (graph.entities[entity].lower(), graph.entities[entity].capitalize())
    }
    exact = {name: entity for entity, name in enumerate(graph.entities)}
    short = {_YEAR.sub("", name): entity for name, entity in reversed(exact.items())}
    names = {name: entity for name, entity in (short | exact).items() if _is_name(name, said)}
    return names | words


def _plain(graph: KnowledgeGraph, tails: set[int]) -> set[int]:
    """The nodes that are genres or languages."""
    kinds = {n for n, name in enumerate(graph.relations) if name in ("genre", "language")}
    return {t.tail for t in graph.triples if t.relation in kinds and t.tail in tails}


def _is_name(name: str, said: set[str]) -> bool:
    if len(name) < _SHORTEST or (not name.isascii() and " " not in name):
        return False  # when decoded, the latter's token could not be distinguished from bytes
    return not re.fullmatch(r"\w+", name) or (name[0].isupper() and name.lower() not in said)
