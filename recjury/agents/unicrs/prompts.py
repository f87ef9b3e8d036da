"""UniCRS's prompt encoder: entities and the text of a conversation become key-value prompts.

Wang et al., 2022, section 4.1. Tensor names and shapes are those of iEvaLM's code. The same module
is used twice, with different weights: for recommending, where each entity becomes one prompt
position, and for replies, where each token of the text does.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from recjury.agents.kbrd.edges import Neighbourhoods
from recjury.agents.kbrd.model import RelationalConvolution

_BLOCKS = 2  # keys and values
KeysValues = list[tuple[Tensor, Tensor]]


@dataclass(frozen=True, kw_only=True)
class PromptDims:
    """The size of a prompt encoder.

    `width`, `layers` and `heads` are GPT-2's, `text_width` is RoBERTa's; `entities` does not
    count the padding entity, which is one more row.
    """

    entities: int
    relations: int
    width: int
    layers: int
    heads: int
    text_width: int
    bases: int = 8


class PromptEncoder(nn.Module):
    """Turns entities and text into the keys and values that precede the text in every GPT-2
    layer."""

    def __init__(self, dims: PromptDims):
        """Make an untrained encoder."""
        super().__init__()
        half = dims.width // 2
        self.heads, self.depth, self.width = dims.heads, dims.layers, dims.width
        self.node_embeds = nn.Parameter(torch.empty(dims.entities + 1, half))
        nn.init.xavier_uniform_(self.node_embeds)
        self.kg_encoder = RelationalConvolution(half, dims.relations, dims.bases)
        self.entity_proj1 = _bottleneck(half)
        self.entity_proj2 = nn.Linear(half, dims.width)
        self.token_proj1 = _bottleneck(dims.text_width)
        self.token_proj2 = nn.Linear(dims.text_width, dims.width)
        self.cross_attn = nn.Linear(dims.width, dims.width, bias=False)
        self.prompt_proj1 = _bottleneck(dims.width)
        self.prompt_proj2 = nn.Linear(dims.width, dims.layers * _BLOCKS * dims.width)

    def nodes(self, edges: Neighbourhoods) -> Tensor:
        """All entities, the padding entity last: [entities + 1, width]."""
        found = self.kg_encoder(self.node_embeds, edges) + self.node_embeds
        projected: Tensor = self.entity_proj2(self.entity_proj1(found) + found)
        return projected

    def for_items(self, entities: Tensor, states: Tensor, text: Tensor | None) -> Tensor:
        """One prompt per entity: [rows, entities, width].

        `entities` [rows, entities, width] are rows of `nodes`, `states` [rows, tokens, text width]
        RoBERTa's. Each entity attends over the tokens; `text` [rows, tokens] is False for padding,
        and with None padding takes part too.
        """
        tokens, scores = self._attention(entities, states)
        if text is not None:
            scores = _masked(scores, text.unsqueeze(2))
        return scores.softmax(1).transpose(1, 2) @ tokens + entities

    def for_reply(self, entities: Tensor, states: Tensor, known: Tensor) -> Tensor:
        """One prompt per token of the text: [rows, tokens, width].

        Shapes as in `for_items`; each token attends over the row's entities; `known` [rows,
        entities] is False for padding.
        """
        tokens, scores = self._attention(entities, states)
        return _masked(scores, known.unsqueeze(1)).softmax(2) @ entities + tokens

    def layers(self, prompts: Tensor) -> KeysValues:
        """Keys and values of each GPT-2 layer, each [rows, heads, positions, width / heads]."""
        rows, positions, _ = prompts.shape
        projected = self.prompt_proj2(self.prompt_proj1(prompts) + prompts)
        shaped = projected.reshape(rows, positions, self.depth, _BLOCKS, self.heads, -1)
        keys, values = shaped.permute(3, 2, 0, 4, 1, 5)
        return list(zip(keys, values, strict=True))

    def _attention(self, entities: Tensor, states: Tensor) -> tuple[Tensor, Tensor]:
        """Projected tokens [rows, tokens, width]; scores of tokens and entities [.., .., ..]."""
        tokens: Tensor = self.token_proj2(self.token_proj1(states) + states)
        # The published code divides by the width, not by its root.
        return tokens, self.cross_attn(tokens) @ entities.transpose(1, 2) / self.width


def _masked(scores: Tensor, kept: Tensor) -> Tensor:
    return scores.masked_fill(~kept, torch.finfo(scores.dtype).min)


def _bottleneck(width: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, width // 2), nn.ReLU(), nn.Linear(width // 2, width))
