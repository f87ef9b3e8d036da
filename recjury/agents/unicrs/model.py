"""UniCRS: GPT-2 and RoBERTa (published ones are frozen), and two prompt encoders."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from transformers import (
    GenerationConfig,
    GPT2Config,
    GPT2LMHeadModel,
    GPT2Model,
    RobertaConfig,
    RobertaModel,
)
from transformers.cache_utils import DynamicCache

from recjury.agents.neural.description import Fidelity
from recjury.agents.unicrs.prompts import KeysValues, PromptDims, PromptEncoder

TEXT_PAD = 1


class Batch(NamedTuple):
    """Conversations as tensors.

    `ids` [rows, length] for GPT-2 are padded on the left, `words` [rows, tokens] for RoBERTa on the
    right; `entities` [rows, entities] are ids of nodes. `real` [rows, length] and `known` [rows,
    entities] are False for padding. `positions` [rows, length] are GPT-2's.
    """

    ids: Tensor
    real: Tensor
    positions: Tensor
    words: Tensor
    entities: Tensor
    known: Tensor


class Prompted(NamedTuple):
    """The prompt that GPT-2 sees before a text: keys and values by layer, and which positions
    count."""

    layers: KeysValues
    real: Tensor


class Unicrs(nn.Module):
    """The two backbones and the two prompt encoders.

    With `fidelity` "ievalm", the padding of the text takes part in all attention over it, as in the
    published code; with "corrected" it does not.
    """

    def __init__(
        self,
        gpt2: GPT2Config,
        text: RobertaConfig,
        *,
        entities: int,
        relations: int,
        bases: int = 8,
        fidelity: Fidelity = "corrected",
    ):
        """Make an untrained model; `entities` does not count the padding entity."""
        super().__init__()
        self.fidelity = fidelity
        self.gpt2 = GPT2Model(gpt2)
        self.text = RobertaModel(text, add_pooling_layer=False)
        dims = PromptDims(
            entities=entities,
            relations=relations,
            width=gpt2.n_embd,
            layers=gpt2.n_layer,
            heads=gpt2.n_head,
            text_width=text.hidden_size,
            bases=bases,
        )
        self.rec = PromptEncoder(dims)
        self.conv = PromptEncoder(dims)

    @property
    def padding(self) -> int:
        """The id of the padding entity: the number of entities."""
        return self.rec.node_embeds.shape[0] - 1

    def item_prompts(self, nodes: Tensor, batch: Batch) -> Prompted:
        """The prompts for recommending: one position per entity; `nodes` are those of `rec`."""
        text = batch.words != TEXT_PAD
        prompts = self.rec.for_items(
            nodes[batch.entities],
            self.read(batch.words),
            None if self.fidelity == "ievalm" else text,
        )
        return Prompted(self.rec.layers(prompts), batch.known)

    def reply_prompts(self, nodes: Tensor, batch: Batch) -> Prompted:
        """The prompts for replies: one position per token; `nodes` are those of `conv`."""
        text = batch.words != TEXT_PAD
        prompts = self.conv.for_reply(nodes[batch.entities], self.read(batch.words), batch.known)
        real = torch.ones_like(text) if self.fidelity == "ievalm" else text
        return Prompted(self.conv.layers(prompts), real)

    def read(self, words: Tensor) -> Tensor:
        """RoBERTa's states of [rows, tokens]: [rows, tokens, text width]."""
        states: Tensor = self.text(words, attention_mask=words != TEXT_PAD).last_hidden_state
        return states

    def run(self, prompted: Prompted, batch: Batch) -> Tensor:
        """GPT-2's last states after the prompts: [rows, length, width]."""
        states: Tensor = self.gpt2(
            batch.ids,
            cache=DynamicCache(prompted.layers),
            attention_mask=torch.cat([prompted.real, batch.real], 1),
            position_ids=batch.positions,
            use_cache=True,
        ).last_hidden_state
        return states

    def item_scores(self, nodes: Tensor, batch: Batch) -> Tensor:
        """Scores of all entities, the padding entity last: [rows, entities + 1].

        The user is GPT-2's state at the last token, after the whole conversation.
        """
        users = self.run(self.item_prompts(nodes, batch), batch)[:, -1]
        return users @ nodes.T

    def for_generation(self) -> GPT2LMHeadModel:
        """transformers' own language model with the same GPT-2, without generation settings."""
        with torch.device("meta"):  # its initial weights are never used
            found = GPT2LMHeadModel(self.gpt2.config)
        found.transformer, found.lm_head.weight = self.gpt2, self.gpt2.wte.weight
        found.generation_config = GenerationConfig()
        return found.eval()

    def token_scores(self, states: Tensor) -> Tensor:
        """GPT-2's states [..., width] to scores of the next token [..., vocabulary]."""
        embeddings: Tensor = self.gpt2.wte.weight
        return states @ embeddings.T


def left_padded(
    rows: Sequence[Sequence[int]], fill: int, *, width: int = 0
) -> tuple[Tensor, Tensor]:
    """Rows of ids padded on the left to [rows, longest or `width`], and where ids are real."""
    width = max(width, *(len(row) for row in rows))
    ids = torch.tensor([[fill] * (width - len(row)) + list(row) for row in rows])
    lengths = torch.tensor([len(row) for row in rows])
    return ids, torch.arange(width) >= (width - lengths).unsqueeze(1)


def natural_positions(real: Tensor) -> Tensor:
    """Positions that count from each row's first real token; [rows, length], padding gets 1."""
    return (real.long().cumsum(1) - 1).masked_fill(~real, 1)
