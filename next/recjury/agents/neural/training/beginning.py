"""A folder in the published form with small models of random weights, from which a training begins.

The tokenizer is byte-level BPE, trained on the corpus.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from torch import nn
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BartForSequenceClassification,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaModel,
)

from recjury.agents.neural.bart import BART
from recjury.agents.neural.entities import EntityGraph
from recjury.agents.neural.files import Limits
from recjury.agents.neural.kbrd import KbrdModel
from recjury.agents.neural.prompts import PromptEncoder
from recjury.agents.neural.said import ITEM
from recjury.agents.neural.training.settings import Training
from recjury.agents.neural.unicrs import GPT2, ROBERTA

LIMITS = Limits(context=128, entities=32, reply=48)
_POSITIONS = 256
# A reply may begin with "System:" only if that is one token: no three are read and said again.
_WHOLE = (ITEM, "System:", "User:")
_SPECIAL = {
    "bos_token": "<s>",
    "pad_token": "<pad>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "sep_token": "</s>",
    "cls_token": "<s>",
}


def begin(training: Training, graph: EntityGraph, texts: Iterable[str], folder: Path) -> None:
    """Write the folder."""
    torch.manual_seed(training.seed)
    for name in ("rec_model", "conv_model"):
        (folder / name).mkdir(parents=True)
    graph.write(folder)
    LIMITS.write(folder, training.kind)
    {"kbrd": _kbrd, "barcor": _barcor, "unicrs": _unicrs}[training.kind](
        training, graph, list(texts), folder
    )


def save(model: Any, folder: Path, **more: torch.Tensor) -> None:
    """A model of transformers as published ones are saved, with tensors beside its own."""
    model.config.save_pretrained(folder)
    if model.can_generate():
        model.generation_config.save_pretrained(folder)
    write(model.state_dict() | more, folder / "pytorch_model.bin")


def write(tensors: Mapping[str, torch.Tensor], path: Path) -> None:
    """A file of tensors, in place of one that may be mapped into memory."""
    new = path.with_suffix(".new")
    torch.save(dict(tensors), new)
    new.replace(path)


def _kbrd(training: Training, graph: EntityGraph, texts: list[str], folder: Path) -> None:
    words = _tokens(training, texts, folder / "backbones" / BART)
    model = KbrdModel(len(graph), len(graph.relations), width=training.width)
    write(model.state_dict(), folder / "rec_model" / "model.pt")
    bias = nn.Linear(training.width, words).state_dict()
    writer = BartForConditionalGeneration(_bart(training, words))
    save(writer, folder / "conv_model", **{f"rec_proj.{name}": t for name, t in bias.items()})


def _barcor(training: Training, graph: EntityGraph, texts: list[str], folder: Path) -> None:
    words = _tokens(training, texts, folder / "backbones" / BART)
    ranker = BartForSequenceClassification(_bart(training, words, num_labels=len(graph)))
    save(ranker, folder / "rec_model")
    save(BartForConditionalGeneration(_bart(training, words)), folder / "conv_model")


def _unicrs(training: Training, graph: EntityGraph, texts: list[str], folder: Path) -> None:
    width, layers, heads = training.width, training.layers, _heads(training)
    path = folder / "backbones" / GPT2
    words = _tokens(training, texts, path, bare=True)
    gpt2 = GPT2Config(
        vocab_size=words,
        n_positions=_POSITIONS,
        n_embd=width,
        n_layer=layers,
        n_head=heads,
        bos_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
    )
    save(GPT2LMHeadModel(gpt2), path)
    path = folder / "backbones" / ROBERTA
    _tokens(training, texts, path)
    roberta = RobertaConfig(
        vocab_size=words,
        max_position_embeddings=_POSITIONS,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=2 * width,
        type_vocab_size=1,
    )
    save(RobertaModel(roberta, add_pooling_layer=False), path)
    for name in ("rec_model", "conv_model"):
        encoder = PromptEncoder(len(graph), len(graph.relations), gpt2, width)
        write(encoder.state_dict(), folder / name / "model.pt")


def _bart(training: Training, words: int, **more: Any) -> BartConfig:
    config = BartConfig(
        vocab_size=words, d_model=training.width, max_position_embeddings=_POSITIONS, **more
    )
    for half in ("encoder", "decoder"):
        setattr(config, f"{half}_layers", training.layers)
        setattr(config, f"{half}_attention_heads", _heads(training))
        setattr(config, f"{half}_ffn_dim", 2 * training.width)
    return config


def _heads(training: Training) -> int:
    return max(2, training.width // 32)


def _tokens(training: Training, texts: list[str], folder: Path, *, bare: bool = False) -> int:
    """Write a tokenizer like BART's, which puts a text between <s> and </s> unless it is `bare`.

    Its first tokens are the special ones. The words in `_WHOLE` are tokens that are kept when a
    text is decoded. Returns how many tokens there are.
    """
    bpe = Tokenizer(models.BPE(unk_token=None))
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    special = list(dict.fromkeys(_SPECIAL.values()))
    trainer = trainers.BpeTrainer(
        vocab_size=training.words - len(_WHOLE),
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator((text.replace(ITEM, " ") for text in texts), trainer)
    bpe.add_tokens([AddedToken(word, normalized=False) for word in _WHOLE])
    if not bare:
        bpe.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", special.index("</s>"))]
        )
    tokens = PreTrainedTokenizerFast(tokenizer_object=bpe, **_SPECIAL)  # type: ignore[no-untyped-call]
    tokens.save_pretrained(folder)
    return len(tokens)
