"""A neural model as a system under test: one thread owns the model.

What the thread runs is `NeuralModel.infer`, which takes several conversations at once: those that
come within a few milliseconds share its forward passes.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from recjury.agents.batching import Batcher
from recjury.errors import SystemFailed
from recjury.records import JSON, Conversation, SystemReply

Outcome = SystemReply | SystemFailed


class NeuralModel(Protocol):
    """Answers conversations; not safe to be called by two threads at once."""

    def infer(self, conversations: Sequence[Conversation]) -> list[Outcome]:
        """One answer per conversation, or why there is none.

        An answer depends on its own conversation alone, not on the others in the list.
        """


class NeuralRecommender:
    """A `Recommender` around a `NeuralModel`."""

    def __init__(self, model: NeuralModel, *, name: str, settings: Mapping[str, JSON]):
        """`settings` are everything that can change the model's answers."""
        self.name, self.settings, self.model = name, settings, model
        self._batcher: Batcher[Conversation, SystemReply] = Batcher(model.infer, name=name)

    async def respond(self, conversation: Conversation) -> SystemReply:
        """Answer one conversation. Raises SystemFailed if the model cannot."""
        return await self._batcher.ask(conversation)

    async def aclose(self) -> None:
        """Answer what waits and end the thread."""
        await self._batcher.aclose()
