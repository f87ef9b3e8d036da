"""BARCOR checkpoint folders with iEvaLM's layout: `rec_model/` and `conv_model/`.

Both hold `config.json` and weights in transformers' format. A checkpoint trained from scratch has
its tokenizer in `backbones/bart/`; the published ones use that of facebook/bart-base.
"""

from pathlib import Path
from typing import NamedTuple

from recjury.agents.barcor.model import BarcorRecommender
from recjury.agents.neural import backbones, bart_files, weights
from recjury.agents.neural.bart import BartLanguageModel
from recjury.agents.neural.bart_config import CONFIG, made, read_config
from recjury.agents.neural.bart_files import LoadedGenerator, with_tied
from recjury.agents.neural.description import (
    METADATA,
    Limits,
    Metadata,
    read_metadata,
    write_metadata,
)
from recjury.agents.neural.tokens import Tokens
from recjury.errors import ConfigError

LIMITS = Limits(context=200, entities=0, response=128)
REC, CONV = "rec_model", "conv_model"


class BarcorCheckpoint(NamedTuple):
    """A loaded BARCOR in evaluation mode.

    `digest` is 16 hex digits over the files of both models: weights and `config.json`.
    """

    recommender: BarcorRecommender
    generator: LoadedGenerator
    tokens: Tokens
    limits: Limits
    metadata: Metadata | None
    digest: str


def save(
    folder: Path,
    recommender: BarcorRecommender,
    generator: BartLanguageModel,
    tokens: Tokens,
    metadata: Metadata,
) -> None:
    """Write a checkpoint folder with its tokenizer; the metadata is written last."""
    (folder / METADATA).unlink(missing_ok=True)
    bart_files.save_transformer(folder / REC, recommender, recommender.model.config)
    bart_files.save_transformer(folder / CONV, generator, generator.model.config)
    tokens.save(folder / backbones.INSIDE / "bart")
    write_metadata(folder, metadata)


def load(
    folder: Path, *, entities: int, backbone: str | None = None, limits: Limits | None = None
) -> BarcorCheckpoint:
    """Load a checkpoint for a graph with that many entities.

    `backbone` is the folder or hub name of the tokenizer. With `limits` None, the metadata's limits
    apply, or the published ones if there is no metadata. Raises ConfigError for a missing file, and
    DataError for one that does not fit the graph or the other files.
    """
    if not (folder / REC).is_dir() or not (folder / CONV).is_dir():
        raise ConfigError(f"no BARCOR checkpoint in {folder}: expected {REC}/ and {CONV}/ in it")
    metadata = read_metadata(folder)
    limits = limits or (metadata and metadata.limits) or LIMITS
    recommender, path = load_recommender(folder / REC, entities=entities)
    generator = bart_files.load_generator(folder / CONV, max_length=limits.response, whose="BARCOR")
    place = backbones.backbone_folder(
        backbone, backbones.BART, checkpoint=folder, kind="bart", weights=False
    )
    digest = weights.file_digest([path, folder / REC / CONFIG, *generator.files])
    tokens = Tokens.load(place, "bart")
    return BarcorCheckpoint(recommender, generator, tokens, limits, metadata, digest)


def load_recommender(folder: Path, *, entities: int) -> tuple[BarcorRecommender, Path]:
    """The recommender in `folder`, in evaluation mode, and its weights file."""
    config = read_config(folder)
    path = weights.find_weights(folder, bart_files.WEIGHTS, advice="BARCOR's recommender")
    tensors = with_tied(weights.read_tensors(path), path)
    weights.refuse_other_entities(tensors, "classification_head.out_proj.weight", entities, path)
    model = made(lambda: BarcorRecommender(config, entities), folder)
    weights.load_into(model, tensors, path, whose="BARCOR")
    return model.eval(), path
