"""Folders of BART checkpoints: `config.json` and weights, in transformers' format."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn
from transformers import PretrainedConfig

from recjury.agents.neural import weights
from recjury.agents.neural.bart import BartLanguageModel
from recjury.agents.neural.bart_config import CONFIG, made, read_config, read_rules
from recjury.agents.neural.generation import DecodingConfig
from recjury.errors import DataError

WEIGHTS = ("model.safetensors", "pytorch_model.bin")
NGRAM = 3
_TIED = ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight")
_SHARED = "model.shared.weight"
HEAD = "lm_head.weight"


class LoadedGenerator(NamedTuple):
    """A loaded generator in evaluation mode.

    `rules` are the checkpoint's own, plus iEvaLM's bans on trigrams. `files` are the weights and
    `config.json`.
    """

    model: BartLanguageModel
    rules: DecodingConfig
    files: tuple[Path, Path]


def load_generator(
    folder: Path, *, max_length: int, whose: str, bias_width: int | None = None
) -> LoadedGenerator:
    """Load a generator; `bias_width` is the width of KBRD's users, None for plain BART.

    `max_length` counts the decoder's start token. Raises ConfigError if the folder has no model,
    and DataError if the model does not fit.
    """
    config = read_config(folder)
    path = weights.find_weights(folder, WEIGHTS, advice=f"{whose}'s generator")
    tensors = with_tied(weights.read_tensors(path), path, HEAD)
    model = made(lambda: BartLanguageModel(config, bias_width=bias_width), folder)
    weights.load_into(model, tensors, path, whose=whose)
    plain = read_rules(folder, max_length=max_length)
    rules = replace(plain, ngram=NGRAM, source_ngram=NGRAM)
    return LoadedGenerator(model.eval(), rules, (path, folder / CONFIG))


def save_transformer(folder: Path, model: nn.Module, config: PretrainedConfig) -> None:
    """Write `config.json` and `pytorch_model.bin`."""
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / "config.partial"
    partial.write_text(config.to_json_string(use_diff=False), encoding="utf-8")
    os.replace(partial, folder / CONFIG)
    weights.write_tensors(folder / "pytorch_model.bin", model.state_dict())


def with_tied(tensors: Mapping[str, Tensor], path: Path, *more: str) -> dict[str, Tensor]:
    """The tensors, with missing names of BART's shared embeddings added.

    Files of some versions contain these embeddings once; `more` are further names for them besides
    those in BART itself. Raises DataError if tensors with these names differ.
    """
    found, names = dict(tensors), (*_TIED, *more)
    shared = next((found[n] for n in (_SHARED, *names) if n in found), None)
    if shared is None:
        return found
    for name in (_SHARED, *names):
        tied = found.setdefault(name, shared)
        # NaN differs from itself; scores that are NaN are refused where they are used.
        if not torch.equal(tied.nan_to_num(), shared.nan_to_num()):
            raise DataError(
                f"{name} differs from {_SHARED}, but they must be one tensor", path=path
            )
    return found
