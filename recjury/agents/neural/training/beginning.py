"""A folder in the published form with small models of random weights, from which a training begins.

The tokenizer is byte-level BPE, trained on the corpus.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken
from torch import nn
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BartForSequenceClassification,
    BartTokenizer,
    GPT2Config,
    GPT2LMHeadModel,
    GPT2Tokenizer,
    PreTrainedModel,
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
# A reply may begin with "System:" only if that is one token: no three are read and said again.
_WHOLE = (ITEM, "System:", "User:")
_SPECIAL = {"bos": "<s>", "pad": "<pad>", "eos": "</s>", "unk": "<unk>"}


def begin(training: Training, graph: EntityGraph, texts: Iterable[str], folder: Path) -> None:
    """Write the folder."""
    torch.manual_seed(training.seed)
    folder.mkdir(parents=True)
    graph.write(folder)
    LIMITS.write(folder, training.kind)
    make = {"kbrd": _kbrd, "barcor": _barcor, "unicrs": _unicrs}[training.kind]
    save(make(training, graph, list(texts), folder / "backbones"), folder)


def save(modules: Mapping[str, nn.Module], folder: Path) -> None:
    """Modules in their places, as published ones are saved: models of transformers by them."""
    for place, module in modules.items():
        (folder / place).mkdir(parents=True, exist_ok=True)
        name = "model.pt"
        if isinstance(module, PreTrainedModel):
            name = "pytorch_model.bin"
            (folder / place / "model.safetensors").unlink(missing_ok=True)  # it would be read first
            module.config.save_pretrained(folder / place)
            if module.can_generate():
                module.generation_config.save_pretrained(folder / place)
        new = folder / place / "new"
        torch.save(module.state_dict(), new)
        new.replace(folder / place / name)  # which may be mapped into memory


def _kbrd(
    training: Training, graph: EntityGraph, texts: list[str], backbones: Path
) -> dict[str, nn.Module]:
    words = _tokens(training, texts, backbones / BART)
    ranker = KbrdModel(graph, width=training.width)
    writer = BartForConditionalGeneration(_bart(training, words))
    writer.rec_proj = nn.Linear(training.width, words)
    return {"rec_model": ranker, "conv_model": writer}


def _barcor(
    training: Training, graph: EntityGraph, texts: list[str], backbones: Path
) -> dict[str, nn.Module]:
    words = _tokens(training, texts, backbones / BART)
    ranker = BartForSequenceClassification(_bart(training, words, num_labels=len(graph)))
    writer = BartForConditionalGeneration(_bart(training, words))
    return {"rec_model": ranker, "conv_model": writer}


def _unicrs(
    training: Training, graph: EntityGraph, texts: list[str], backbones: Path
) -> dict[str, nn.Module]:
    words = _tokens(training, texts, backbones / GPT2, GPT2Tokenizer)
    gpt2 = GPT2Config(**_shape(training, words))
    words = _tokens(training, texts, backbones / ROBERTA)
    roberta = RobertaConfig(
        **_shape(training, words), intermediate_size=2 * training.width, type_vocab_size=1
    )
    return {
        f"backbones/{GPT2}": GPT2LMHeadModel(gpt2),
        f"backbones/{ROBERTA}": RobertaModel(roberta, add_pooling_layer=False),
        "rec_model": PromptEncoder(graph, gpt2, training.width),
        "conv_model": PromptEncoder(graph, gpt2, training.width),
    }


def _bart(training: Training, words: int, **more: Any) -> BartConfig:
    shape = _shape(training, words)
    for half in ("encoder", "decoder"):
        shape[f"{half}_layers"] = training.layers
        shape[f"{half}_attention_heads"] = shape["num_attention_heads"]
        shape[f"{half}_ffn_dim"] = 2 * training.width
    return BartConfig(**shape, **more)


def _shape(training: Training, words: int) -> dict[str, Any]:
    """What configurations of transformers have in common."""
    return {
        "vocab_size": words,
        "hidden_size": training.width,
        "num_hidden_layers": training.layers,
        "num_attention_heads": max(2, training.width // 32),
        "max_position_embeddings": 256,
        **{f"{name}_token_id": number for number, name in enumerate(_SPECIAL) if name != "unk"},
    }


def _tokens(training: Training, texts: list[str], folder: Path, class_: Any = BartTokenizer) -> int:
    """Write a tokenizer like BART's, or like GPT-2's, which puts no signs around a text.

    Its first tokens are the special ones. The words in `_WHOLE` are tokens that are kept when a
    text is decoded. Returns how many tokens there are.
    """
    special = {f"{name}_token": token for name, token in _SPECIAL.items()}
    vocabulary = {token: number for number, token in enumerate(_SPECIAL.values())}
    spoken = (text.replace(ITEM, " ") for text in texts)
    tokens = class_(vocab=vocabulary, merges=[], **special).train_new_from_iterator(
        spoken, training.words - len(_WHOLE), show_progress=False
    )
    tokens.add_tokens([AddedToken(word, normalized=False) for word in _WHOLE])
    tokens.save_pretrained(folder)
    return len(tokens)
