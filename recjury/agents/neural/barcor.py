"""BARCOR (Wang et al., 2022): one BART classifies the conversation by item, one writes the reply.

As iEvaLM-CRS runs it. A conversation is classified by the decoder's state at the last </s>, where
the decoder reads the token before it. "ievalm" cleans a
reply as its chat does: all of the signs S, y, s, t, e, m, ; and : at its beginning are removed.
"corrected" removes the words "System:".
"""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor
from transformers import BartForSequenceClassification

from recjury.agents.neural.bart import BartSystem
from recjury.agents.neural.files import Limits, described, pretrained
from recjury.agents.neural.said import Said

LIMITS = Limits(context=200, entities=0, reply=128)
_SPEAKER = "System:"


class BARCOR(BartSystem):
    """BARCOR from a folder with `rec_model/` and `conv_model/`."""

    def load(self, folder: Path) -> None:
        """The two BARTs. Raises UserError."""
        self.limits = described(folder, "barcor", LIMITS)
        ranker = folder / "rec_model"
        self.ranker = pretrained(
            BartForSequenceClassification, ranker, num_labels=len(self.graph)
        ).to(self.device)
        super().load(folder)

    def ranked(self, said: Sequence[Said]) -> Tensor:
        """[conversations, entities]: the score of each entity."""
        ids, mask = self.read(said)
        states = self.ranker.model(ids, attention_mask=mask).last_hidden_state
        rows = torch.arange(len(ids), device=ids.device)
        found: Tensor = self.ranker.classification_head(states[rows, mask.sum(1) - 1])
        return found

    def write(self, said: Sequence[Said]) -> list[str]:
        """Replies of BART, without the words before them."""
        if self.fidelity == "ievalm":
            return [text.lstrip("System;:").strip() for text in super().write(said)]
        return [text.removeprefix(_SPEAKER).strip() for text in super().write(said)]
