"""UniCRS's input: one text for GPT-2, one for RoBERTa, and the entities, as a `Batch`."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from recjury.agents.neural.bart import padded
from recjury.agents.neural.context import Context, prefixed
from recjury.agents.neural.description import Fidelity, Limits
from recjury.agents.neural.tokens import END, Tokens
from recjury.agents.unicrs.model import (
    Batch,
    left_padded,
    natural_positions,
)

PAD = "<pad>"
PROMPT = "System:"
_MULTIPLE = 8


@dataclass(frozen=True)
class Texts:
    """Turns conversations into batches; `item` is the token that stands for an item."""

    gpt2: Tokens
    text: Tokens
    limits: Limits
    item: str

    def add_tokens(self) -> None:
        """Add the padding and item tokens to the tokenizers, in the published order."""
        self.gpt2.add(PAD)
        self.gpt2.add(self.item)
        self.text.add(self.item)

    def ids(self, said: Sequence[str]) -> list[int]:
        """GPT-2's ids: every utterance ends with the end token; the text is cut on the left."""
        return self.gpt2.encode(prefixed(said, END) + END)[-self.limits.context :]

    def words(self, said: Sequence[str]) -> list[int]:
        """RoBERTa's ids, cut on the left inside the sentence marks."""
        return self.text.sentence(prefixed(said, "</s>"), self.limits.context)

    def prompted(self, said: Sequence[str]) -> list[int]:
        """GPT-2's ids followed by the beginning of the reply."""
        return [*self.ids(said), *self.gpt2.encode(PROMPT)]

    @property
    def text_width(self) -> int:
        """The length that texts for RoBERTa are padded to, in tokens."""
        return -(-self.limits.context // _MULTIPLE) * _MULTIPLE

    @property
    def prompted_width(self) -> int:
        """The length that contexts with the reply's beginning are padded to, in tokens."""
        longest = self.limits.context + len(self.gpt2.encode(PROMPT))
        return -(-longest // _MULTIPLE) * _MULTIPLE

    def filled(self, ids: Sequence[int]) -> list[int]:
        """`prompted` ids padded on the left, as the published code pads them."""
        return [self.gpt2.id(PAD)] * (self.prompted_width - len(ids)) + list(ids)

    def batch(
        self,
        rows: Sequence[Sequence[int]],
        contexts: Sequence[Context],
        *,
        padding: int,
        fidelity: Fidelity,
        speaking: bool,
    ) -> Batch:
        """The conversations `contexts`, whose ids for GPT-2 are `rows`, as tensors.

        `padding` is the id of the padding entity, which a conversation without entities gets. When
        `speaking` with "ievalm", all rows are padded to one width, and positions count from its
        left end.
        """
        # The published code pads contexts of replies to one width, and counts the padding.
        counts_padding = speaking and fidelity == "ievalm"
        fill, width = self.gpt2.id(PAD), self.prompted_width if counts_padding else 0
        ids, real = left_padded(rows, fill, width=width)
        positions = natural_positions(real)
        if counts_padding:
            positions = torch.arange(ids.shape[1]).expand(ids.shape)
        # All texts have one width, so that what padding adds is the same in every batch.
        width = self.text_width if fidelity == "ievalm" else 0
        words = padded([self.words(context.utterances) for context in contexts], width=width)
        named = [context.entities or (padding,) for context in contexts]
        most = max(len(entities) for entities in named)
        known = torch.arange(most) < torch.tensor([[len(entities)] for entities in named])
        entities = padded(named, fill=padding)
        return Batch(ids, real, positions, words, entities, known)
