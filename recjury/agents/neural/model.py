"""A neural model that answers conversations: it scores and lists items, and writes replies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from recjury.agents.neural.context import ContextEncoder, EncodedContext
from recjury.agents.neural.description import Fidelity
from recjury.agents.neural.naming import NameFromList, as_said
from recjury.errors import SystemFailed
from recjury.records import JSON, LIST_LENGTH, Conversation, ItemRef, SystemReply

if TYPE_CHECKING:
    from recjury.corpora import Corpus


@dataclass(frozen=True)
class ModelSetup:
    """What a checkpoint is loaded for.

    The best `list_length` items of `corpus` are listed. `fidelity` None takes what the checkpoint
    was trained as, and "ievalm" for a published one. `backbones` gives folders or hub names of
    published models by kind; for a missing one, the checkpoint's own is used, or else the one of
    the paper. `device` is the torch device.
    """

    corpus: "Corpus"
    list_length: int = LIST_LENGTH
    fidelity: Fidelity | None = None
    backbones: Mapping[str, str] = field(default_factory=dict)
    device: str = "cpu"


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


class NeuralModel:
    """A ranker and a generator. It must not be called by two threads at the same time."""

    def __init__(
        self,
        ranker: Ranker,
        generator: ReplyGenerator,
        setup: ModelSetup,
        *,
        entity_limit: int,
        refs: Sequence[ItemRef],
        corrects_names: bool,
        settings: Mapping[str, JSON],
    ):
        """`refs` are the items in the graph's order; `entity_limit` is how many entities are read.

        With `corrects_names`, the names in a reply are those of its list. `settings` are everything
        that can change the answers, except for the catalogue and the length of lists.
        """
        corpus = setup.corpus
        self.settings = settings
        self._encoder = ContextEncoder(corpus.graph, entity_limit)
        self._ranker, self._generator = ranker, generator
        self._naming = NameFromList(corpus.catalogue) if corrects_names else as_said
        self._refs, self._length = refs, setup.list_length

    def answer(self, conversations: Sequence[Conversation]) -> list[SystemReply]:
        """One answer per conversation, which depends only on that conversation.

        Raises SystemFailed if one of them cannot be answered.
        """
        with torch.inference_mode():
            heard = [self._encoder.hear(conversation) for conversation in conversations]
            # One by one: sums are rounded differently in a batch, and lists have close scores.
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
