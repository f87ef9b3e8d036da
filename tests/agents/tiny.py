"""Tiny neural checkpoints with random weights, for a corpus that ships with recjury."""

from functools import cache
from pathlib import Path

import torch
from transformers import GPT2Config, RobertaConfig

from recjury.agents.barcor import checkpoint as barcor
from recjury.agents.barcor.model import BarcorRecommender
from recjury.agents.kbrd import checkpoint as kbrd
from recjury.agents.kbrd.generator import save_generator
from recjury.agents.kbrd.model import KbrdModel
from recjury.agents.neural.bart import BartLanguageModel
from recjury.agents.neural.bart_config import BartDims
from recjury.agents.neural.description import Fidelity, Limits, Metadata
from recjury.agents.neural.tokens import ITEM, Tokens
from recjury.agents.unicrs import checkpoint as unicrs
from recjury.agents.unicrs.model import Unicrs
from recjury.agents.unicrs.texts import PAD, Texts
from recjury.corpora import open_corpus

CORPUS = open_corpus("sample")
ENTITIES, RELATIONS = len(CORPUS.graph.entities), len(CORPUS.graph.relations)
LIMITS = Limits(context=48, entities=8, response=12)
_WIDTH = 16


@cache
def bart_tokens() -> Tokens:
    """A tokenizer of BART's family; do not add to it."""
    return Tokens.train(_texts(), "bart", size=500)


@cache
def gpt2_tokens() -> Tokens:
    """A tokenizer of GPT-2's family; do not add to it."""
    return Tokens.train(_texts(), "gpt2", size=500, extra=(PAD, ITEM))


def _texts() -> list[str]:
    examples = CORPUS.examples("train")[:60]
    return [text for example in examples for text in (*example.context, example.response)]


def dims() -> BartDims:
    """The size of the tiny BARTs."""
    return BartDims(
        vocabulary=bart_tokens().size, width=_WIDTH, heads=2, inner=_WIDTH, positions=64
    )


def described(model: str, *, fidelity: Fidelity = "corrected") -> Metadata:
    """What `recjury.json` would say."""
    return Metadata(
        model=model,
        corpus=CORPUS.name,
        catalogue=CORPUS.catalogue.digest,
        entities=ENTITIES,
        relations=RELATIONS,
        fidelity=fidelity,
        seed=0,
        trained_on="nothing",
        stopped_on="nothing",
        hyperparameters={},
        best_epoch=0,
        figures={},
        versions={},
        limits=LIMITS,
        item_token=ITEM,
    )


def write_kbrd(folder: Path, *, fidelity: Fidelity = "corrected") -> KbrdModel:
    """A KBRD with a generator."""
    torch.manual_seed(1)
    model = KbrdModel(ENTITIES, RELATIONS, dim=8, bases=2)
    kbrd.save(folder, model, described("kbrd", fidelity=fidelity))
    save_generator(folder, BartLanguageModel(dims().config(), bias_width=8), bart_tokens())
    return model


def write_barcor(folder: Path, *, fidelity: Fidelity = "corrected") -> BarcorRecommender:
    """A BARCOR."""
    torch.manual_seed(2)
    model = BarcorRecommender(dims().config(), ENTITIES)
    generator = BartLanguageModel(dims().config())
    barcor.save(folder, model, generator, bart_tokens(), described("barcor", fidelity=fidelity))
    return model


def unicrs_texts() -> Texts:
    """How the tiny UniCRS reads."""
    texts = Texts(gpt2_tokens(), bart_tokens(), LIMITS, ITEM)
    texts.add_tokens()
    return texts


def tiny_unicrs(*, fidelity: Fidelity = "corrected") -> Unicrs:
    """A UniCRS with tiny backbones of its own."""
    torch.manual_seed(3)
    gpt2 = GPT2Config(
        vocab_size=gpt2_tokens().size,
        n_positions=128,
        n_embd=_WIDTH,
        n_layer=2,
        n_head=2,
        bos_token_id=0,
        eos_token_id=0,
    )
    text = RobertaConfig(
        vocab_size=bart_tokens().size,
        hidden_size=_WIDTH,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=_WIDTH,
        max_position_embeddings=64,
    )
    model = Unicrs(gpt2, text, entities=ENTITIES, relations=RELATIONS, bases=2, fidelity=fidelity)
    return model.eval()


def write_unicrs(folder: Path, *, fidelity: Fidelity = "corrected") -> Unicrs:
    """A UniCRS from scratch, backbones included."""
    model = tiny_unicrs(fidelity=fidelity)
    metadata = described("unicrs", fidelity=fidelity)
    unicrs.save(folder, model, unicrs_texts(), metadata, with_backbones=True)
    return model
