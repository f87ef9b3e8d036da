"""How well a recommender ranks held-out answers: Recall@k with bootstrap intervals."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recjury.agents.kbrd.dataset import Instance, Space
from recjury.records import Record

if TYPE_CHECKING:
    from recjury.agents.kbrd.model import KbrdModel

CUTOFFS = (1, 10, 25, 50)
_BATCH = 512
_RESAMPLES = 2000


class Recall(Record):
    """Recall at one cutoff: the share of `n` labels in the first `k`, with a 95 % interval."""

    k: int
    value: float
    low: float
    high: float
    n: int


def label_ranks(
    model: "KbrdModel", space: Space, instances: Sequence[Instance]
) -> NDArray[np.int64]:
    """The 1-based rank of each instance's label among the items.

    Among equal scores the item that comes first in the graph's order wins. A label that is no
    item gets the rank after the last. Users without a known entity are ranked by popularity.
    """
    import torch

    ranks = np.empty(len(instances), dtype=np.int64)
    with torch.inference_mode():
        nodes = model.nodes(space.edges)
        for start in range(0, len(instances), _BATCH):
            batch = instances[start : start + _BATCH]
            scores = model.scores(nodes, [each.entities for each in batch]).numpy()
            for offset, instance in enumerate(batch):
                row = scores[offset, space.items] if instance.entities else space.popularity
                ranks[start + offset] = _rank(row, space.columns.get(instance.label))
    return ranks


def popularity_ranks(space: Space, instances: Sequence[Instance]) -> NDArray[np.int64]:
    """The ranks when every user gets the most popular items: what a model has to beat."""
    ranks = [_rank(space.popularity, space.columns.get(each.label)) for each in instances]
    return np.array(ranks, dtype=np.int64)


def _rank(scores: NDArray[np.float32], column: int | None) -> int:
    if column is None:
        return len(scores) + 1
    own = scores[column]
    return 1 + int((scores > own).sum()) + int((scores[:column] == own).sum())


def recalls(
    ranks: NDArray[np.int64],
    dialogues: Sequence[str],
    cutoffs: Iterable[int] = CUTOFFS,
    *,
    seed: int = 0,
) -> tuple[Recall, ...]:
    """Recall at each cutoff; intervals by resampling whole dialogues (percentiles of 2,000).

    Labels of one dialogue share their history, so they are drawn together. Empty without
    any instance.
    """
    if len(ranks) == 0:
        return ()
    _, groups = np.unique(np.asarray(dialogues), return_inverse=True)
    count = int(groups.max()) + 1
    draws = np.random.default_rng(seed).multinomial(count, [1 / count] * count, _RESAMPLES)
    sizes = np.bincount(groups, minlength=count)
    found = []
    for k in cutoffs:
        hits = np.bincount(groups, weights=ranks <= k, minlength=count)
        low, high = np.percentile((draws @ hits) / (draws @ sizes), (2.5, 97.5))
        value = float((ranks <= k).mean())
        found.append(Recall(k=k, value=value, low=float(low), high=float(high), n=len(ranks)))
    return tuple(found)


def by_group(
    ranks: NDArray[np.int64], instances: Sequence[Instance], trained_dialogues: frozenset[str]
) -> Mapping[str, tuple[Recall, ...]]:
    """Recalls over all instances, and apart for those that are easier for a known reason.

    "seen" dialogues also have turns that were trained on; "mentioned" labels already occur in
    the conversation, so that copying finds them.
    """
    seen = np.array([each.dialogue in trained_dialogues for each in instances], dtype=bool)
    mentioned = np.array([each.mentioned for each in instances], dtype=bool)
    everything = np.ones(len(instances), dtype=bool)
    masks = {
        "all": everything,
        "seen": seen,
        "unseen": ~seen,
        "mentioned": mentioned,
        "not mentioned": ~mentioned,
        "unseen, not mentioned": ~seen & ~mentioned,
    }
    dialogues = np.array([each.dialogue for each in instances])
    return {name: recalls(ranks[mask], dialogues[mask].tolist()) for name, mask in masks.items()}
