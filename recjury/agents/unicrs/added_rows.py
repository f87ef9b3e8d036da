"""Embeddings of the tokens that UniCRS adds to its frozen backbones.

iEvaLM neither trains nor stores them: each start draws them again with one seed, so they depend on
all random numbers drawn before while the models are built. `drawn_rows` repeats those draws in
their order (compared bit by bit with the reference implementation).
"""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn
from transformers import GPT2Config, RobertaConfig

SEED = 42


class AddedRows(NamedTuple):
    """One row per added token: [tokens, width] of GPT-2, and of RoBERTa."""

    gpt2: Tensor
    text: Tensor


def drawn_rows(
    gpt2: GPT2Config, text: RobertaConfig, *, gpt2_added: int, text_added: int, pooler: bool
) -> AddedRows:
    """The rows that iEvaLM draws for that many added tokens.

    `pooler` says whether RoBERTa's file has the pooler's tensors; if not, they are drawn too.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        _build_gpt2(gpt2)
        of_gpt2 = _resized(gpt2.vocab_size, gpt2_added, gpt2.n_embd, gpt2.initializer_range)
        _build_roberta(text)
        if not pooler:
            torch.empty(text.hidden_size, text.hidden_size).normal_(0, text.initializer_range)
        width = text.hidden_size
        of_text = _resized(text.vocab_size, text_added, width, text.initializer_range)
    return AddedRows(of_gpt2, of_text)


def grown(
    tensors: Mapping[str, Tensor], name: str, rows: Tensor, vocabulary: int
) -> dict[str, Tensor]:
    """The tensors with `rows` appended to the embeddings `name`, if those lack them."""
    found = dict(tensors)
    embeddings = found.get(name)
    if embeddings is not None and embeddings.dim() == 2 and len(embeddings) < vocabulary:
        missing = vocabulary - len(embeddings)
        found[name] = torch.cat([embeddings.float(), rows[:missing]])
    return found


def _resized(vocabulary: int, added: int, width: int, spread: float) -> Tensor:
    """The last rows of the new embeddings, which are drawn when the embeddings are resized."""
    if not added:
        return torch.empty(0, width)
    embeddings = nn.Embedding(vocabulary + added, width)
    return embeddings.weight.data.normal_(0, spread)[vocabulary:].clone()


def _build_gpt2(config: GPT2Config) -> None:
    """Draw the numbers that building GPT-2 draws before its weights are loaded."""
    width, inner = config.n_embd, config.n_inner or 4 * config.n_embd
    nn.Embedding(config.vocab_size, width)
    nn.Embedding(config.n_positions, width)
    for _ in range(config.n_layer):
        for shape in ((width, 3 * width), (width, width), (width, inner), (inner, width)):
            torch.empty(shape).normal_(std=0.02)
    nn.Linear(width, config.vocab_size, bias=False)


def _build_roberta(config: RobertaConfig) -> None:
    """Draw the numbers that building RoBERTa draws; its positions are made twice."""
    width, inner = config.hidden_size, config.intermediate_size
    sizes = (config.vocab_size, config.max_position_embeddings, config.type_vocab_size)
    for size in (*sizes, config.max_position_embeddings):
        nn.Embedding(size, width)
    for _ in range(config.num_hidden_layers):
        for _ in range(4):
            nn.Linear(width, width)
        nn.Linear(width, inner)
        nn.Linear(inner, width)
    nn.Linear(width, width)
