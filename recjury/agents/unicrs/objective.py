"""UniCRS's training objectives: ranking items and writing replies, with shared backbones."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from recjury.agents.kbrd.dataset import Instance, Space, Splits
from recjury.agents.kbrd.edges import Neighbourhoods
from recjury.agents.neural.context import Context
from recjury.agents.neural.tokens import END
from recjury.agents.training.objectives import Ranking, Replying
from recjury.agents.training.recall import Scores
from recjury.agents.training.replies import TrainingReply
from recjury.agents.unicrs.model import Batch, Unicrs
from recjury.agents.unicrs.prompts import PromptEncoder
from recjury.agents.unicrs.texts import Texts

_Row = tuple[list[int], int, Context]
"""GPT-2's ids of context and reply, the number of the reply's ids, and the context."""


class UnicrsReplying(Replying[_Row]):
    """The next token of a reply, with the prompts for replies; an `Objective` of the training
    loop."""

    def __init__(
        self,
        model: Unicrs,
        texts: Texts,
        edges: Neighbourhoods,
        train: Sequence[TrainingReply],
        stop: Sequence[TrainingReply],
        *,
        part: str = "generator",
    ):
        """`edges` count the padding entity as a node; reports use the name `part`."""
        self._model, self._texts, self._edges = model, texts, edges
        super().__init__(list(map(self._row, train)), list(map(self._row, stop)), part=part)

    @property
    def lengths(self) -> Sequence[int]:
        """The number of tokens of each training row."""
        return [len(ids) for ids, _, _ in self._train]

    def _row(self, speech: TrainingReply) -> _Row:
        tokens, limits = self._texts.gpt2, self._texts.limits
        reply = tokens.encode(" " + speech.reply)[: limits.response - 1]
        context = Context(speech.context, speech.entities[-limits.entities :])
        ids = [*self._texts.prompted(speech.context), *reply, tokens.id(END)]
        return ids, len(reply) + 1, context

    def mean_loss(self, rows: Sequence[_Row]) -> tuple[Tensor, int]:
        """As of any `Replying`."""
        model = self._model
        batch = _batch(model, self._texts, [r[0] for r in rows], [r[2] for r in rows])
        states = model.run(model.reply_prompts(model.conv.nodes(self._edges), batch), batch)
        length = batch.ids.shape[1]
        sizes = torch.tensor([size for _, size, _ in rows]).unsqueeze(1)
        # Padded on the left: the last `size` tokens are the reply, each predicted one step earlier.
        told = (torch.arange(length) >= length - sizes)[:, 1:]
        scores = model.token_scores(states[:, :-1][told])
        return functional.cross_entropy(scores, batch.ids[:, 1:][told]), int(sizes.sum())


class UnicrsRanking(Ranking):
    """Cross-entropy over all entities, plus a share of the loss of `speaking`; an `Objective`.

    With that share, the backbones stay a language model while they learn to carry entities.
    """

    batch = 64

    def __init__(
        self,
        model: Unicrs,
        texts: Texts,
        space: Space,
        edges: Neighbourhoods,
        parts: Splits,
        *,
        speaking: UnicrsReplying | None = None,
        share: float = 0.0,
    ):
        """`edges` count the padding entity as a node."""
        super().__init__(space, parts.stop)
        self._model, self._texts, self._edges, self._train = model, texts, edges, parts.train
        self._ids = [texts.ids(each.context) for each in parts.train]
        self._labels = torch.tensor([each.label for each in parts.train])
        self._speaking, self._share = speaking, share

    @property
    def lengths(self) -> Sequence[int]:
        """The number of tokens of each training row."""
        return [len(row) for row in self._ids]

    def loss(self, rows: Sequence[int]) -> Tensor:
        """The mean loss of these rows."""
        nodes = self._model.rec.nodes(self._edges)
        scores = self._scores(nodes, [self._train[row] for row in rows])
        loss = functional.cross_entropy(scores, self._labels[rows])
        if self._speaking is not None:
            loss = loss + self._share * self._speaking.loss(rows)
        return loss

    def scoring(self) -> Scores:
        """By the entities and the text."""
        nodes = self._model.rec.nodes(self._edges)

        def scores(some: Sequence[Instance]) -> NDArray[np.float32]:
            found: NDArray[np.float32] = self._scores(nodes, some).numpy()
            return found

        return scores

    def _scores(self, nodes: Tensor, instances: Sequence[Instance]) -> Tensor:
        limit = self._texts.limits.entities
        contexts = [Context(each.context, each.entities[-limit:]) for each in instances]
        rows = [self._texts.ids(each.utterances) for each in contexts]
        return self._model.item_scores(nodes, _batch(self._model, self._texts, rows, contexts))


def let_entities_through(model: Unicrs) -> None:
    """Initialise value projections near the identity, so that attention copies the prompts.

    On a small corpus, a model that starts from random matrices hardly learns to carry an entity to
    its score.
    """
    with torch.no_grad():
        for encoder in (model.rec, model.conv):
            _pass_values(encoder)
            half = encoder.entity_proj2.in_features
            encoder.entity_proj2.weight[:half] += torch.eye(half)
        for block in model.gpt2.h:
            block.attn.c_proj.weight += torch.eye(encoder.width)


def _pass_values(encoder: PromptEncoder) -> None:
    """Add the identity to the part of the prompts' projection that makes the values of each
    layer."""
    shaped = encoder.prompt_proj2.weight.view(encoder.depth, 2, encoder.width, encoder.width)
    shaped[:, 1] += torch.eye(encoder.width)


def frozen(module: nn.Module) -> None:
    """Exclude a module's weights from training."""
    for parameter in module.parameters():
        parameter.requires_grad_(False)


def _batch(
    model: Unicrs, texts: Texts, rows: Sequence[Sequence[int]], contexts: Sequence[Context]
) -> Batch:
    return texts.batch(
        rows, contexts, padding=model.padding, fidelity=model.fidelity, speaking=False
    )
