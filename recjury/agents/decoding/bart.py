"""BART's decoder, step by step for several rows.

The weights are those of transformers' `BartModel`; going through its layers here keeps keys and
values in place, projects each source once, and scores the last position only.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional
from transformers import BartModel
from transformers.models.bart.modeling_bart import BartAttention

from recjury.agents.decoding.head import Head
from recjury.agents.decoding.memory import KeysValues, Memory, join_heads, split_heads

_OFFSET = 2  # BART's first two position embeddings are not used


class BartSteps:
    """A BART in evaluation mode that continues several contexts; `greedy.Steps`.

    Each source is encoded by itself, without filling: what a row knows of its source is the same
    whoever shares its batch.
    """

    def __init__(
        self,
        model: BartModel,
        head: Tensor,
        sources: Sequence[Sequence[int]],
        *,
        start: int,
        bias: Tensor | None = None,
    ):
        """`head` [vocabulary, width] scores tokens, `start` is the decoder's first token.

        `sources` are the encoder's ids by row; `bias` [rows or 1, vocabulary] is added to the
        scores of every step.
        """
        self._decoder, self._head, self._bias = model.decoder, Head(head), bias
        self._begin, self._device = start, head.device
        with torch.inference_mode():
            self._sources = Memory.side_by_side([self._read(model, ids) for ids in sources])
        self._memory = Memory()
        self._rows = len(sources)

    def first(self) -> Tensor:
        """The scores after the start token."""
        return self.next(torch.full((self._rows,), self._begin, device=self._device))

    def next(self, tokens: Tensor) -> Tensor:
        """The scores after one more token per row."""
        states = self._run(tokens.unsqueeze(1), self._memory, self._sources)
        return self._head(states[:, -1], self._bias)

    def alone(self, row: int, tokens: Sequence[int]) -> Tensor:
        """The scores of one row after `tokens`, computed from nothing but what is that row's."""
        ids = torch.tensor([[self._begin, *tokens]], device=self._device)
        states = self._run(ids, Memory(), self._sources.prefix(row))
        bias = self._bias
        if bias is not None and len(bias) > 1:
            bias = bias[row : row + 1]
        return self._head(states[:, -1], bias)[0]

    def keep(self, rows: Tensor) -> None:
        """Go on with these rows only."""
        self._rows = len(rows)
        self._memory.keep(rows)
        self._sources.keep(rows)
        if self._bias is not None and len(self._bias) > 1:
            self._bias = self._bias[rows]

    def _read(self, model: BartModel, ids: Sequence[int]) -> Memory:
        """One source as each decoder layer sees it."""
        states = model.encoder(torch.tensor([ids], device=self._device)).last_hidden_state
        return Memory([_keys_values(layer.encoder_attn, states) for layer in self._decoder.layers])

    def _run(self, ids: Tensor, memory: Memory, sources: Memory) -> Tensor:
        """States [rows, positions, width] of ids [rows, positions] that follow `memory`."""
        decoder, new = self._decoder, ids.shape[1]
        begin = memory.length + _OFFSET
        positions = decoder.embed_positions.weight[begin : begin + new]
        states: Tensor = decoder.layernorm_embedding(decoder.embed_tokens(ids) + positions)
        mask = memory.mask(new, ids.device)
        for number, layer in enumerate(decoder.layers):
            seen = memory.add(number, *_keys_values(layer.self_attn, states))
            told = _attend(layer.self_attn, states, seen, mask)
            states = layer.self_attn_layer_norm(states + told)
            told = _attend(layer.encoder_attn, states, sources.seen(number), sources.filling)
            states = layer.encoder_attn_layer_norm(states + told)
            inner = layer.fc2(layer.activation_fn(layer.fc1(states)))
            states = layer.final_layer_norm(states + inner)
        memory.advance(new)
        return states


def _keys_values(attention: BartAttention, states: Tensor) -> KeysValues:
    heads = attention.num_heads
    return split_heads(attention.k_proj(states), heads), split_heads(
        attention.v_proj(states), heads
    )


def _attend(
    attention: BartAttention, states: Tensor, seen: KeysValues, mask: Tensor | None
) -> Tensor:
    queries = split_heads(attention.q_proj(states), attention.num_heads)
    found = functional.scaled_dot_product_attention(queries, *seen, attn_mask=mask)
    told: Tensor = attention.out_proj(join_heads(found))
    return told
