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
from transformers import BartForConditionalGeneration, BartForSequenceClassification

from recjury.agents.neural.bart import read, word_scores, written
from recjury.agents.neural.files import Backbones, Limits, described, pretrained
from recjury.agents.neural.said import Said
from recjury.agents.neural.system import NeuralSystem

LIMITS = Limits(context=200, entities=0, reply=128)
_SPEAKER = "System:"


class BARCOR(NeuralSystem):
    """BARCOR from a folder with `rec_model/` and `conv_model/`."""

    def load(self, folder: Path) -> None:
        """The two BARTs. Raises UserError."""
        self.limits = described(folder, "barcor", LIMITS)
        entities = len(self.graph)
        self.ranker = pretrained(
            BartForSequenceClassification, folder / "rec_model", num_labels=entities
        ).to(self.device)
        self.writer = pretrained(BartForConditionalGeneration, folder / "conv_model")
        self.writer.to(self.device)
        self.tokens = Backbones(folder, self.backbones).tokenizer("facebook/bart-base")

    def ranked(self, said: Sequence[Said]) -> Tensor:
        """[conversations, entities]: the score of each entity."""
        ids = self.read(said)
        mask = ids != self.tokens.pad_token_id
        states = self.ranker.model(ids, attention_mask=mask).last_hidden_state
        rows = torch.arange(len(ids), device=ids.device)
        found: Tensor = self.ranker.classification_head(states[rows, mask.sum(1) - 1])
        return found

    def write(self, said: Sequence[Said]) -> list[str]:
        """Replies of BART."""
        texts = written(self.writer, self.tokens, self.read(said), self.limits.reply)
        if self.fidelity == "ievalm":
            return [text.lstrip("System;:").strip() for text in texts]
        return [text.removeprefix(_SPEAKER).strip() for text in texts]

    def word_scores(self, said: Sequence[Said], replies: Tensor) -> Tensor:
        """[conversations, tokens, vocabulary]: the scores of each token of `replies`, after those
        before it.
        """
        return word_scores(self.writer, self.tokens, self.read(said), replies)

    def read(self, said: Sequence[Said]) -> Tensor:
        """[conversations, tokens]: the texts after their speakers."""
        texts = [self.tokens.sep_token.join(each.spoken()) for each in said]
        return read(self.tokens, texts, self.limits.context).to(self.device)
