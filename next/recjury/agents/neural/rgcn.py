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

    def __init__(self, width: int, relations: int, bases: int):
        """A layer from `width` to `width` features."""
        super().__init__()
        self.weight = nn.Parameter(torch.empty(bases, width, width))
        self.comp = nn.Parameter(torch.empty(relations, bases))
        self.root = nn.Parameter(torch.empty(width, width))
        self.bias = nn.Parameter(torch.zeros(width))
        for matrix in (*self.weight, self.comp, self.root):
            nn.init.xavier_uniform_(matrix)

    def forward(self, features: Tensor, means: list[Tensor]) -> Tensor:
        """[entities, width] to [entities, width]; `means` are those of `neighbour_means`."""
        found = features @ self.root + self.bias
        weights = torch.einsum("rb,bio->rio", self.comp, self.weight)
        for mean, weight in zip(means, weights, strict=True):
            found = found + torch.sparse.mm(mean, features) @ weight
        return found


def neighbour_means(graph: EntityGraph, *, rows: int, device: str) -> list[Tensor]:
    """For each relation a sparse matrix [rows, rows] that averages over incoming neighbours."""
    found = []
    for kind in range(len(graph.relations)):
        sources, targets = graph.ends[:, graph.kinds == kind]
        shares = 1 / np.bincount(targets, minlength=1)[targets].astype(np.float32)
        ends = torch.from_numpy(np.stack([targets, sources]))
        matrix = torch.sparse_coo_tensor(
            ends, torch.from_numpy(shares), (rows, rows), check_invariants=False
        )
        found.append(matrix.coalesce().to(device))
    return found
