"""BARCOR's recommender (Wang et al., 2022): a BART that classifies conversations by item."""

import torch
from torch import Tensor, nn
from transformers import BartConfig

from recjury.agents.neural.bart import PAD, START, shared_bart


class BarcorRecommender(nn.Module):
    """BART, and a classifier over the entities that reads one state of the decoder."""

    def __init__(self, config: BartConfig, entities: int):
        """Make an untrained model that scores `entities` entities."""
        super().__init__()
        self.model = shared_bart(config)
        self.classification_head = _Head(config, entities)
        start = config.decoder_start_token_id
        self._start = START if start is None else int(start)

    def vectors(self, ids: Tensor) -> Tensor:
        """[rows, tokens] padded on the right to one vector per row, [rows, width].

        The decoder reads the same ids, shifted right by one after the start token. The vector is
        the decoder's state at the position of the last token, where it has read all tokens but the
        last. The published code does the same: it looks for the end token in the ids before the
        shift.
        """
        moved = ids.roll(1, dims=1)
        moved[:, 0] = self._start
        mask = ids != PAD
        states = self.model(
            input_ids=ids, attention_mask=mask, decoder_input_ids=moved, use_cache=False
        ).last_hidden_state
        found: Tensor = states[torch.arange(len(ids), device=ids.device), mask.sum(1) - 1]
        return found

    def forward(self, ids: Tensor) -> Tensor:
        """[rows, tokens] padded on the right to the scores of all entities [rows, entities]."""
        scores: Tensor = self.classification_head(self.vectors(ids))
        return scores


class _Head(nn.Module):
    """Dropout, dense, tanh, dropout, projection: BART's classification head."""

    def __init__(self, config: BartConfig, labels: int):
        super().__init__()
        self.dense = nn.Linear(config.d_model, config.d_model)
        self.dropout = nn.Dropout(config.classifier_dropout or 0.0)
        self.out_proj = nn.Linear(config.d_model, labels)
        for layer in (self.dense, self.out_proj):
            nn.init.normal_(layer.weight, std=config.init_std)
            nn.init.zeros_(layer.bias)

    def forward(self, vectors: Tensor) -> Tensor:
        hidden = torch.tanh(self.dense(self.dropout(vectors)))
        scores: Tensor = self.out_proj(self.dropout(hidden))
        return scores
