"""The relational graph convolution that encodes a knowledge graph (Schlichtkrull et al., 2018)."""

import numpy as np
import torch
from torch import Tensor, nn

from recjury.agents.neural.entities import EntityGraph


class RGCN(nn.Module):
    """One layer with basis decomposition.

    out_i = x_i root + bias + sum over relations r of mean_{j -r-> i}(x_j) W_r, with W_r = sum_b
    comp[r, b] weight[b]. A relation without a neighbour adds nothing. Names and shapes of tensors
    are those of published weights.
    """

    def __init__(self, graph: EntityGraph, width: int, bases: int, *, rows: int):
        """A layer over `rows` entities, from `width` to `width` features."""
        super().__init__()
        self.weight = nn.Parameter(torch.empty(bases, width, width))
        self.comp = nn.Parameter(torch.empty(len(graph.relations), bases))
        self.root = nn.Parameter(torch.empty(width, width))
        self.bias = nn.Parameter(torch.zeros(width))
        for matrix in (*self.weight, self.comp, self.root):
            nn.init.xavier_uniform_(matrix)
        for kind in range(len(graph.relations)):
            self.register_buffer(f"means{kind}", _means(graph, kind, rows), persistent=False)

    def forward(self, features: Tensor) -> Tensor:
        """[entities, width] to [entities, width]."""
        found = features @ self.root + self.bias
        weights = torch.einsum("rb,bio->rio", self.comp, self.weight)
        for means, weight in zip(self.buffers(), weights, strict=True):
            found = found + torch.sparse.mm(means, features) @ weight
        return found


def _means(graph: EntityGraph, kind: int, rows: int) -> Tensor:
    """[rows, rows]: for each entity the mean over its incoming neighbours by a relation."""
    sources, targets = graph.ends[:, graph.kinds == kind]
    shares = 1 / np.bincount(targets, minlength=1)[targets].astype(np.float32)
    ends = torch.from_numpy(np.stack([targets, sources]))
    return torch.sparse_coo_tensor(
        ends, torch.from_numpy(shares), (rows, rows), check_invariants=False
    ).coalesce()
