"""`NeuralSystem`: weights in a folder that score items and write replies."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recjury.agents.neural.entities import entity_graph
from recjury.agents.neural.files import Limits, is_memory, quiet, weights_digest
from recjury.agents.neural.said import ITEM, Fidelity, Listener, Said
from recjury.corpora import Corpus
from recjury.errors import SystemFailed, UserError
from recjury.keys import one_line
from recjury.records import LIST_LENGTH, Conversation, ItemRef, SystemReply
from recjury.tasks import Batcher

if TYPE_CHECKING:
    from torch import Tensor


class NeuralSystem:
    """The base of neural systems: a class of one's own has `load`, `scores` and `write`.

    `graph` has the numbers of entities and items. The list has the items with the best scores. Each
    ITEM in a written text becomes the name of an item of the list, one that nobody has named first.
    """

    limits = Limits(context=200, entities=32, reply=128)
    """How much of a conversation is read, and how long a reply is."""

    def __init__(
        self,
        corpus: Corpus,
        weights: str,
        *,
        fidelity: Fidelity = "corrected",
        backbones: str = "",
        device: str = "cpu",
        batch: int = 16,
        length: int = LIST_LENGTH,
    ):
        """`weights` is a folder, `backbones` one of published models that the weights build on,
        `batch` how many replies are written together. Raises UserError for weights that do not fit.
        """
        import torch

        folder = Path(weights).expanduser()
        if not folder.is_dir():
            raise UserError(f"there is no folder {folder} with weights")
        self.corpus, self.fidelity, self.device = corpus.name, fidelity, device
        own = (Path(backbones).expanduser(),) if backbones else ()
        self.backbones = (folder / "backbones", *own)
        self.graph = entity_graph(corpus, folder)
        items = (corpus.catalogue.items[ref.id] for ref in self.graph.refs)
        self.popularity = torch.tensor([item.popularity for item in items])
        self.digest = weights_digest(folder)
        self._length, self._batch = length, batch
        try:
            quiet()
            torch.zeros(1, device=device).tolist()
            with torch.no_grad():
                self.load(folder)
        except (MemoryError, RuntimeError, AssertionError, NotImplementedError) as error:
            what = "the memory does not suffice for" if is_memory(error) else "cannot load"
            raise UserError(f"{what} {folder} on the device {device}: {one_line(error)}") from error
        self.listener = Listener(self.graph, corpus.catalogue, fidelity, self.limits.entities)
        self._batcher = Batcher(self.answer, batch)

    def load(self, folder: Path) -> None:  # noqa: ARG002
        """Load what is in the folder. Raises UserError for a file that does not fit."""
        raise UserError(f"{type(self).__name__} has no method `load(folder)`")

    def scores(self, said: Said) -> "Tensor":
        """[items] in the order of `graph.items`: the higher, the better."""
        return self.ranked([said])[0][self.graph.items]

    def ranked(self, said: Sequence[Said]) -> "Tensor":  # noqa: ARG002
        """[conversations, entities]: for a system that scores all entities."""
        raise SystemFailed(f"{type(self).__name__} has no method `scores(said)`")

    def encode(self) -> None:
        """Compute what does not depend on conversations, for systems whose weights change."""

    def write(self, said: Sequence[Said]) -> list[str]:  # noqa: ARG002
        """One text for each conversation, with ITEM where a name belongs."""
        raise SystemFailed(f"{type(self).__name__} has no method `write(said)`")

    async def respond(self, conversation: Conversation) -> SystemReply:
        """The reply to one conversation. Raises SystemFailed."""
        return await self._batcher.ask(conversation)

    def answer(self, conversations: Sequence[Conversation]) -> list[SystemReply]:
        """The replies to some conversations, whose texts are written in one batch.

        Raises SystemFailed if the memory does not suffice, or if scores are no numbers.
        """
        import torch

        try:
            with torch.inference_mode():
                said = [self.listener.said(each.turns) for each in conversations]
                scores = [torch.as_tensor(self.scores(each)).float().cpu() for each in said]
                lists = [self._best(each.numpy()) for each in scores]
                texts = self.write(said)
        except (MemoryError, RuntimeError) as error:
            if not is_memory(error):
                raise
            raise SystemFailed(
                f"the memory does not suffice for {len(conversations)} replies at once: lower "
                f"`batch`, which is {self._batch}"
            ) from None
        if len(texts) != len(conversations):
            raise SystemFailed(f"{len(texts)} texts for {len(conversations)} conversations")
        return [self._reply(*each) for each in zip(conversations, texts, lists, strict=True)]

    def _best(self, scores: NDArray[np.float32]) -> tuple[ItemRef, ...]:
        if scores.shape != (len(self.graph.items),):
            raise SystemFailed(f"{scores.shape} scores for {len(self.graph.items)} items")
        if not np.isfinite(scores).all():
            raise SystemFailed("its weights give scores that are no finite numbers")
        # Equal scores: the first item first.
        rows = np.argsort(-scores, kind="stable")[: self._length]
        return tuple(self.graph.refs[row] for row in rows)

    def _reply(
        self, conversation: Conversation, text: str, items: tuple[ItemRef, ...]
    ) -> SystemReply:
        if ITEM in text:
            names = _names(conversation, items)
            first, *rest = text.split(ITEM)
            text = first + "".join(f"{next(names)}{part}" for part in rest)
        return SystemReply(text=text.strip(), items=items)


def _names(conversation: Conversation, items: Sequence[ItemRef]) -> Iterator[str]:
    """The names of items, those first that no text has, without end."""
    said = "\n".join(turn.text for turn in conversation.turns)
    yield from (item.name for item in items if item.name not in said)
    while True:
        yield from (item.name for item in items)
