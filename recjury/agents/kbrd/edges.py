"""The knowledge graph as index arrays for a relational graph convolution."""

from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor

from recjury.knowledge import Edge


class Neighbourhoods(NamedTuple):
    """Directed edges, grouped into bags: one bag per (relation, receiving node) with an edge.

    Bags are sorted by relation. `sources` [edges] are sending nodes, bag after bag; `starts` [bags]
    is where each bag begins in it; `per_relation` [relations] counts the bags of each relation.
    `by_node` [bags] lists the bags by receiving node, and `node_starts` [nodes] is where each
    node's bags begin in it, also for a node that receives nothing.
    """

    sources: Tensor
    starts: Tensor
    per_relation: tuple[int, ...]
    by_node: Tensor
    node_starts: Tensor


def neighbourhoods(edges: Iterable[Edge], nodes: int, relations: int) -> Neighbourhoods:
    """Group the graph's edges; they are sorted first, so that their order does not matter."""
    table = torch.tensor(
        sorted((edge.relation, edge.target, edge.source) for edge in edges), dtype=torch.long
    ).reshape(-1, 3)
    keys = table[:, 0] * nodes + table[:, 1]
    bags, sizes = torch.unique_consecutive(keys, return_counts=True)
    receivers = bags % nodes
    return Neighbourhoods(
        sources=table[:, 2].contiguous(),
        starts=_starts(sizes),
        per_relation=tuple(torch.bincount(bags // nodes, minlength=relations).tolist()),
        by_node=torch.argsort(receivers, stable=True),
        node_starts=_starts(torch.bincount(receivers, minlength=nodes)),
    )


def _starts(sizes: Tensor) -> Tensor:
    return sizes.cumsum(0) - sizes
