"""Systems, users and evaluators of one's own, which `identities.yaml` names by their path."""

from recjury.corpora import Corpus
from recjury.knowledge import Catalogue
from recjury.records import (
    JSON,
    Conversation,
    ConversationLog,
    Metric,
    Rating,
    SystemReply,
    UserContext,
)


class Silent:
    """A system; it says the same in every turn."""

    def __init__(self, corpus: Corpus, *, name: str, words: str = "Hm."):
        self.name, self._words = name, words
        self.settings: dict[str, JSON] = {"words": words, "catalogue": corpus.catalogue.digest}

    async def respond(self, conversation: Conversation) -> SystemReply:
        return SystemReply(text=self._words)

    async def aclose(self) -> None:
        pass


class Quiet(Silent):
    """Another system."""


class User:
    """A simulated user; it says the same in every turn."""

    def __init__(self, catalogue: Catalogue, *, seed: int, seconds: int = 0):
        self.settings: dict[str, JSON] = {"seconds": seconds}

    def speak(self, context: UserContext) -> str:
        return "Hm."

    def rewrite(self, context: UserContext, utterance: str, leaks: tuple[str, ...]) -> str:
        return "Hm."


class Turns:
    """An evaluator; it counts turns."""

    metrics = (Metric(id="turns", title="Turns", high=None),)

    def __init__(self, least: int = 0):
        self._least = least
        self.settings: dict[str, JSON] = {"least": least}

    def rate(self, log: ConversationLog) -> list[Rating]:
        turns = max(self._least, len(log.interaction))
        return [Rating(evaluator="turns", factor="turns", score=turns, low=0, high=None)]


class Pairs(Turns):
    """Another evaluator."""
