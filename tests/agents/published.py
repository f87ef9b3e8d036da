"""Tiny backbones with random weights, in folders as transformers writes published ones."""

from functools import cache
from pathlib import Path

import torch
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BartModel,
    GPT2Config,
    GPT2LMHeadModel,
    RobertaConfig,
    RobertaModel,
)

from recjury.agents.neural.tokens import Family, Tokens
from recjury.corpora import open_corpus

_WIDTH = 16


@cache
def _tokens(family: Family) -> Tokens:
    """A tokenizer without a token for items, like the published ones."""
    examples = open_corpus("sample").examples("train")[:60]
    texts = [text for each in examples for text in (*each.context, each.response)]
    return Tokens.train(texts, family, size=500, extra=())


def write_bart(folder: Path, *, seed: int = 1, head: bool = False, positions: int = 96) -> Path:
    """A BART; with its language model head, or bare, as facebook/bart-base is published."""
    config = BartConfig(
        vocab_size=_tokens("bart").size,
        d_model=_WIDTH,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=_WIDTH,
        decoder_ffn_dim=_WIDTH,
        max_position_embeddings=positions,
        init_std=0.1,
    )
    torch.manual_seed(seed)
    (BartForConditionalGeneration if head else BartModel)(config).save_pretrained(folder)
    _tokens("bart").save(folder)
    return folder


def write_gpt2(folder: Path, *, seed: int = 2, positions: int = 160) -> Path:
    """A GPT-2."""
    config = GPT2Config(
        vocab_size=_tokens("gpt2").size,
        n_positions=positions,
        n_embd=_WIDTH,
        n_layer=2,
        n_head=2,
        bos_token_id=0,
        eos_token_id=0,
    )
    torch.manual_seed(seed)
    GPT2LMHeadModel(config).save_pretrained(folder)
    _tokens("gpt2").save(folder)
    return folder


def write_roberta(folder: Path, *, seed: int = 3, positions: int = 80) -> Path:
    """A RoBERTa."""
    config = RobertaConfig(
        vocab_size=_tokens("bart").size,
        hidden_size=_WIDTH,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=_WIDTH,
        max_position_embeddings=positions,
    )
    torch.manual_seed(seed)
    RobertaModel(config).save_pretrained(folder)
    _tokens("bart").save(folder)
    return folder
