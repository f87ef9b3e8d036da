"""Log-likelihoods of follow-ups under a causal language model on this machine.

It imports torch and transformers: import it late.
"""

import inspect
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from recjury.errors import ConfigError
from recjury.llm.local_generation import load_tokenizer, load_weights
from recjury.llm.local_spec import LocalSpec


class FollowUpModel:
    """A causal model and its tokenizer. Turns are parted by the token that ends a text, as in
    DialoGPT; by a line break if the tokenizer has none.

    `cut` counts dialogues that did not fit into the model and lost their oldest tokens.
    """

    def __init__(self, folder: Path):
        """Load the model, on a GPU if there is one. Raises ConfigError or ProviderError, in one
        line, if the folder has no causal model that can be loaded."""
        spec = LocalSpec(provider="transformers", name=str(folder))
        self._tokenizer = load_tokenizer(spec)
        self._model = load_weights(spec).eval()
        # Without it, models make the logits of every place of the dialogue: gigabytes.
        takes = inspect.signature(self._model.forward).parameters
        self._last_only = {"logits_to_keep": 1} if "logits_to_keep" in takes else {}
        self._room = int(getattr(self._model.config, "max_position_embeddings", 0) or 2**20)
        self.cut = 0

    def log_likelihoods(self, turns: Sequence[str], follow_ups: Sequence[str]) -> list[float]:
        """The mean log-probability of each follow-up's tokens after the dialogue.

        The dialogue is read once, and all follow-ups in one batch after it.
        """
        endings = [self._ids(text) for text in follow_ups]
        longest = max(map(len, endings))
        start = self._fitting(self._dialogue(turns), longest)
        with torch.inference_mode():
            read = self._model(start, use_cache=True, **self._last_only)
            rows, mask = self._padded(endings, longest)
            cache = read.cache
            cache.batch_repeat_interleave(len(endings))
            whole = torch.cat([torch.ones(len(endings), start.shape[1]).to(mask), mask], dim=1)
            after = self._model(rows, cache=cache, attention_mask=whole).logits
            before = read.logits[:, -1:].expand(len(endings), -1, -1)
            logits = torch.cat([before, after[:, :-1]], dim=1)
            scores = torch.log_softmax(logits.float(), dim=-1)
            picked = scores.gather(2, rows.unsqueeze(2)).squeeze(2) * mask
            found: list[float] = (picked.sum(1) / mask.sum(1)).tolist()
        return found

    def _dialogue(self, turns: Sequence[str]) -> list[int]:
        """The tokens of all turns; each turn is followed by the separator."""
        end = self._tokenizer.eos_token_id
        parting = self._ids("\n") if end is None else [int(end)]
        first = [int(end)] if end is not None else []
        return first + [token for turn in turns for token in (*self._ids(turn), *parting)]

    def _fitting(self, tokens: list[int], longest: int) -> Tensor:
        """The dialogue [1, tokens], without its oldest tokens if it does not fit."""
        room = self._room - longest
        if room < 1:
            raise ConfigError(f"the model reads {self._room} tokens: too few for the follow-ups")
        if len(tokens) > room:
            self.cut += 1
            tokens = tokens[-room:]
        return torch.tensor([tokens], device=self._model.device)

    def _padded(self, endings: Sequence[Sequence[int]], longest: int) -> tuple[Tensor, Tensor]:
        rows = torch.zeros(len(endings), longest, dtype=torch.long)
        mask = torch.zeros(len(endings), longest, dtype=torch.long)
        for place, ending in enumerate(endings):
            rows[place, : len(ending)] = torch.tensor(ending)
            mask[place, : len(ending)] = 1
        return rows.to(self._model.device), mask.to(self._model.device)

    def _ids(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False))
