"""BART with the tensor names of KBRD's and BARCOR's checkpoints."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from transformers import BartConfig, BartForConditionalGeneration, BartModel, GenerationConfig

START, PAD = 2, 1


def padded(rows: Sequence[Sequence[int]], *, width: int = 0, fill: int = PAD) -> Tensor:
    """Rows of ids as [rows, longest or `width`], filled on the right."""
    width = max(width, *(len(row) for row in rows))
    return torch.tensor([[*row, *[fill] * (width - len(row))] for row in rows])


class BartLanguageModel(nn.Module):
    """BART with a language model head; with `bias_width`, also with KBRD's bias on the vocabulary.

    A user vector [bias_width] is projected to one number per token, which is added to the scores of
    every step (Chen et al., 2019, section 3.3).
    """

    def __init__(self, config: BartConfig, *, bias_width: int | None = None):
        """Make an untrained model."""
        super().__init__()
        self.model = shared_bart(config)
        self.lm_head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.lm_head.weight = self.model.shared.weight
        self.register_buffer("final_logits_bias", torch.zeros(1, config.vocab_size))
        self.rec_proj = None if bias_width is None else nn.Linear(bias_width, config.vocab_size)

    def encode(self, ids: Tensor) -> Tensor:
        """[rows, tokens] padded on the right to the encoder's states [rows, tokens, width]."""
        states: Tensor = self.model.encoder(ids, attention_mask=ids != PAD).last_hidden_state
        return states

    def bias(self, users: Tensor | None) -> Tensor:
        """[rows or 1, vocabulary]: what is added to all scores of a row."""
        fixed: Tensor = self.get_buffer("final_logits_bias")
        if self.rec_proj is None or users is None:
            return fixed
        projected: Tensor = self.rec_proj(users)
        return projected + fixed

    def forward(self, ids: Tensor, decoder_ids: Tensor, users: Tensor | None = None) -> Tensor:
        """Teacher forcing: [rows, decoder tokens, vocabulary].

        `ids` and `decoder_ids` are padded on the right; the latter begin with the start token.
        `users` [rows, bias_width] are KBRD's.
        """
        states = self.model.decoder(
            decoder_ids,
            encoder_hidden_states=self.encode(ids),
            encoder_attention_mask=ids != PAD,
        ).last_hidden_state
        scores: Tensor = self.lm_head(states)
        return scores + self.bias(users).unsqueeze(1)

    def for_generation(self) -> BartForConditionalGeneration:
        """transformers' own class with the same modules, without generation settings.

        It does not include KBRD's bias.
        """
        with torch.device("meta"):  # its initial weights are never used
            found = BartForConditionalGeneration(self.model.config)
        found.model, found.lm_head = self.model, self.lm_head
        found.final_logits_bias = torch.zeros_like(self.get_buffer("final_logits_bias"))
        found.generation_config = GenerationConfig(decoder_start_token_id=START)
        return found.eval()


def shared_bart(config: BartConfig) -> BartModel:
    """BART whose encoder and decoder share their embeddings."""
    model = BartModel(config)
    model.set_input_embeddings(model.shared)
    return model
