"""KBRD (Chen et al., 2019): a user is the entities that were named, encoded by their graph.

"ievalm" repeats iEvaLM-CRS's inference: its softmax over entities runs over an axis of size one, so
a user is the plain sum of the entities, with repeats. "corrected" attends over them, as the paper's
section 3.2 does. In both, a vector of the user biases each word of the reply (section 3.3).
"""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn
from transformers import BartForConditionalGeneration, LogitsProcessor, LogitsProcessorList

from recjury.agents.neural.bart import read, word_scores, written
from recjury.agents.neural.files import (
    Backbones,
    Limits,
    described,
    file_of,
    fill,
    model_tensors,
    pretrained,
    read_tensors,
)
from recjury.agents.neural.rgcn import RGCN, neighbour_means
from recjury.agents.neural.said import Fidelity, Said
from recjury.agents.neural.system import NeuralSystem

LIMITS = Limits(context=200, entities=32, reply=128)


class KBRD(NeuralSystem):
    """KBRD from a folder with `rec_model/model.pt` and `conv_model/`."""

    def load(self, folder: Path) -> None:
        """The recommender, and BART with the bias. Raises UserError."""
        self.limits = described(folder, "kbrd", LIMITS)
        path = file_of(folder / "rec_model", "model.pt")
        tensors = read_tensors(path)
        bases, width = tensors.get("kg_encoder.weight", torch.empty(8, 128)).shape[:2]
        self.model = KbrdModel(
            len(self.graph), len(self.graph.relations), width=width, bases=bases
        ).to(self.device)
        fill(self.model, tensors, path)
        self.means = neighbour_means(self.graph, rows=len(self.graph), device=self.device)
        self.writer = pretrained(BartForConditionalGeneration, folder / "conv_model")
        self.bias = nn.Linear(width, self.writer.config.vocab_size)
        path, tensors = model_tensors(folder / "conv_model")
        bias = {k.removeprefix("rec_proj."): t for k, t in tensors.items() if "rec_proj" in k}
        fill(self.bias, bias, path)
        self.writer.to(self.device), self.bias.to(self.device)
        self.tokens = Backbones(folder, self.backbones).tokenizer("facebook/bart-base")
        self.encode()

    def encode(self) -> None:
        """Encode the graph: once for weights that do not change."""
        self.nodes = self.model.nodes(self.means)

    def users(self, said: Sequence[Said]) -> Tensor:
        """[conversations, width]: the user of each conversation; zero without an entity."""
        users = [self.model.user(self.nodes, each.entities, self.fidelity) for each in said]
        return torch.stack(users)

    def ranked(self, said: Sequence[Said]) -> Tensor:
        """[conversations, entities + 1]: the score of each entity, the padding one last."""
        return self.users(said) @ self.nodes.T

    def scores(self, said: Said) -> Tensor:
        """[items]; by popularity as long as no entity is named."""
        if not said.entities:
            return torch.from_numpy(self.graph.popularity)
        return super().scores(said)

    def write(self, said: Sequence[Said]) -> list[str]:
        """Replies of BART, each word biased by the user."""
        bias = LogitsProcessorList([_Bias(self.bias(self.users(said)))])
        return written(self.writer, self.tokens, self.read(said), self.limits.reply, bias)

    def word_scores(self, said: Sequence[Said], replies: Tensor) -> Tensor:
        """[conversations, tokens, vocabulary]: the scores of each token of `replies`, after those
        before it.
        """
        bias: Tensor = self.bias(self.users(said)).unsqueeze(1)
        return word_scores(self.writer, self.tokens, self.read(said), replies) + bias

    def read(self, said: Sequence[Said]) -> Tensor:
        """[conversations, tokens]: all texts, also empty ones, without their speakers."""
        texts = [self.tokens.sep_token.join(each.texts) for each in said]
        return read(self.tokens, texts, self.limits.context).to(self.device)


class KbrdModel(nn.Module):
    """The encoder of the graph and the attention. Tensors are named as in published weights."""

    def __init__(self, entities: int, relations: int, *, width: int = 128, bases: int = 8):
        """A model with random weights."""
        super().__init__()
        self.node_embeds = nn.Parameter(torch.empty(entities, width))
        nn.init.xavier_uniform_(self.node_embeds, gain=nn.init.calculate_gain("relu"))
        self.special_token_embeddings = nn.Parameter(torch.zeros(1, width), requires_grad=False)
        self.kg_encoder = RGCN(width, relations, bases)
        self.attn = nn.ModuleDict(
            {"attn": nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))}
        )

    def nodes(self, means: list[Tensor]) -> Tensor:
        """[entities + 1, width]: the encoded entities, the padding one last."""
        encoded = self.kg_encoder(self.node_embeds, means)
        return torch.cat([encoded, self.special_token_embeddings])

    def user(self, nodes: Tensor, entities: Sequence[int], fidelity: Fidelity) -> Tensor:
        """[width]: some entities as one vector."""
        named = nodes[list(entities)]
        if fidelity == "ievalm" or not entities:
            return named.sum(0)
        found: Tensor = self.attn["attn"](named).softmax(0).T @ named
        return found[0]


class _Bias(LogitsProcessor):
    """Adds a vector over the vocabulary to the scores of each word."""

    def __init__(self, bias: Tensor):
        """`bias` [conversations, vocabulary]."""
        self._bias = bias

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:  # noqa: ARG002
        """The scores with the bias."""
        return scores + self._bias
