"""The three neural recommenders: `python -m benchmarks.crs_recall --data DIR --json`.

Trains each on a data set (or, with --checkpoints, evaluates the folders there that are named
after systems) and prints Recall@1/10/25/50 on the test split with 95 % intervals (whole dialogues
resampled), by group, beside what needs no training: the most popular items, the items named last
followed by the most popular ones, and the retrieval CRS's list.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.checkpoints import checkpoints_in
from benchmarks.running import run
from recjury.agents import SystemContext
from recjury.agents.kbrd.dataset import ENTITY_LIMIT, Instance, Space, instances, space_of, splits
from recjury.agents.neural.context import Context, EncodedContext
from recjury.agents.retrieval import Retrieval
from recjury.agents.training.recall import (
    CUTOFFS,
    by_group,
    copying_ranks,
    label_ranks,
    popularity_ranks,
)
from recjury.agents.training.report import Recall
from recjury.agents.training.systems import SYSTEMS, TrainingOptions, train
from recjury.corpora import Corpus, open_corpus
from recjury.records import Conversation, Speaker, Turn

Groups = Mapping[str, tuple[Recall, ...]]
Score = Callable[[Sequence[EncodedContext]], NDArray[np.float32]]
_BATCH = 64
_SPEAKERS = (Speaker.USER, Speaker.SYSTEM)


@dataclass(frozen=True)
class Row:
    """One system: figures by group and cutoff as [value, low, high, n], and seconds to train."""

    recall: dict[str, dict[str, list[float]]]
    cpu_seconds: float | None = None
    wall_seconds: float | None = None


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder that holds ievalm/")
    parser.add_argument("--dataset", default="opendialkg")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=[])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checkpoints", type=Path, help="evaluate what is in there, train nothing")
    parser.add_argument("--out", type=Path, help="keep the checkpoints in this folder")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    kept = None
    if options.checkpoints is not None:
        kept = checkpoints_in(options.checkpoints, options.systems)
    corpus = open_corpus(options.dataset, options.data)
    with tempfile.TemporaryDirectory() as temporary:
        rows = floors(corpus)
        for system in kept or options.systems or SYSTEMS:
            if kept is not None:
                rows[system] = evaluated(system, corpus, kept[system])
            else:
                out = (options.out or Path(temporary)) / system
                rows[system] = trained(system, corpus, out, options.seed)
    if options.json:
        print(json.dumps({name: asdict(row) for name, row in rows.items()}, indent=1))
    else:
        for name, row in rows.items():
            print(f"{name}\n{_table(row)}")


def floors(corpus: Corpus) -> dict[str, Row]:
    """What has to be beaten."""
    space, test = space_of(corpus), instances(corpus, "test")
    found = {
        "popularity": popularity_ranks(space, test),
        "copying": copying_ranks(space, test),
        "retrieval": _retrieval_ranks(corpus, test),
    }
    return {name: Row(_plain(_grouped(corpus, ranks, test))) for name, ranks in found.items()}


def _retrieval_ranks(corpus: Corpus, test: Sequence[Instance]) -> NDArray[np.int64]:
    system = Retrieval().prepared(SystemContext(corpus, list_length=max(CUTOFFS)))

    @cache
    def listed(context: tuple[str, ...]) -> list[str | None]:
        said = enumerate(context)
        turns = (Turn(speaker=_SPEAKERS[number % 2], text=text) for number, text in said)
        heard = Conversation(turns=tuple(turn for turn in turns if turn.text.strip()))
        return [item.id for item in asyncio.run(system.respond(heard)).items]

    ranks = []
    for each in test:
        ids, item = listed(each.context), corpus.graph.item_of(each.label)
        ranks.append(1 + ids.index(item) if item in ids else len(ids) + 1)
    return np.array(ranks, dtype=np.int64)


def trained(system: str, corpus: Corpus, out: Path, seed: int) -> Row:
    """Train a system, and its figures."""
    report = train(system, corpus, out, TrainingOptions(seed=seed))
    return Row(_plain(report.test), round(report.cpu_seconds, 1), round(report.wall_seconds, 1))


def evaluated(system: str, corpus: Corpus, folder: Path) -> Row:
    """The figures of a checkpoint folder, through what it recommends with in conversations."""
    space, test = space_of(corpus), instances(corpus, "test")
    start = time.perf_counter()
    score, limit = _scorer(system, corpus, folder, space)

    def scores(some: Sequence[Instance]) -> NDArray[np.float32]:
        recent = [each.entities[-limit:] if limit else () for each in some]
        heard = [
            EncodedContext(Context(each.context, entities), frozenset(), len(each.context))
            for each, entities in zip(some, recent, strict=True)
        ]
        found = np.full((len(some), space.entities), -np.inf, dtype=np.float32)
        found[:, space.items] = score(heard)
        return found

    with torch.inference_mode():
        ranks = label_ranks(scores, space, test, batch=_BATCH)
    return Row(_plain(_grouped(corpus, ranks, test)), wall_seconds=time.perf_counter() - start)


def _scorer(system: str, corpus: Corpus, folder: Path, space: Space) -> tuple[Score, int]:
    """What scores conversations, and how many of their last entities it hears."""
    entities, relations = space.entities, space.relations
    if system == "kbrd":
        from recjury.agents.kbrd import checkpoint as kbrd
        from recjury.agents.kbrd.recommender import KbrdRanker

        loaded = kbrd.load(folder, entities=entities, relations=relations)
        return KbrdRanker(loaded.model, space).scores, ENTITY_LIMIT
    if system == "barcor":
        from recjury.agents.barcor import checkpoint as barcor
        from recjury.agents.barcor.recommender import BarcorRanker

        found = barcor.load(folder, entities=entities)
        ranker = BarcorRanker(found.recommender, found.tokens, found.limits.context, space.items)
        return ranker.scores, found.limits.entities
    from recjury.agents.kbrd.edges import neighbourhoods
    from recjury.agents.unicrs import checkpoint as unicrs
    from recjury.agents.unicrs.recommender import UnicrsSpeaker

    uni = unicrs.load(folder, entities=entities, relations=relations, corpus=corpus.name)
    edges = neighbourhoods(corpus.graph.edges, entities + 1, relations)
    speaker = UnicrsSpeaker(uni.model, uni.texts, edges, items=space.items)
    return speaker.scores, uni.texts.limits.entities


def _grouped(corpus: Corpus, ranks: NDArray[np.int64], test: Sequence[Instance]) -> Groups:
    return by_group(ranks, test, frozenset(each.dialogue for each in splits(corpus).train))


def _plain(groups: Groups) -> dict[str, dict[str, list[float]]]:
    return {
        group: {str(r.k): [*(round(v, 4) for v in (r.value, r.low, r.high)), r.n] for r in found}
        for group, found in groups.items()
    }


def _table(row: Row) -> str:
    return "\n".join(
        f"  {group:24}"
        + "  ".join(f"@{k} {v[0]:.3f} [{v[1]:.3f}, {v[2]:.3f}]" for k, v in found.items())
        for group, found in row.recall.items()
        if found
    )


if __name__ == "__main__":
    run(main)
