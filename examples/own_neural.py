"""A neural system of one's own: which films were named after which, as one matrix.

`python examples/own_neural.py FOLDER` learns it from the sample; own_neural.yaml compares it.
"""

import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import torch

from recjury.agents.neural import ITEM, NeuralSystem, Said, entity_graph
from recjury.corpora import open_corpus


class Following(NeuralSystem):
    """Recommends what was named most often after the entities of the conversation."""

    def load(self, folder: Path) -> None:
        self.after: torch.Tensor = torch.load(folder / "after.pt", weights_only=True)

    def scores(self, said: Said) -> torch.Tensor:
        entities = list(said.entities) or slice(None)
        return self.after[entities].sum(0)

    def write(self, said: Sequence[Said]) -> list[str]:
        return [f"Have you seen {ITEM}? Or {ITEM}?" for _ in said]


def learn(folder: Path) -> None:
    corpus = open_corpus("sample", split="train")
    graph = entity_graph(corpus)
    column = {ref.id: number for number, ref in enumerate(graph.refs)}
    after = torch.zeros(len(graph), len(graph.items))
    for turns in corpus.dialogues:
        named = dict.fromkeys(ref.id for turn in turns for ref in turn.items)
        for earlier, later in combinations(named, 2):
            after[graph.number_of_item[earlier], column[later]] += 1
    folder.mkdir(parents=True, exist_ok=True)
    graph.write(folder)
    torch.save(after, folder / "after.pt")


if __name__ == "__main__":
    learn(Path(sys.argv[1]))
