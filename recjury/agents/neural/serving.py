"""A neural model as a system under test: one thread owns the model.

What the thread runs is `NeuralModel.infer`, which takes several conversations at once; whoever
collects conversations into batches stands between `respond` and it.
"""

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

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
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)

    async def respond(self, conversation: Conversation) -> SystemReply:
        """Answer one conversation. Raises SystemFailed if the model cannot."""
        loop = asyncio.get_running_loop()
        (found,) = await loop.run_in_executor(self._thread, self.model.infer, [conversation])
        if isinstance(found, SystemFailed):
            raise found
        return found

    async def aclose(self) -> None:
        """Stop the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)
