"""KBRD as a system under test."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from recjury.agents.kbrd import checkpoint, template
from recjury.agents.kbrd.checkpoint import Checkpoint
from recjury.agents.kbrd.dataset import ENTITY_LIMIT, space_of
from recjury.agents.kbrd.model import Fidelity
from recjury.errors import ConfigError, DataError
from recjury.records import JSON, LIST_LENGTH, Conversation, SystemReply

if TYPE_CHECKING:
    from recjury.corpora import Corpus

_VERSION = 1
_REMEMBERED = 10_000


class KBRD:
    """Recommends by the entities of the whole conversation; a `Recommender`.

    Its text is a set sentence around its top items until its response generator is there:
    `settings` say `text: template`. One thread owns the model, so that the event loop stays free.
    """

    def __init__(
        self,
        loaded: Checkpoint,
        corpus: "Corpus",
        *,
        name: str = "kbrd",
        list_length: int = LIST_LENGTH,
    ):
        """Serve a loaded checkpoint. Raises DataError for weights that give no finite scores."""
        if list_length < 1:
            raise ConfigError(f"list_length must be at least 1, got {list_length}")
        self.name = name
        self._graph = corpus.graph
        self._space = space_of(corpus)
        self._model = loaded.model
        self._length = min(list_length, len(self._space.items))
        with torch.inference_mode():
            self._nodes = self._model.nodes(self._space.edges)
        if not bool(torch.isfinite(self._nodes).all()):
            raise DataError("the KBRD checkpoint gives scores that are not finite numbers")
        self._linked: OrderedDict[str, tuple[int, ...]] = OrderedDict()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self.settings: Mapping[str, JSON] = {
            "kind": "kbrd",
            "version": _VERSION,
            "weights": loaded.digest,
            "fidelity": loaded.model.fidelity,
            "catalogue": corpus.catalogue.digest,
            "entity_limit": ENTITY_LIMIT,
            "list_length": list_length,
            "text": "template",
        }

    @classmethod
    def load(
        cls,
        folder: Path,
        corpus: "Corpus",
        *,
        name: str = "kbrd",
        list_length: int = LIST_LENGTH,
        fidelity: Fidelity | None = None,
    ) -> "KBRD":
        """Load a checkpoint folder made by `train_kbrd`, or one laid out as iEvaLM's are.

        `fidelity` None takes what the checkpoint was trained as; a published one is "ievalm".
        Raises ConfigError without a checkpoint, DataError for one that does not fit.
        """
        loaded = checkpoint.load(
            folder,
            entities=len(corpus.graph.entities),
            relations=len(corpus.graph.relations),
            fidelity=fidelity,
        )
        return cls(loaded, corpus, name=name, list_length=list_length)

    async def respond(self, conversation: Conversation) -> SystemReply:
        """The best items for what the conversation names, the most popular ones if nothing."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._respond, conversation)

    async def aclose(self) -> None:
        """Stop the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def scores(self, entities: tuple[int, ...]) -> NDArray[np.float32]:
        """Each item's score for a user of these entities, in the graph's item order: [items]."""
        with torch.inference_mode():
            found: NDArray[np.float32] = self._model.scores(self._nodes, [entities])[0].numpy()
        return found[self._space.items]

    def _respond(self, conversation: Conversation) -> SystemReply:
        named = [entity for turn in conversation.turns for entity in self._link(turn.text)]
        entities = tuple(named[-ENTITY_LIMIT:])
        ranking = self.scores(entities) if entities else self._space.popularity
        rows = np.argsort(-ranking, kind="stable")[: self._length]
        items = tuple(self._space.refs[row] for row in rows)
        turn = len(conversation.turns)
        if not entities:
            return SystemReply(text=template.question(turn), items=items)
        known = {self._graph.item_ids.get(entity, "") for entity in named}
        return SystemReply(text=template.recommendation(items, known, turn), items=items)

    def _link(self, text: str) -> tuple[int, ...]:
        """The entities of one utterance; a conversation's earlier ones come again each turn."""
        found = self._linked.get(text)
        if found is None:
            found = self._linked[text] = self._graph.mentioned(text)
            if len(self._linked) > _REMEMBERED:
                self._linked.popitem(last=False)
        return found
