"""The size of a BART and its generation settings: from scratch, or from a checkpoint's files."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from transformers import BartConfig

from recjury.agents.neural.description import METADATA, Limits
from recjury.agents.neural.generation import DecodingConfig
from recjury.agents.neural.tokens import Tokens
from recjury.errors import ConfigError, DataError
from recjury.input_files import read_json_object

T = TypeVar("T")

CONFIG = "config.json"
END = 2


@dataclass(frozen=True, kw_only=True)
class BartDims:
    """The size of a BART from scratch; `positions` is the largest number of tokens in a text."""

    vocabulary: int
    width: int = 128
    encoder_layers: int = 2
    decoder_layers: int = 2
    heads: int = 4
    inner: int = 256
    positions: int = 256
    dropout: float = 0.1

    def config(self) -> BartConfig:
        """The configuration of transformers' modules."""
        return BartConfig(
            vocab_size=self.vocabulary,
            d_model=self.width,
            encoder_layers=self.encoder_layers,
            decoder_layers=self.decoder_layers,
            encoder_attention_heads=self.heads,
            decoder_attention_heads=self.heads,
            encoder_ffn_dim=self.inner,
            decoder_ffn_dim=self.inner,
            max_position_embeddings=self.positions,
            dropout=self.dropout,
            forced_eos_token_id=None,
        )


def read_config(folder: Path) -> BartConfig:
    """The `config.json` of a checkpoint folder.

    Raises ConfigError if it is missing, and DataError if it is invalid.
    """
    described = read_description(folder, "bart")
    # Labels are counted from the graph; their names are not used, and are slow to read.
    kept = {k: v for k, v in described.items() if k not in ("id2label", "label2id")}
    return made(lambda: BartConfig(**kept), folder)


def read_description(folder: Path, kind: str) -> dict[str, object]:
    """The `config.json` of a model of that kind; raises as `read_config`."""
    path = folder / CONFIG
    described = read_json_object(path)
    if described is None:
        raise ConfigError(f"no config.json in {folder}: it says the size of the model")
    if described.get("model_type") != kind:
        raise DataError(
            f"expected a model of type {kind}, found {described.get('model_type')!r}", path=path
        )
    return described


def made(make: Callable[[], T], folder: Path) -> T:
    """Return what `make` builds from the `config.json` in `folder`.

    Raises DataError if the file cannot be used.
    """
    try:
        return make()
    except Exception as error:  # each library raises another exception for a size that does not fit
        reason = " ".join(str(error).split())
        raise DataError(f"cannot be used: {reason}", path=folder / CONFIG) from error


def refuse_beyond(config: BartConfig, tokens: Tokens, limits: Limits, folder: Path) -> None:
    """Raise DataError if the limits or the tokens exceed what the model in `folder` supports.

    Otherwise an embedding look-up would fail in the middle of a conversation.
    """
    path, room = folder / CONFIG, int(config.max_position_embeddings)
    if tokens.size > config.vocab_size:
        raise DataError(
            f"a vocabulary of {config.vocab_size}, but the tokenizer has {tokens.size} tokens: "
            "name the model's own in the system's `backbones: {bart: FOLDER}`",
            path=path,
        )
    if max(limits.context, limits.response) > room:
        raise DataError(
            f"positions for {room} tokens, but contexts of {limits.context} and replies of "
            f"{limits.response} are to be read and said; {METADATA} says how many, and without "
            "it they are as published",
            path=path,
        )


class _Generation(BaseModel):
    """The settings of a generation configuration that change greedy search."""

    model_config = ConfigDict(strict=True)

    eos_token_id: int | None = None
    no_repeat_ngram_size: int | None = None
    encoder_no_repeat_ngram_size: int | None = None
    forced_bos_token_id: int | None = None
    forced_eos_token_id: int | None = None
    repetition_penalty: float | None = None


def read_rules(folder: Path, *, max_length: int) -> DecodingConfig:
    """The generation settings of a checkpoint, without the bans that iEvaLM adds.

    They are read from `generation_config.json`. If that file says that it was derived from
    `config.json`, they are read from `config.json`. `max_length` counts the decoder's start token.
    """
    path = folder / "generation_config.json"
    described = read_json_object(path)
    if described is None or described.get("_from_model_config"):
        path = folder / CONFIG
        # Values that the configuration leaves out are BART's defaults.
        described = {"eos_token_id": END, "forced_eos_token_id": END} | (
            read_json_object(path) or {}
        )
    try:
        found = _Generation.model_validate(described)
    except ValidationError as error:
        first = error.errors()[0]
        raise DataError(f"{first['loc'][0]}: {first['msg']}", path=path) from None
    return DecodingConfig(
        tokens=max_length - 1,
        end=END if found.eos_token_id is None else found.eos_token_id,
        ngram=found.no_repeat_ngram_size or 0,
        source_ngram=found.encoder_no_repeat_ngram_size or 0,
        forced_first=found.forced_bos_token_id,
        forced_last=found.forced_eos_token_id,
        repetition_penalty=found.repetition_penalty or 1.0,
    )
