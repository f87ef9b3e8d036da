"""KBRD (Chen et al., 2019): a user is the entities that were named, encoded by their graph.

"ievalm" repeats iEvaLM-CRS's inference: its softmax over entities runs over an axis of size one, so
a user is the plain sum of the entities, with repeats. "corrected" attends over them, as the paper's
section 3.2 does. In both, a vector of the user biases each word of the reply (section 3.3).
"""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from recjury.agents.neural.bart import BartSystem
from recjury.agents.neural.entities import EntityGraph
from recjury.agents.neural.files import TENSORS, Limits, described, file_of, fill, read_tensors
from recjury.agents.neural.rgcn import RGCN
from recjury.agents.neural.said import Fidelity, Said

LIMITS = Limits(context=200, entities=32, reply=128)


class KBRD(BartSystem):
    """KBRD from a folder with `rec_model/model.pt` and `conv_model/`."""

    def load(self, folder: Path) -> None:
        """The recommender, and BART with the bias. Raises UserError."""
        self.limits = described(folder, "kbrd", LIMITS)
        path = file_of(folder / "rec_model", "model.pt")
        tensors = read_tensors(path)
        bases, width = tensors.get("kg_encoder.weight", torch.empty(8, 128)).shape[:2]
        self.ranker = KbrdModel(self.graph, width=width, bases=bases)
        fill(self.ranker.to(self.device), tensors, path)
        super().load(folder)
        path = file_of(folder / "conv_model", *TENSORS)
        bias = {name.removeprefix("rec_proj."): t for name, t in read_tensors(path).items()}
        self.writer.rec_proj = nn.Linear(width, self.writer.config.vocab_size)
        fill(self.writer.rec_proj.to(self.device), bias, path)
        self.encode()

    def encode(self) -> None:
        """Encode the graph: once for weights that do not change."""
        self.nodes = self.ranker.nodes()

    def users(self, said: Sequence[Said]) -> Tensor:
        """[conversations, width]: the user of each conversation; zero without an entity."""
        users = [self.ranker.user(self.nodes, each.entities, self.fidelity) for each in said]
        return torch.stack(users)

    def ranked(self, said: Sequence[Said]) -> Tensor:
        """[conversations, entities + 1]: the score of each entity, the padding one last."""
        found: Tensor = self.users(said) @ self.nodes.T
        return found

    def scores(self, said: Said) -> Tensor:
        """[items]; by popularity as long as no entity is named."""
        if not said.entities:
            return self.popularity
        return super().scores(said)

    def parts(self, said: Said) -> Sequence[str]:
        """All texts, also empty ones, without their speakers."""
        return said.texts

    def favours(self, said: Sequence[Said]) -> Tensor:
        """[conversations, vocabulary]: the bias of each word by the user."""
        found: Tensor = self.writer.rec_proj(self.users(said))
        return found


class KbrdModel(nn.Module):
    """The encoder of the graph and the attention. Tensors are named as in published weights."""

    def __init__(self, graph: EntityGraph, *, width: int, bases: int = 8):
        """A model with random weights."""
        super().__init__()
        self.node_embeds = nn.Parameter(torch.empty(len(graph), width))
        nn.init.xavier_uniform_(self.node_embeds, gain=nn.init.calculate_gain("relu"))
        self.special_token_embeddings = nn.Parameter(torch.zeros(1, width), requires_grad=False)
        self.kg_encoder = RGCN(graph, width, bases, rows=len(graph))
        self.attn = nn.ModuleDict(
            {"attn": nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))}
        )

    def nodes(self) -> Tensor:
        """[entities + 1, width]: the encoded entities, the padding one last."""
        encoded = self.kg_encoder(self.node_embeds)
        return torch.cat([encoded, self.special_token_embeddings])

    def user(self, nodes: Tensor, entities: Sequence[int], fidelity: Fidelity) -> Tensor:
        """[width]: some entities as one vector."""
        named = nodes[list(entities)]
        if fidelity == "ievalm" or not entities:
            return named.sum(0)
        found: Tensor = self.attn["attn"](named).softmax(0).T @ named
        return found[0]
