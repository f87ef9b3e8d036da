"""BART reads conversations and writes replies, for KBRD and BARCOR."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import BartForConditionalGeneration, LogitsProcessorList

from recjury.agents.neural.files import pretrained, tokenizer
from recjury.agents.neural.said import Said
from recjury.agents.neural.system import NeuralSystem

BART = "facebook/bart-base"


class BartSystem(NeuralSystem):
    """A system whose replies are BART's: the likeliest words, one by one."""

    ranker: Any

    def load(self, folder: Path) -> None:
        """The writer of `conv_model/`, and its tokenizer. Raises UserError."""
        self.writer = pretrained(BartForConditionalGeneration, folder / "conv_model")
        self.writer.to(self.device)
        self.tokens = tokenizer(BART, self.backbones)

    @property
    def modules(self) -> dict[str, nn.Module]:
        """What ranks and what writes, by their places in the folder."""
        return {"rec_model": self.ranker, "conv_model": self.writer}

    def parts(self, said: Said) -> Sequence[str]:
        """The texts that BART reads, one after the other."""
        return list(said.spoken())

    def favours(self, said: Sequence[Said]) -> Tensor | None:  # noqa: ARG002 (KBRD's depend on it)
        """[conversations, vocabulary]: what is added to the scores of each word, if anything."""
        return None

    def read(self, said: Sequence[Said]) -> tuple[Tensor, Tensor]:
        """[conversations, tokens]: ids with the beginning cut off, padded at the end; a mask."""
        texts = [self.tokens.sep_token.join(self.parts(each)) for each in said]
        read = self.tokens(
            texts,
            truncation=True,
            max_length=self.limits.context,
            padding=True,
            return_tensors="pt",
        ).to(self.device)
        return read.input_ids, read.attention_mask

    def write(self, said: Sequence[Said]) -> list[str]:
        """A reply to each; no three words in a row are said twice, or were read."""
        ids, mask = self.read(said)
        favours = self.favours(said)
        more = [] if favours is None else [lambda _, scores: scores + favours]
        found = self.writer.generate(
            ids,
            attention_mask=mask,
            num_beams=1,
            do_sample=False,
            min_length=0,
            max_length=self.limits.reply,  # with the token that every reply begins with
            no_repeat_ngram_size=3,
            encoder_no_repeat_ngram_size=3,
            logits_processor=LogitsProcessorList(more),
        )
        return [self.tokens.decode(row, skip_special_tokens=True) for row in found]

    def word_scores(self, said: Sequence[Said], replies: Tensor) -> Tensor:
        """[conversations, tokens, vocabulary]: the scores of each token of `replies`, after those
        before it.
        """
        ids, mask = self.read(said)
        start = replies.new_full((len(replies), 1), self.writer.config.decoder_start_token_id)
        before = torch.cat([start, replies[:, :-1]], dim=1)
        scores: Tensor = self.writer(ids, attention_mask=mask, decoder_input_ids=before).logits
        favours = self.favours(said)
        return scores if favours is None else scores + favours.unsqueeze(1)
