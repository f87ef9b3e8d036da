"""A system without a model: it searches the catalogue for what the user says, and gives reasons."""

import math
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from recjury.agents.heard import Ears, Wishes
from recjury.agents.search import Search
from recjury.agents.settings import SystemSettings
from recjury.corpora import Corpus, Item, fold
from recjury.corpora.corpus import with_article
from recjury.errors import UserError
from recjury.files import shipped
from recjury.records import LIST_LENGTH, Conversation, SystemReply, Turn

Scores = NDArray[np.float64]
"""A score for each item, in the order of the catalogue."""

_WORDS, _WANTED, _LIKED, _YEARS, _POPULARITY = 2.6, 2.0, 1.0, 4.0, 2.0
_UNWANTED, _KNOWN, _REJECTED, _ELSEWHERE = -4.0, -6.0, -100.0, -1000.0
_NAMED = 2  # items in the text
_REASONS, _TOLD, _VALUES = 2, 3, 3  # reasons for an item, clauses about it, values in a clause
_CLOSE = 0.6  # of the best score: so good are items that are named beside it
_QUOTED = 220  # characters of a description
_STOP = re.compile(r"(?<![A-Z])[.] (?=[A-Z])")

_SENTENCES = Path(__file__).with_name("sentences.yaml")

Fact = tuple[str, str]
"""A relation and a value of an item."""


class Retrieval(SystemSettings):
    """Recommends what fits the user's words, values and liked items, the popular items first.

    Its answers depend on the conversation alone.
    """

    RENDERING: ClassVar[int] = 3

    kind: Literal["retrieval"] = "retrieval"
    length: int = Field(default=LIST_LENGTH, ge=1, le=100)

    def prepared(self, corpus: Corpus) -> "Recommender":
        """The system over a corpus. Raises UserError if it has no items."""
        if not len(corpus.catalogue):
            raise UserError(f"{corpus.name} has no items to recommend")
        return Recommender(corpus, self.length)


