"""KBRD trained and evaluated: `python -m benchmarks.kbrd_recall --data DIR --json`.

Trains the recommender on each data set named, and prints Recall@1/10/25/50 on its test split
with 95 % intervals (whole dialogues resampled), by group, beside always recommending the most
popular items and beside the retrieval CRS on the same labels.
"""

import argparse
import asyncio
import json
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.running import run
from recjury.agents import SystemContext
from recjury.agents.kbrd.dataset import Instance, splits
from recjury.agents.kbrd.training import KbrdHyperparameters, train_kbrd
from recjury.agents.retrieval import Retrieval
from recjury.agents.training.recall import CUTOFFS, by_group
from recjury.agents.training.report import Recall, TrainingReport
from recjury.corpora import Corpus, TrainingExample, open_corpus
from recjury.records import Conversation, Speaker, Turn

Groups = dict[str, dict[str, list[float]]]


@dataclass(frozen=True)
class Trained:
    """One training run: its figures, and what it took."""

    recall: Groups
    train: tuple[int, str]
    stop: tuple[int, str]
    epochs: int
    best_epoch: int
    wall_seconds: float
    cpu_seconds: float


@dataclass(frozen=True)
class Compared:
    """KBRD by seed, and what it is held against."""

    kbrd: dict[str, Trained]
    popularity: Groups
    retrieval: Groups


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder that holds ievalm/")
    parser.add_argument("--datasets", nargs="+", default=["opendialkg"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--out", type=Path, help="keep the checkpoints in this folder")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        results = {
            dataset: _dataset(dataset, options.data, options.seeds, options.out or Path(temporary))
            for dataset in options.datasets
        }
    if options.json:
        print(json.dumps({name: asdict(found) for name, found in results.items()}, indent=1))
    else:
        for dataset, found in results.items():
            for seed, figures in found.kbrd.items():
                print(f"{dataset} kbrd seed {seed}: {figures.cpu_seconds} s of one processor")
                print(_table(figures.recall))
            print(f"{dataset} retrieval\n{_table(found.retrieval)}")
            print(f"{dataset} popularity\n{_table(found.popularity)}")


def _dataset(dataset: str, data: Path | None, seeds: list[int], out: Path) -> Compared:
    corpus = open_corpus(dataset, data)
    chosen = KbrdHyperparameters.suited_to(len(splits(corpus).train)).without_generator()
    reports = [
        train_kbrd(corpus, out / f"{dataset}-{seed}", seed=seed, hyperparameters=chosen)
        for seed in seeds
    ]
    return Compared(
        kbrd={str(report.seed): _trained(report) for report in reports},
        popularity=_plain(reports[0].floors["popularity"]),
        retrieval=_plain(_retrieval(corpus)),
    )


def _trained(report: TrainingReport) -> Trained:
    part = report.parts[0]
    return Trained(
        recall=_plain(report.test),
        train=(part.train_instances, report.trained_on),
        stop=(part.stop_instances, report.stopped_on),
        epochs=len(part.epochs),
        best_epoch=part.best_epoch,
        wall_seconds=round(report.wall_seconds, 1),
        cpu_seconds=round(part.cpu_seconds, 1),
    )


def _plain(groups: dict[str, tuple[Recall, ...]]) -> Groups:
    """Per group and cutoff: value, low, high, n."""
    return {
        group: {
            str(each.k): [*(round(v, 4) for v in (each.value, each.low, each.high)), each.n]
            for each in found
        }
        for group, found in groups.items()
    }


def _retrieval(corpus: Corpus) -> dict[str, tuple[Recall, ...]]:
    """The retrieval CRS's list for each test example, on KBRD's labels; it trains on nothing."""
    system = Retrieval().prepared(SystemContext(corpus, list_length=max(CUTOFFS)))
    found: list[Instance] = []
    ranks: list[int] = []
    for example in corpus.examples("test"):
        ids = _listed(system, example)
        for target in example.targets:
            label = corpus.graph.entity(target)
            if label is None:
                continue
            item = corpus.graph.item_of(label)
            ranks.append(1 + ids.index(item) if item in ids else len(ids) + 1)
            mentioned = target in example.entities
            found.append(Instance(example.dialogue, (), label, mentioned))
    trained = corpus.examples("train") if "train" in corpus.splits else []
    table: NDArray[np.int64] = np.array(ranks, dtype=np.int64)
    return dict(by_group(table, found, frozenset(each.dialogue for each in trained)))


def _listed(system: Retrieval, example: TrainingExample) -> list[str | None]:
    speakers = (Speaker.USER, Speaker.SYSTEM)
    turns = (
        Turn(speaker=speakers[number % 2], text=text) for number, text in enumerate(example.context)
    )
    conversation = Conversation(turns=tuple(turn for turn in turns if turn.text.strip()))
    return [item.id for item in asyncio.run(system.respond(conversation)).items]


def _table(groups: Groups) -> str:
    return "\n".join(
        f"  {group:24}"
        + "  ".join(f"@{k} {v[0]:.3f} [{v[1]:.3f}, {v[2]:.3f}]" for k, v in found.items())
        for group, found in groups.items()
        if found
    )


if __name__ == "__main__":
    run(main)
