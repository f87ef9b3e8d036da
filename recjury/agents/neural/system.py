"""A neural model as a system under test: it scores, lists and writes replies for a batch.

One thread owns the model. Conversations that arrive within a few milliseconds of each other share
its forward passes.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from recjury.agents.batching import Batcher
from recjury.agents.neural.context import ContextEncoder, EncodedContext
from recjury.agents.neural.naming import Naming
from recjury.errors import SystemFailed
from recjury.records import JSON, Conversation, ItemRef, SystemReply

Outcome = SystemReply | SystemFailed


class NeuralModel(Protocol):
    """Answers conversations. It must not be called by two threads at the same time."""

    def infer(self, conversations: Sequence[Conversation]) -> list[Outcome]:
        """One answer per conversation, or the error that prevented it.

        An answer depends only on its own conversation, not on the others in the list.
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
        """Answer the waiting requests and end the thread."""
        await self._batcher.aclose()


T = TypeVar("T")


class Ranker(Protocol):
    """Scores the items of a graph."""

    def scores(self, heard: Sequence[EncodedContext]) -> NDArray[np.float32]:
        """[conversations, items], in the graph's item order; higher is better."""


class ReplyGenerator(Protocol):
    """Writes a reply for each of several conversations.

    `fills_names` tells that it writes the names of the list into each reply.
    """

    fills_names: bool

    def say(self, heard: Sequence[EncodedContext], lists: Sequence[Sequence[ItemRef]]) -> list[str]:
        """One text per conversation; `lists` are the recommended items of each."""


class NeuralSystem:
    """A ranker and a generator as one `NeuralModel`."""

    def __init__(
        self,
        encoder: ContextEncoder,
        ranker: Ranker,
        generator: ReplyGenerator,
        naming: Naming,
        *,
        refs: Sequence[ItemRef],
        list_length: int,
    ):
        """`refs` are the items in the graph's order; the best `list_length` are listed."""
        self._encoder, self._ranker = encoder, ranker
        self._generator, self._naming = generator, naming
        self._refs, self._length = refs, min(list_length, len(refs))

    def infer(self, conversations: Sequence[Conversation]) -> list[Outcome]:
        """One answer per conversation, or the error that prevented it."""
        with torch.inference_mode():
            return _each_on_failure(self._infer, conversations)

    def _infer(self, conversations: Sequence[Conversation]) -> list[SystemReply]:
        heard = [self._encoder.hear(conversation) for conversation in conversations]
        # One by one: sums are rounded differently in a batch, and lists have many close scores.
        lists = [self._best(self._ranker.scores([each])[0]) for each in heard]
        texts = self._generator.say(heard, lists)
        return [
            self._reply(text, each, items)
            for text, each, items in zip(texts, heard, lists, strict=True)
        ]

    def _reply(self, text: str, heard: EncodedContext, items: tuple[ItemRef, ...]) -> SystemReply:
        named = self._naming(text, heard, items)
        filled = named != text or self._generator.fills_names
        return SystemReply(text=named, items=items, names_filled=filled)

    def _best(self, scores: NDArray[np.float32]) -> tuple[ItemRef, ...]:
        if not np.isfinite(scores).all():
            raise SystemFailed("the model gives scores that are not finite numbers")
        # Of items with equal scores, the first in the graph's order is first.
        rows = np.argsort(-scores, kind="stable")[: self._length]
        return tuple(self._refs[row] for row in rows)


def _each_on_failure(
    answer: Callable[[Sequence[Conversation]], list[SystemReply]],
    conversations: Sequence[Conversation],
) -> list[Outcome]:
    """Process all at once; if that fails, one by one, so that only the failing ones fail."""
    try:
        return list(answer(conversations))
    except SystemFailed as failure:
        if len(conversations) == 1:
            return [failure]
    return [found for each in conversations for found in _each_on_failure(answer, [each])]
