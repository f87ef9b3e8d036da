"""The objective of KBRD's and BARCOR's generators: the next token of a reply."""

import math
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor
from torch.nn import functional

from recjury.agents.neural.bart import PAD, START, BartLanguageModel, padded
from recjury.agents.neural.bart_config import END
from recjury.agents.neural.tokens import Tokens
from recjury.agents.training.replies import TrainingReply

Users = Callable[[Sequence[TrainingReply]], Tensor]
_NEVER = -100.0
_BATCH = 64


class BartReplying:
    """Cross-entropy per token; an `Objective` of the training loop.

    Tokens that occur in no reply are never generated: their `final_logits_bias` is set very low,
    and the loss is taken over the other tokens.
    """

    part = "generator"

    def __init__(
        self,
        model: BartLanguageModel,
        tokens: Tokens,
        train: Sequence[TrainingReply],
        stop: Sequence[TrainingReply],
        *,
        text: Callable[[Sequence[str], str], str],
        context: int,
        response: int,
        users: Users | None = None,
    ):
        """`text` joins utterances; `context` and `response` are the largest numbers of tokens of
        both.

        `users` gives KBRD's vectors [rows, width].
        """
        self._model, self._tokens, self._users = model, tokens, users
        self._train, self._stop = list(train), list(stop) or list(train)
        self._text, self._context, self._response = text, context, response
        self._sources = [self._source(each) for each in self._train]
        self._replies = [self._reply(each) for each in self._train]
        self._said = torch.tensor(sorted({END, *(i for row in self._replies for i in row)}))
        self._place = torch.full((tokens.size,), -100).scatter(
            0, self._said, torch.arange(len(self._said))
        )
        model.get_buffer("final_logits_bias").fill_(_NEVER).index_fill_(1, self._said, 0.0)

    @property
    def lengths(self) -> Sequence[int]:
        """The number of tokens of each training row."""
        return [len(row) for row in self._sources]

    def loss(self, rows: Sequence[int]) -> Tensor:
        """The mean loss of these rows."""
        return self._mean_loss(
            [self._train[row] for row in rows],
            [self._sources[row] for row in rows],
            [self._replies[row] for row in rows],
        )

    def figures(self) -> Mapping[str, float]:
        """The perplexity per token of the replies that decide when to stop."""
        total, count = 0.0, 0
        for start in range(0, len(self._stop), _BATCH):
            some = self._stop[start : start + _BATCH]
            replies = [self._reply(each) for each in some]
            loss = self._mean_loss(some, [self._source(each) for each in some], replies)
            size = sum(map(len, replies))
            total, count = total + float(loss) * size, count + size
        return {"perplexity": math.exp(min(total / max(1, count), 20.0))}

    def quality(self, figures: Mapping[str, float]) -> float:
        """Lower perplexity is better."""
        return -figures["perplexity"]

    def _mean_loss(
        self,
        speeches: Sequence[TrainingReply],
        sources: Sequence[Sequence[int]],
        replies: Sequence[Sequence[int]],
    ) -> Tensor:
        """The mean loss per token; tokens that must not be generated are not counted."""
        model, targets = self._model, padded(replies)
        begun = targets.roll(1, dims=1)
        begun[:, 0] = START
        ids = padded(sources)
        states = model.model.decoder(
            begun, encoder_hidden_states=model.encode(ids), encoder_attention_mask=ids != PAD
        ).last_hidden_state
        told = targets != PAD
        scores = functional.linear(states, model.lm_head.weight[self._said])
        if self._users is not None:
            scores = scores + model.bias(self._users(speeches))[:, self._said].unsqueeze(1)
        return functional.cross_entropy(scores[told], self._place[targets[told]])

    def _source(self, speech: TrainingReply) -> list[int]:
        return self._tokens.sentence(self._text(speech.context, "</s>"), self._context)

    def _reply(self, speech: TrainingReply) -> list[int]:
        return [*self._tokens.encode(speech.reply)[: self._response - 2], END]
