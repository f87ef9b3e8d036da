"""How well a recommender ranks held-out answers: Recall@k with bootstrap intervals."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from recjury.agents.kbrd.dataset import Instance, Space
from recjury.agents.training.report import Recall
from recjury.errors import DataError
from recjury.stats.clustered import cluster_means

Scores = Callable[[Sequence[Instance]], NDArray[np.float32]]
CUTOFFS = (1, 10, 25, 50)
_BATCH = 512
_RESAMPLES = 2000


def label_ranks(
    scores: Scores, space: Space, instances: Sequence[Instance], *, batch: int = _BATCH
) -> NDArray[np.int64]:
    """The 1-based rank of each instance's label among the items.

    `scores` gives the scores of all entities for some instances: [instances, entities or more]. Of
    items with equal scores, the first in the graph's order has the better rank. A label that is not
    an item gets the rank after the last. Raises DataError for scores of items that are not finite,
    because they cannot be ranked.
    """
    ranks = np.empty(len(instances), dtype=np.int64)
    for start in range(0, len(instances), batch):
        some = instances[start : start + batch]
        for offset, (row, each) in enumerate(zip(scores(some), some, strict=True)):
            found = row[space.items]
            if not np.isfinite(found).all():
                raise DataError("the model gives scores that are not finite numbers")
            ranks[start + offset] = _rank(found, space.columns.get(each.label))
    return ranks


def popularity_ranks(space: Space, instances: Sequence[Instance]) -> NDArray[np.int64]:
    """The ranks if every user gets the most popular items: a baseline for every model."""
    ranks = [_rank(space.popularity, space.columns.get(each.label)) for each in instances]
    return np.array(ranks, dtype=np.int64)


def copying_ranks(space: Space, instances: Sequence[Instance]) -> NDArray[np.int64]:
    """The ranks if the items named last come first, followed by the most popular ones."""
    ranks = []
    for each in instances:
        scores = space.popularity / (1.0 + float(space.popularity.max()))
        for age, entity in enumerate(dict.fromkeys(reversed(each.entities))):
            column = space.columns.get(entity)
            if column is not None:
                scores[column] = 1.0 + 1.0 / (1 + age)
        ranks.append(_rank(scores, space.columns.get(each.label)))
    return np.array(ranks, dtype=np.int64)


def first_and_ten(ranks: NDArray[np.int64]) -> dict[str, float]:
    """Recall@1 and @10, which decide when a recommender's training stops."""
    return {f"recall@{k}": float((ranks <= k).mean()) for k in (1, 10)}


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
    """Recall at each cutoff, with intervals (percentiles of 2,000 resamplings of whole dialogues).

    Labels of one dialogue share their history, so they are resampled together. Empty without
    instances.
    """
    if len(ranks) == 0:
        return ()
    chosen = tuple(cutoffs)
    hits = np.stack([ranks <= k for k in chosen], axis=1).astype(float)
    found = cluster_means(hits, dialogues, resamples=_RESAMPLES, seed=seed)
    return tuple(
        Recall(k=k, value=each.value, low=each.low, high=each.high, n=len(ranks))
        for k, each in zip(chosen, found, strict=True)
    )


def by_group(
    ranks: NDArray[np.int64], instances: Sequence[Instance], trained_dialogues: frozenset[str]
) -> Mapping[str, tuple[Recall, ...]]:
    """Recalls over all instances, and separately for those that are easier for a known reason.

    "seen" dialogues also have turns in the training data. "mentioned" labels already occur in the
    conversation, so that copying finds them.
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
