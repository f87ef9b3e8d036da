"""The files of GPT-2 and RoBERTa in transformers' format; nothing in them is executed."""

from pathlib import Path
from typing import NamedTuple

from torch import Tensor
from transformers import GPT2Config, RobertaConfig

from recjury.agents.neural import weights
from recjury.agents.neural.bart_config import made, read_description

WEIGHTS = ("model.safetensors", "pytorch_model.bin")
# Buffers and heads that files have and the bare models do not.
_NO_PART = (".attn.bias", ".attn.masked_bias", "position_ids")
_NO_START = ("lm_head.", "pooler.", "score.")


class Folders(NamedTuple):
    """The folders of the two backbones."""

    gpt2: Path
    roberta: Path


def read_gpt2(folder: Path) -> GPT2Config:
    """GPT-2's `config.json`. Raises ConfigError if it is missing, DataError if it is another
    model's."""
    described = read_description(folder, "gpt2")
    return made(lambda: GPT2Config(**described), folder)


def read_roberta(folder: Path) -> RobertaConfig:
    """RoBERTa's `config.json`. Raises ConfigError if it is missing, DataError if it is another
    model's."""
    described = read_description(folder, "roberta")
    return made(lambda: RobertaConfig(**described), folder)


def read_weights(folder: Path, prefix: str) -> tuple[dict[str, Tensor], bool, Path]:
    """The bare model's tensors, whether the file also has a pooler's, and the file.

    `prefix` ("transformer.", "roberta.") is removed from the names.
    """
    path = weights.find_weights(folder, WEIGHTS, advice="the backbone's")
    found = {
        name.removeprefix(prefix): tensor for name, tensor in weights.read_tensors(path).items()
    }
    bare = {
        name: tensor
        for name, tensor in found.items()
        if not name.endswith(_NO_PART) and not name.startswith(_NO_START)
    }
    return bare, "pooler.dense.weight" in found, path
