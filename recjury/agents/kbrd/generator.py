"""KBRD's response generator: BART with a bias on the vocabulary that depends on the user.

Chen et al., 2019, section 3.3. Its folder `conv_model/` has iEvaLM's layout: `config.json` and
weights. A generator trained from scratch has its tokenizer in `backbones/bart/`.
"""

from pathlib import Path
from typing import NamedTuple

from recjury.agents.neural import backbones, bart_files, weights
from recjury.agents.neural.bart import BartLanguageModel
from recjury.agents.neural.bart_files import LoadedGenerator
from recjury.agents.neural.description import Limits
from recjury.agents.neural.tokens import Tokens

LIMITS = Limits(context=200, entities=32, response=128)
CONV = "conv_model"


class KbrdSpeech(NamedTuple):
    """A loaded generator, its tokenizer and limits; `digest` covers its weights and size."""

    generator: LoadedGenerator
    tokens: Tokens
    limits: Limits
    digest: str


def save_generator(folder: Path, model: BartLanguageModel, tokens: Tokens) -> None:
    """Write `conv_model/` and the tokenizer into a checkpoint folder."""
    bart_files.save_transformer(folder / CONV, model, model.model.config)
    tokens.save(folder / backbones.INSIDE / "bart")


def load_generator(
    folder: Path, *, width: int, limits: Limits = LIMITS, backbone: str | None = None
) -> KbrdSpeech:
    """Load the generator of a checkpoint folder, for users of `width` features.

    `backbone` is the folder or hub name of the tokenizer. Raises ConfigError for a missing file,
    and DataError for one that does not fit.
    """
    generator = bart_files.load_generator(
        folder / CONV, max_length=limits.response, whose="KBRD", bias_width=width
    )
    place = backbones.backbone_folder(
        backbone, backbones.BART, checkpoint=folder, kind="bart", weights=False
    )
    return KbrdSpeech(
        generator, Tokens.load(place, "bart"), limits, weights.file_digest(generator.files)
    )
