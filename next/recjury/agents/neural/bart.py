"""BART reads conversations and writes replies, for KBRD and BARCOR."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


def read(tokens: Any, texts: Sequence[str], longest: int) -> Tensor:
    """[texts, tokens]: ids with the beginning cut off, padded at the end."""
    ids: Tensor = tokens(
        list(texts), truncation=True, max_length=longest, padding=True, return_tensors="pt"
    ).input_ids
    return ids


def written(
    model: Any, tokens: Any, ids: Tensor, longest: int, processors: Any = None
) -> list[str]:
    """The likeliest words one by one; no three words in a row are said twice, or were read.

    `longest` counts the token that every reply begins with.
    """
    found = model.generate(
        ids,
        attention_mask=ids != tokens.pad_token_id,
        num_beams=1,
        do_sample=False,
        min_length=0,
        max_length=longest,
        no_repeat_ngram_size=3,
        encoder_no_repeat_ngram_size=3,
        logits_processor=processors,
    )
    return [tokens.decode(row, skip_special_tokens=True) for row in found]


def word_scores(model: Any, tokens: Any, ids: Tensor, replies: Tensor) -> Tensor:
    """[rows, tokens, vocabulary]: the scores of each token of `replies`, after those before it."""
    start = replies.new_full((len(replies), 1), model.config.decoder_start_token_id)
    before = torch.cat([start, replies[:, :-1]], dim=1)
    found: Tensor = model(
        input_ids=ids, attention_mask=ids != tokens.pad_token_id, decoder_input_ids=before
    ).logits
    return found
