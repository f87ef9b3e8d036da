"""GPT-2 behind prompts of keys and values, step by step for several rows.

The weights are those of transformers' `GPT2Model`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional
from transformers import GPT2Model

from recjury.agents.decoding.head import Head
from recjury.agents.decoding.memory import KeysValues, Memory, join_heads, split_heads


@dataclass(frozen=True)
class Prefix:
    """What one row begins with: ids, the position of the first, and prompts before them.

    `prompts` are keys and values by layer, [heads, prompt positions, width of a head]; all ids
    see them, and they take up no position.
    """

    ids: Sequence[int]
    position: int = 0
    prompts: Sequence[KeysValues] = ()


class Gpt2Steps:
    """A GPT-2 in evaluation mode that continues several prefixes; `greedy.Steps`.

    Each prefix is read by itself, without filling: what a row knows of it is the same whoever
    shares its batch.
    """

    def __init__(self, model: GPT2Model, prefixes: Sequence[Prefix]):
        """Read the prefixes. Scores come from the token embeddings, as in all GPT-2s."""
        self._model, self._head = model, Head(model.wte.weight)
        memories, last = [], []
        with torch.inference_mode():
            for prefix in prefixes:
                prompts = [
                    (keys.unsqueeze(0), values.unsqueeze(0)) for keys, values in prefix.prompts
                ]
                memories.append(Memory(prompts))
                last.append(self._go_on(prefix.ids, prefix.position, memories[-1]))
            self._memory = Memory.side_by_side(memories)
            self._last = torch.cat(last)
        positions = [prefix.position + len(prefix.ids) for prefix in prefixes]
        self._ends = torch.tensor(positions, device=self._head.weight.device)
        self._taken = 0

    def first(self) -> Tensor:
        """The scores after the prefixes."""
        return self._head(self._last)

    def next(self, tokens: Tensor) -> Tensor:
        """The scores after one more token per row."""
        positions = (self._ends + self._taken).unsqueeze(1)
        self._taken += 1
        states = self._run(tokens.unsqueeze(1), positions, self._memory)
        return self._head(states[:, -1])

    def alone(self, row: int, tokens: Sequence[int]) -> Tensor:
        """The scores of one row after `tokens`, computed from nothing but what is that row's."""
        last = self._last[row : row + 1]
        if tokens:
            last = self._go_on(tokens, int(self._ends[row]), self._memory.prefix(row))
        return self._head(last)[0]

    def keep(self, rows: Tensor) -> None:
        """Go on with these rows only."""
        self._memory.keep(rows)
        self._last, self._ends = self._last[rows], self._ends[rows]

    def _go_on(self, ids: Sequence[int], position: int, memory: Memory) -> Tensor:
        """The state [1, width] behind the ids of one row, which begin at `position`."""
        device = self._head.weight.device
        positions = torch.arange(position, position + len(ids), device=device)
        return self._run(torch.tensor([ids], device=device), positions, memory)[:, -1]

    def _run(self, ids: Tensor, positions: Tensor, memory: Memory) -> Tensor:
        """States [rows, positions, width] of ids [rows, positions] that follow `memory`."""
        states = self._model.wte(ids) + self._model.wpe(positions)
        mask = memory.mask(ids.shape[1], ids.device)
        for number, block in enumerate(self._model.h):
            attention = block.attn
            joint = attention.c_attn(block.ln_1(states)).split(attention.embed_dim, dim=2)
            queries, keys, values = (split_heads(each, attention.num_heads) for each in joint)
            seen = memory.add(number, keys, values)
            found = functional.scaled_dot_product_attention(
                queries, *seen, attn_mask=mask, scale=attention.scaling
            )
            states = states + attention.c_proj(join_heads(found))
            states = states + block.mlp(block.ln_2(states))
        memory.advance(ids.shape[1])
        found_states: Tensor = self._model.ln_f(states)
        return found_states
