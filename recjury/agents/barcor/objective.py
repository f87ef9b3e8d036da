"""BARCOR's ranking objective. From scratch, a graph ties the names' embeddings to the classes."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional

from recjury.agents.barcor.model import BarcorRecommender
from recjury.agents.kbrd.dataset import Instance, Space, Splits
from recjury.agents.kbrd.model import RelationalConvolution
from recjury.agents.neural.bart import padded
from recjury.agents.neural.context import prefixed
from recjury.agents.neural.tokens import Tokens
from recjury.agents.training.objectives import Ranking
from recjury.agents.training.recall import Scores

_WORDS = "model.shared.weight"
_ITEMS = "classification_head.out_proj.weight"


class GraphTied(nn.Module):
    """A recommender in which the embeddings of names and the classifier share rows from a graph.

    Entities have features. One relational convolution over the graph, plus the features themselves,
    gives one row for each entity. This row is both the embedding of the token that names the entity
    and the entity's weights in the classifier. So for all entities together, the model learns to
    copy a name and to move from a name to a neighbour. `fold` writes the rows into the recommender.
    """

    def __init__(
        self,
        recommender: BarcorRecommender,
        space: Space,
        names: Mapping[int, int],
        *,
        bases: int = 8,
    ):
        """`names` maps token ids to entity ids."""
        super().__init__()
        width = recommender.classification_head.dense.in_features
        self.recommender = recommender
        self.node_embeds = nn.Parameter(torch.empty(space.entities, width))
        nn.init.xavier_uniform_(self.node_embeds, gain=nn.init.calculate_gain("relu"))
        self.kg_encoder = RelationalConvolution(width, space.relations, bases)
        self._edges = space.edges
        self._tokens = torch.tensor(list(names), dtype=torch.long)
        self._entities = torch.tensor(list(names.values()), dtype=torch.long)

    def rows(self) -> Tensor:
        """[entities, width]."""
        encoded: Tensor = self.kg_encoder(self.node_embeds, self._edges)
        return encoded + self.node_embeds

    def tensors(self) -> dict[str, Tensor]:
        """The recommender's tensors that contain rows."""
        rows = self.rows()
        words = self.recommender.model.shared.weight
        words = words.index_put((self._tokens,), rows[self._entities])
        return {_WORDS: words, _ITEMS: rows}

    def scores(self, tensors: dict[str, Tensor], ids: Tensor) -> Tensor:
        """The scores of all entities for [rows, tokens], with these `tensors`."""
        # Encoder and decoder hold the very module `shared`; tied once, not by every name.
        found: Tensor = functional_call(self.recommender, tensors, (ids,), tie_weights=False)
        return found

    def fold(self) -> BarcorRecommender:
        """The recommender with the rows written into it."""
        with torch.no_grad():
            found = self.tensors()
            self.recommender.model.shared.weight.copy_(found[_WORDS])
            self.recommender.classification_head.out_proj.weight.copy_(found[_ITEMS])
        return self.recommender


class Untied(nn.Module):
    """A recommender without tied rows, trained like `GraphTied`: a published BART can read
    names."""

    def __init__(self, recommender: BarcorRecommender):
        """Train the recommender without a graph."""
        super().__init__()
        self.recommender = recommender

    def tensors(self) -> dict[str, Tensor]:
        """None: all are the recommender's own."""
        return {}

    def scores(self, _tensors: dict[str, Tensor], ids: Tensor) -> Tensor:
        """The scores of all entities for [rows, tokens]."""
        found: Tensor = self.recommender(ids)
        return found

    def fold(self) -> BarcorRecommender:
        """The recommender."""
        return self.recommender


def let_names_through(recommender: BarcorRecommender) -> None:
    """Initialise value projections and the dense layer near the identity, so that they copy names.

    On a small corpus, a model that starts from random matrices hardly learns to carry a name from
    the words to the classes.
    """
    with torch.no_grad():
        for name, module in recommender.named_modules():
            named = name.endswith(("v_proj", "attn.out_proj", "dense"))
            if named and isinstance(module, nn.Linear):
                module.weight += torch.eye(module.in_features)


class BarcorRanking(Ranking):
    """Cross-entropy over all entities; an `Objective` of the training loop."""

    def __init__(
        self,
        model: GraphTied | Untied,
        space: Space,
        parts: Splits,
        tokens: Tokens,
        context: int,
    ):
        """`context` is the largest number of tokens read from a conversation."""
        super().__init__(space, parts.stop)
        self._model, self._tokens, self._context = model, tokens, context
        self._rows = [self._ids(each) for each in parts.train]
        self._labels = torch.tensor([each.label for each in parts.train])

    @property
    def lengths(self) -> Sequence[int]:
        """The number of tokens of each training row."""
        return [len(row) for row in self._rows]

    def loss(self, rows: Sequence[int]) -> Tensor:
        """The mean loss of these rows."""
        ids = padded([self._rows[row] for row in rows])
        scores = self._model.scores(self._model.tensors(), ids)
        return functional.cross_entropy(scores, self._labels[rows])

    def scoring(self) -> Scores:
        """With the rows of the graph, if there is one."""
        tensors = self._model.tensors()

        def scores(some: Sequence[Instance]) -> NDArray[np.float32]:
            ids = padded([self._ids(each) for each in some])
            found: NDArray[np.float32] = self._model.scores(tensors, ids).numpy()
            return found

        return scores

    def _ids(self, instance: Instance) -> list[int]:
        return self._tokens.sentence(prefixed(instance.context, "</s>"), self._context)
