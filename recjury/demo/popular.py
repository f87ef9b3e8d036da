"""An own system in thirty lines: it always recommends the most popular films.

Named in a campaign file as `{kind: python, name: popular, path: recjury.demo.popular:Popular}`.
"""

from recjury.corpora import Corpus
from recjury.records import JSON, Conversation, SystemReply


class Popular:
    """The floor every system under test should beat."""

    def __init__(self, corpus: Corpus, *, name: str, length: int = 10):
        """`length` is an option of the campaign file; the corpus has the items to choose from."""
        ranked = sorted(corpus.catalogue, key=lambda item: (-(item.popularity or 0), item.id))
        self.name = name
        self.settings: dict[str, JSON] = {"catalogue": corpus.catalogue.digest, "length": length}
        self._list = tuple(item.ref for item in ranked[:length])

    async def respond(self, conversation: Conversation) -> SystemReply:
        """Name the next film of the list, and show all of it."""
        said = sum(turn.speaker == "system" for turn in conversation.turns)
        film = self._list[said % len(self._list)]
        text = f"Many people like {film.name}. Have you seen it?"
        return SystemReply(text=text, items=self._list)

    async def aclose(self) -> None:
        """Nothing is held."""
