"""The system `popular` of `old/measured.yaml`: one byte changed here, and it is another system."""

from recjury.corpora import Corpus
from recjury.records import JSON, Conversation, SystemReply


class Popular:
    """Names the most popular items, whatever is said."""

    def __init__(self, corpus: Corpus, *, name: str):
        """`corpus` has the items."""
        ranked = sorted(corpus.catalogue, key=lambda item: (-(item.popularity or 0), item.id))
        self.name = name
        self.settings: dict[str, JSON] = {"catalogue": corpus.catalogue.digest}
        self._list = tuple(item.ref for item in ranked[:10])

    async def respond(self, conversation: Conversation) -> SystemReply:
        """The next of them, and the list of all."""
        said = sum(turn.speaker == "system" for turn in conversation.turns)
        item = self._list[said % len(self._list)]
        return SystemReply(text=f"Many people like {item.name}.", items=self._list)

    async def aclose(self) -> None:
        """Nothing is held."""
