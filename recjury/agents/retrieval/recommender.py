"""The retrieval-based CRS as a system under test, and how it scores items for the wishes."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import PrivateAttr

from recjury.agents.retrieval.library import Library
from recjury.agents.retrieval.speech import question, recommendation, told
from recjury.agents.retrieval.understanding import Understanding, understand
from recjury.agents.system import System
from recjury.errors import ConfigError
from recjury.records import JSON, Conversation, Speaker, SystemReply


class Weights(NamedTuple):
    """How much each kind of evidence counts.

    The values were set by hand and then compared on OpenDialKG's validation split. `repeated` is
    subtracted from items that were named before: a user who asks for something like "Heat" already
    knows "Heat".
    """

    words: float = 0.7
    wanted: float = 2.0
    liked: float = 1.0
    years: float = 4.0
    popularity: float = 2.0
    unwanted: float = 4.0
    repeated: float = 6.0


WEIGHTS = Weights()
_REJECTED = 1e6
_BELOW_ANY_REJECTED = -1e5
_OTHER_DOMAIN = 100.0  # a user who looks for a book wants no film, however well it fits


class Ranked(NamedTuple):
    """An item by its row, and its score (any real number, higher is better)."""

    row: int
    score: float


def rank(library: Library, wish: Understanding, length: int) -> list[Ranked]:
    """The best items, best first; items with equal scores are in the catalogue's order.

    The item that was asked about comes first. Rejected items are left out unless there are no
    others.
    """
    scores = _scores(library, wish, WEIGHTS)
    asked = wish.asked_about
    if asked is not None:
        scores[asked] = scores.max() + 1.0
    lowest = np.partition(scores, -length)[-length] if length < len(scores) else -np.inf
    best = np.flatnonzero(scores >= lowest)  # a few more than `length` if there are ties
    order = best[np.argsort(-scores[best], kind="stable")][:length]
    ranked = [Ranked(int(row), float(scores[row])) for row in order]
    return [each for each in ranked if each.score > _BELOW_ANY_REJECTED] or ranked


def _scores(library: Library, wish: Understanding, weights: Weights) -> NDArray[np.float64]:
    scores = weights.popularity * library.popularity + weights.words * library.search(wish.words)
    for name, weight in wish.wanted.items():
        attribute = library.attributes[name]
        scores[attribute.all_rows] += weights.wanted * weight * attribute.weight
    for (first, last), weight in wish.years.items():
        asked_for = (first <= library.years) & (library.years <= last)
        scores[asked_for] += weights.years * weight
    for row, weight in wish.liked.items():
        _add_neighbours(scores, library, row, weights.liked * weight)
    for name in wish.unwanted:
        scores[library.attributes[name].all_rows] -= weights.unwanted
    if wish.domain is not None:
        scores[library.rows_beside(wish.domain.name)] -= _OTHER_DOMAIN
    for row in {*wish.liked, *wish.recommended}:
        scores[row] -= weights.repeated
    scores[list(wish.rejected)] -= _REJECTED
    return scores


def _add_neighbours(scores: NDArray[np.float64], library: Library, row: int, weight: float) -> None:
    """Add to each item a score for the attributes it shares with `row`; rare ones count most."""
    names = library.attributes_of(row)
    share = weight / np.sqrt(max(1, len(names)))
    for name in names:
        attribute = library.attributes[name]
        scores[attribute.all_rows] += share * attribute.weight


_VERSION = 3
_NAMED_AT_MOST = 3
_NAMED_FROM = 0.6  # of the best item's score


class Retrieval(System):
    """A retrieval CRS without a model: it searches the catalogue for what the user has said.

    Its answers depend only on the conversation: the same turns always get the same reply.
    """

    kind: Literal["retrieval"] = "retrieval"
    name: str = "retrieval"

    _library: Library = PrivateAttr()

    def _prepare(self) -> None:
        """Index the catalogue, in about 0.1 ms per item. Raises ConfigError if it is empty."""
        if len(self._catalogue) == 0:
            raise ConfigError(f"the catalogue {self._catalogue.name} has no item to recommend")
        self._library = Library(self._catalogue)

    @property
    def settings(self) -> Mapping[str, JSON]:
        """The catalogue, and the version of the rules with their weights."""
        return {**self._common_settings, "version": _VERSION, "weights": WEIGHTS._asdict()}

    async def respond(self, conversation: Conversation) -> SystemReply:
        """Introduce the item that was asked about; otherwise ask for preferences, or recommend.

        The list is never empty. A user who was asked and has still not stated a preference gets
        popular items.
        """
        wish = understand(conversation, self._library)
        ranked = rank(self._library, wish, self._context.list_length)
        items = tuple(self._library.items[each.row].ref for each in ranked)
        return SystemReply(text=self._text(conversation, wish, ranked), items=items)

    def _text(self, conversation: Conversation, wish: Understanding, ranked: list[Ranked]) -> str:
        turn = sum(each.speaker is Speaker.SYSTEM for each in conversation.turns)
        start = conversation.turns[0].text if conversation.turns else ""
        if wish.asked_about is not None:
            said = [each.text for each in conversation.turns]
            return told(self._library, wish, wish.asked_about, said, turn)
        known = {*wish.recommended, *wish.liked, *wish.rejected}
        fresh = [each for each in ranked if each.row not in known]
        if not fresh or (wish.is_vague and wish.questions == 0):
            return question(wish.domain or self._library.catalogue.domain, start, turn)
        worthy = [each.row for each in fresh if each.score >= _NAMED_FROM * fresh[0].score]
        named = worthy[: _NAMED_AT_MOST - turn % 2]
        return recommendation(self._library, wish, named or [fresh[0].row], start, turn)
