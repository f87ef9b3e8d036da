"""UniCRS's prompt encoder: entities and texts become keys and values before GPT-2's own.

Wang et al., 2022, section 4.1. Names and shapes of tensors are those of published weights. It is
used twice, with weights of its own: to recommend, each entity becomes one position of the prompt;
to reply, each token of the text does.
"""

import torch
from torch import Tensor, nn
from transformers import DynamicCache, GPT2Config

from recjury.agents.neural.entities import EntityGraph
from recjury.agents.neural.rgcn import RGCN

_BLOCKS = 2  # keys and values


class PromptEncoder(nn.Module):
    """Makes prompts for a GPT-2 of that shape from entities and from RoBERTa's states."""

    def __init__(self, graph: EntityGraph, gpt2: GPT2Config, text_width: int, *, bases: int = 8):
        """An encoder with random weights; the padding entity is one more row."""
        super().__init__()
        width, half = gpt2.n_embd, gpt2.n_embd // 2
        self.layers, self.heads, self.width = gpt2.n_layer, gpt2.n_head, width
        self.node_embeds = nn.Parameter(torch.empty(len(graph) + 1, half))
        nn.init.xavier_uniform_(self.node_embeds)
        self.kg_encoder = RGCN(graph, half, bases, rows=len(graph) + 1)
        self.entity_proj1 = _bottleneck(half)
        self.entity_proj2 = nn.Linear(half, width)
        self.token_proj1 = _bottleneck(text_width)
        self.token_proj2 = nn.Linear(text_width, width)
        self.cross_attn = nn.Linear(width, width, bias=False)
        self.prompt_proj1 = _bottleneck(width)
        self.prompt_proj2 = nn.Linear(width, gpt2.n_layer * _BLOCKS * width)

    def nodes(self) -> Tensor:
        """[entities + 1, width]: all entities, the padding one last."""
        found = self.kg_encoder(self.node_embeds) + self.node_embeds
        projected: Tensor = self.entity_proj2(self.entity_proj1(found) + found)
        return projected

    def for_items(self, entities: Tensor, states: Tensor, text: Tensor) -> Tensor:
        """[rows, entities, width]: a prompt for each entity, which attends over the tokens.

        `entities` [rows, entities, width] are rows of `nodes`, `states` [rows, tokens, text width]
        RoBERTa's; tokens where `text` [rows, tokens] is False take no part.
        """
        tokens, scores = self._attention(entities, states)
        shares = _masked(scores, text.unsqueeze(2)).softmax(1)
        return shares.transpose(1, 2) @ tokens + entities

    def for_reply(self, entities: Tensor, states: Tensor, known: Tensor) -> Tensor:
        """[rows, tokens, width]: a prompt for each token, which attends over the entities.

        Shapes as in `for_items`; entities where `known` [rows, entities] is False take no part.
        """
        tokens, scores = self._attention(entities, states)
        return _masked(scores, known.unsqueeze(1)).softmax(2) @ entities + tokens

    def cache(self, prompts: Tensor) -> DynamicCache:
        """Keys and values of each layer of GPT-2, as if prompts [rows, positions, width] had been
        read.
        """
        rows, positions, _ = prompts.shape
        projected = self.prompt_proj2(self.prompt_proj1(prompts) + prompts)
        shaped = projected.reshape(rows, positions, self.layers, _BLOCKS, self.heads, -1)
        keys, values = shaped.permute(3, 2, 0, 4, 1, 5)
        cache = DynamicCache()
        for layer, (key, value) in enumerate(zip(keys, values, strict=True)):
            cache.update(key, value, layer)
        return cache

    def _attention(self, entities: Tensor, states: Tensor) -> tuple[Tensor, Tensor]:
        """Projected tokens [rows, tokens, width]; scores [rows, tokens, entities]."""
        tokens: Tensor = self.token_proj2(self.token_proj1(states) + states)
        # The published code divides by the width, and not by its root.
        return tokens, self.cross_attn(tokens) @ entities.transpose(1, 2) / self.width


def _masked(scores: Tensor, kept: Tensor) -> Tensor:
    return scores.masked_fill(~kept, torch.finfo(scores.dtype).min)


def _bottleneck(width: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, width // 2), nn.ReLU(), nn.Linear(width // 2, width))
