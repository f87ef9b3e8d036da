"""One reply to a dialogue's history, apart from any conversation log, and what scores it."""

from collections.abc import Sequence
from typing import Protocol

from recjury.records.base import Record
from recjury.records.conversation import Turn


class Response(Record):
    """A reply to `history`, whose turns are oldest first; its speaker is the system.

    `reference` is a reply that people gave or approved; `system` names what wrote the text.
    """

    id: str
    history: tuple[Turn, ...] = ()
    text: str
    reference: str | None = None
    system: str | None = None


class ResponseScorer(Protocol):
    """Scores replies; higher is better. The scale is the scorer's own."""

    @property
    def name(self) -> str:
        """What its column in a table is called."""

    async def scores(self, responses: Sequence[Response]) -> list[float | None]:
        """A score for each response, in order; None for one that it cannot score."""
