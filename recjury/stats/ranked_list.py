"""Recall, nDCG and reciprocal rank of one ordered list, as trec_eval defines them.

All take `ranks`, the places (from 1) of the relevant items that the list has. A list has no ties:
its order decides. Gains are 0 or 1.
"""

from collections.abc import Sequence
from math import log2


def recall(ranks: Sequence[int], relevant: int, k: int) -> float:
    """The share of the `relevant` items (at least 1) that are among the first k, 0 to 1."""
    return sum(rank <= k for rank in ranks) / relevant


def ndcg(ranks: Sequence[int], relevant: int, k: int) -> float:
    """The gains of the first k, by log2(rank + 1), over those of the best order, 0 to 1.

    Järvelin and Kekäläinen (2002), with the discount of trec_eval.
    """
    best = sum(1 / log2(rank + 1) for rank in range(1, min(relevant, k) + 1))
    return sum(1 / log2(rank + 1) for rank in ranks if rank <= k) / best


def reciprocal_rank(ranks: Sequence[int], relevant: int, k: int) -> float:  # noqa: ARG001
    """1 / the place of the first relevant item among the first k; 0 if none is there."""
    return max((1 / rank for rank in ranks if rank <= k), default=0.0)
