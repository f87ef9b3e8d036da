"""The retrieval-based CRS as a system under test."""

from collections.abc import Mapping
from typing import Literal

from pydantic import PrivateAttr

from recjury.agents.retrieval.library import Library
from recjury.agents.retrieval.scoring import WEIGHTS, Ranked, rank
from recjury.agents.retrieval.speech import question, recommendation, told
from recjury.agents.retrieval.understanding import Understanding, understand
from recjury.agents.system import System
from recjury.errors import ConfigError
from recjury.records import JSON, Conversation, Speaker, SystemReply

_VERSION = 2
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
