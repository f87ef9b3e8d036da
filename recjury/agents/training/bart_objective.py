"""The objective of KBRD's and BARCOR's generators: the next token of a reply."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from recjury.agents.neural.bart import PAD, START, BartLanguageModel, padded
from recjury.agents.neural.bart_config import END
from recjury.agents.training.bart_start import BartStart
from recjury.agents.training.objectives import Replying
from recjury.agents.training.replies import TrainingReply

Users = Callable[[Sequence[TrainingReply]], Tensor]
_NEVER = -100.0


class _Row(NamedTuple):
    """A reply to learn, and the ids of the context and of the reply."""

    speech: TrainingReply
    source: list[int]
    reply: list[int]


class BartReplying(Replying[_Row]):
    """Cross-entropy per token; an `Objective` of the training loop.

    Tokens that occur in no reply are never generated: their `final_logits_bias` is set very low,
    and the loss is taken over the other tokens.
    """

    def __init__(
        self,
        model: BartLanguageModel,
        start: BartStart,
        train: Sequence[TrainingReply],
        stop: Sequence[TrainingReply],
        *,
        text: Callable[[Sequence[str], str], str],
        users: Users | None = None,
    ):
        """`text` joins utterances; `users` gives KBRD's vectors [rows, width]."""
        tokens, limits = start.tokens, start.limits

        def row(speech: TrainingReply) -> _Row:
            source = tokens.sentence(text(speech.context, "</s>"), limits.context)
            reply = tokens.encode(speech.reply)[: limits.response - 2]
            return _Row(speech, source, [*reply, END])

        super().__init__(list(map(row, start.replies(train))), list(map(row, start.replies(stop))))
        self._model, self._users = model, users
        said = {END, *(id_ for each in self._train for id_ in each.reply)}
        self._said = torch.tensor(sorted(said))
        self._place = torch.full((tokens.size,), -100).scatter(
            0, self._said, torch.arange(len(self._said))
        )
        model.get_buffer("final_logits_bias").fill_(_NEVER).index_fill_(1, self._said, 0.0)

    @property
    def lengths(self) -> Sequence[int]:
        """The number of tokens of each training row."""
        return [len(row.source) for row in self._train]

    def mean_loss(self, rows: Sequence[_Row]) -> tuple[Tensor, int]:
        """As of any `Replying`; tokens that must not be generated are not counted."""
        model, targets = self._model, padded([row.reply for row in rows])
        begun = targets.roll(1, dims=1)
        begun[:, 0] = START
        ids = padded([row.source for row in rows])
        states = model.model.decoder(
            begun, encoder_hidden_states=model.encode(ids), encoder_attention_mask=ids != PAD
        ).last_hidden_state
        told = targets != PAD
        scores = functional.linear(states, model.lm_head.weight[self._said])
        if self._users is not None:
            users = self._users([row.speech for row in rows])
            scores = scores + model.bias(users)[:, self._said].unsqueeze(1)
        loss = functional.cross_entropy(scores[told], self._place[targets[told]])
        return loss, sum(len(row.reply) for row in rows)
