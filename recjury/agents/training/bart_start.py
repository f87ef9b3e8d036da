"""The BART that KBRD's and BARCOR's training starts from: small and random, or published."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor, nn
from transformers import BartConfig, BartModel

from recjury.agents.neural import weights
from recjury.agents.neural.backbones import Origin
from recjury.agents.neural.bart import PAD, START, BartLanguageModel, shared_bart
from recjury.agents.neural.bart_config import END, made, read_config
from recjury.agents.neural.bart_files import WEIGHTS, with_tied
from recjury.agents.neural.description import Backbone, Limits
from recjury.agents.neural.tokens import ITEM, Tokens
from recjury.agents.training.replies import TrainingReply
from recjury.errors import DataError

_BEGIN = "<s>"
_MARKS = {_BEGIN: 0, "<pad>": PAD, "</s>": END}
_PREFIX = "model."
_WORDS = ("shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight")
# Tensors in files besides the bare model's: heads, and a number in old files.
_NO_START = ("lm_head.", "classification_head.", "qa_outputs.", "final_logits_bias")
_NO_PART = ".version"


@dataclass(frozen=True, kw_only=True)
class BartStart:
    """A tokenizer, a size, and limits that fit it.

    `published` is the BART to start from (None: random weights); `backbones` is its entry in
    `recjury.json`.
    """

    tokens: Tokens
    config: BartConfig
    limits: Limits
    published: BartModel | None = None
    backbones: Mapping[str, Backbone] = field(default_factory=dict)

    def begin(self, bart: BartModel) -> None:
        """Copy the published weights, if any, into a BART of this size."""
        if self.published is not None:
            bart.load_state_dict(self.published.state_dict())

    def generator(self, *, bias_width: int | None = None) -> BartLanguageModel:
        """A generator to train; a published one starts without KBRD's bias on the vocabulary.

        `bias_width` is as in `BartLanguageModel`.
        """
        model = BartLanguageModel(self.config, bias_width=bias_width)
        self.begin(model.model)
        if self.published is not None and model.rec_proj is not None:
            # A random bias on 50,000 words would undo what it has learnt.
            nn.init.zeros_(model.rec_proj.weight)
            nn.init.zeros_(model.rec_proj.bias)
        return model

    def replies(self, said: Iterable[TrainingReply]) -> list[TrainingReply]:
        """The replies to learn; a published BART begins each reply with `<s>`."""
        opening = "" if self.published is None else _BEGIN
        return [each._replace(reply=opening + each.reply) for each in said]


def published_bart(origin: Origin, limits: Limits) -> BartStart:
    """A published BART with its tokenizer and size, and one more token, which stands for items.

    `limits` are reduced to the model's positions. Raises ConfigError for missing files, and
    DataError if the files are not a BART's or do not fit together.
    """
    config, tokens = read_config(origin.folder), Tokens.load(origin.folder, "bart")
    _refuse_other_marks(config, tokens, origin.folder)
    path = weights.find_weights(origin.folder, WEIGHTS, advice="of a BART")
    tensors = _bare(weights.read_tensors(path), path)
    described = Backbone(name=origin.name, digest=weights.tensors_digest(tensors), frozen=False)
    tokens.add(ITEM)
    config.vocab_size = max(config.vocab_size, tokens.size)
    config.forced_bos_token_id = tokens.id(_BEGIN)
    with torch.random.fork_rng(devices=[]):  # its random weights are all replaced
        bart = made(lambda: shared_bart(config), origin.folder)
    weights.load_into(bart, _with_rows(tensors, config.vocab_size), path, whose="BART")
    positions = int(config.max_position_embeddings)
    return BartStart(
        tokens=tokens,
        config=config,
        limits=Limits(
            context=min(limits.context, positions),
            entities=limits.entities,
            response=min(limits.response, positions),
        ),
        published=bart,
        backbones={origin.kind: described},
    )


def _refuse_other_marks(config: BartConfig, tokens: Tokens, folder: Path) -> None:
    """Raise DataError unless sentence marks and padding have the ids of all published BARTs."""
    found = {mark: tokens.find(mark) for mark in _MARKS}
    start, pad = config.decoder_start_token_id, config.pad_token_id
    if found != _MARKS or (start, pad) != (START, PAD):
        raise DataError(
            f"expected the ids {_MARKS}, decoder_start_token_id {START} and pad_token_id {PAD}, "
            f"found {found}, {start} and {pad}",
            path=folder,
        )


def _bare(tensors: Mapping[str, Tensor], path: Path) -> dict[str, Tensor]:
    """The tensors of the model without a head, under BART's names, including tied ones."""
    found = {
        _PREFIX + name.removeprefix(_PREFIX): tensor
        for name, tensor in tensors.items()
        if not name.startswith(_NO_START) and not name.endswith(_NO_PART)
    }
    return {name.removeprefix(_PREFIX): t for name, t in with_tied(found, path).items()}


def _with_rows(tensors: Mapping[str, Tensor], vocabulary: int) -> dict[str, Tensor]:
    """The tensors with a row for each token that the file lacks: the mean of all rows.

    A new token is then as likely as words are on average.
    """
    words = tensors.get(_WORDS[0])
    if words is None or len(words) >= vocabulary:
        return dict(tensors)
    more = words.float().mean(0, keepdim=True).expand(vocabulary - len(words), -1)
    return dict(tensors) | dict.fromkeys(_WORDS, torch.cat([words.float(), more]))