class Recommender:
    """Ranks the items of a catalogue, and says why."""

    def __init__(self, corpus: Corpus, length: int):
        """Index the catalogue."""
        self._domain, self._catalogue, self._length = corpus.domain, corpus.catalogue, length
        self._graph = corpus.catalogue.graph
        self._items = list(corpus.catalogue)
        self._rows = {item.id: row for row, item in enumerate(self._items)}
        self._search, self._ears = Search(corpus.catalogue), Ears(corpus.catalogue, corpus.domain)
        self._years = np.array([item.year or 0 for item in self._items])
        self._domains = np.array([item.domain for item in self._items])
        popular = np.log1p([max(0.0, item.popularity) for item in self._items])
        self._popularity: Scores = popular / (popular.max() or 1.0)

    async def respond(self, conversation: Conversation) -> SystemReply:
        """Tell of the item that was asked about, ask for a wish once, or recommend."""
        heard = self._ears.hear(conversation.turns)
        turn = sum(each.speaker == "system" for each in conversation.turns)
        seed = zlib.crc32(conversation.turns[0].text.encode() if conversation.turns else b"") + turn
        scores = self._scores(heard, conversation.domain)
        best = [self._items[row] for row in np.argsort(-scores, kind="stable")[: self._length]]
        if heard.asked_about in self._rows:
            item = self._items[self._rows[heard.asked_about]]
            refs = {each.id: each.ref for each in (item, *best)}
            text = self._told(item, heard, conversation.turns, seed)
            return SystemReply(text=text, items=tuple(refs.values())[: self._length])
        if heard.is_vague and not turn and not self._search.scores(heard.words).any():
            return SystemReply(text=self._said("ask", seed))
        known = {self._items[row].name for row in self._rows_of(heard.known)}
        fresh = [item for item in best if item.name not in known] or best
        floor = _CLOSE * scores[self._rows[fresh[0].id]]
        named = [item for item in fresh[:_NAMED] if scores[self._rows[item.id]] >= floor]
        text = self._recommendation(named or fresh[:1], heard, seed)
        return SystemReply(text=text, items=tuple(item.ref for item in best))

    def _scores(self, heard: Wishes, domain: str) -> Scores:
        rarest = math.log(1 + len(self._items))  # what a word of one item weighs in BM25
        scores = _WORDS / rarest * self._search.scores(heard.words)
        scores += _POPULARITY * self._popularity
        for value, weight in heard.wanted.items():
            scores += _WANTED * weight * self._having(value)
        for value in heard.unwanted:
            scores += _UNWANTED * (self._having(value) > 0)
        for id_, weight in heard.liked.items():
            scores += _LIKED * weight * self._neighbours(id_)
        for years, weight in heard.years.items():
            scores += _YEARS * weight * np.isin(self._years, years)
        scores[self._rows_of(heard.known)] += _KNOWN
        scores[self._rows_of(heard.rejected)] += _REJECTED
        if domain in self._domains:
            scores[self._domains != domain] += _ELSEWHERE
        return scores

    def _neighbours(self, id_: str) -> Scores:
        """How much other items share with one; rare values count most."""
        facts = self._graph.values_of(id_)
        scores = np.zeros(len(self._items))
        for relation, value in facts:
            scores += self._having(value, relation) / math.sqrt(len(facts))
        scores[self._rows_of([id_])] = 0
        return scores

    def _rows_of(self, ids: Iterable[str]) -> list[int]:
        return [self._rows[id_] for id_ in ids if id_ in self._rows]

    def _having(self, value: str, relation: str | None = None) -> Scores:
        """For the items that have a value how rare it is, and 0 for the others."""
        ids = self._graph.items_with(relation, value)
        scores = np.zeros(len(self._items))
        scores[[self._rows[id_] for id_ in ids]] = math.log(1 + len(self._items) / max(1, len(ids)))
        return scores

    def _recommendation(self, items: list[Item], heard: Wishes, seed: int) -> str:
        sentences = []
        for place, item in enumerate(items):
            kind = "second" if place else "instead" if heard.refuses else "first"
            why = [*islice(self._reasons(item, heard), _REASONS)] or [self._described(item)[0]]
            sentences.append(self._said(kind, seed, name=item.ref.name, reason="; ".join(why)))
        return " ".join((*sentences, self._said("close", seed)))

    def _told(self, item: Item, heard: Wishes, turns: Sequence[Turn], seed: int) -> str:
        """What is known of an item and has not been said, a few clauses at a time."""
        said = "\n".join(turn.text for turn in turns if turn.speaker == "system").casefold()
        clauses = dict.fromkeys((*self._described(item), *self._reasons(item, heard)))
        new = [clause for clause in clauses if clause.casefold() not in said][:_TOLD]
        sentences = [f"{clause[0].upper()}{clause[1:]}." for clause in new]
        opening = self._said("tell" if new else "told", seed, name=item.ref.name)
        return " ".join((opening, *sentences, self._said("after", seed)))

    def _reasons(self, item: Item, heard: Wishes) -> Iterator[str]:
        """Why an item fits, by the graph: what was wished for last comes first, then what liked
        items share.
        """
        facts = self._graph.values_of(item.id)
        wanted = [fact for fact in facts if fold(fact[1]) in heard.wanted]
        found = [
            (max(heard.wanted[fold(value)] for _, value in same), clause)
            for same, clause in self._clauses(wanted)
        ]
        dated = [w for years, w in heard.years.items() if item.year and item.year in years]
        if dated:
            found.append((max(dated), self._domain.says("year", str(item.year))))
        yield from (clause for _, clause in sorted(found, key=lambda each: -each[0]))
        for id_ in sorted(heard.liked, key=lambda id_: -heard.liked[id_]):
            if id_ in self._rows and id_ != item.id:
                shared = [fact for fact in self._graph.shared(item.id, id_) if fact not in wanted]
                if clauses := [clause for _, clause in islice(self._clauses(shared), _REASONS)]:
                    yield f"{', and '.join(clauses)}, as with {self._name(id_)}"

    def _name(self, id_: str) -> str:
        return self._catalogue.items[id_].ref.name

    def _described(self, item: Item) -> list[str]:
        """What it is about, in the first sentence of its description, and its values."""
        text = " ".join(item.description.split())
        sentence = _STOP.split(text, maxsplit=1)[0].rstrip(".")
        if len(sentence) > _QUOTED:
            sentence = sentence[:_QUOTED].rsplit(" ", 1)[0] + " …"
        story = [f"the story is this: {sentence}"] if sentence else []
        known = [clause for _, clause in self._clauses(self._graph.values_of(item.id))]
        return [*story, *known] or [f"it is {self._domain.an_item} that I know nothing else of"]

    def _clauses(self, facts: list[Fact]) -> Iterator[tuple[list[Fact], str]]:
        """The facts of each relation with their clause; what people ask about comes first."""
        order = list(self._domain.attributes)
        told = (relation for relation, _ in facts if self._domain.is_asked_for(relation))
        relations = dict.fromkeys(told)
        for relation in sorted(relations, key=lambda r: order.index(r) if r in order else 99):
            same = [fact for fact in facts if fact[0] == relation][:_VALUES]
            *others, last = (value for _, value in same)
            joined = f"{', '.join(others)} and {last}" if others else last
            yield same, self._domain.says(relation, joined)

    def _said(self, kind: str, seed: int, **values: str) -> str:
        """A sentence of a kind, with the domain's words."""
        domain = self._domain
        choices: Sequence[str] = shipped(_SENTENCES)[kind]
        attribute = next(iter(domain.attributes), "kind")
        return choices[seed % len(choices)].format(
            an_item=domain.an_item,
            an_attribute=with_article(attribute),
            done=domain.done,
            verb=domain.verb,
            **values,
        )
