"""UniCRS checkpoint folders, laid out as iEvaLM's: a `model.pt` in `rec_model/` and `conv_model/`.

Each holds one prompt encoder. The frozen backbones are not part of a published checkpoint; one
that was trained from scratch brings them, with their tokenizers, in `backbones/`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from torch import Tensor

from recjury.agents.neural import backbones, weights
from recjury.agents.neural.bart_config import made
from recjury.agents.neural.description import (
    METADATA,
    Fidelity,
    Limits,
    Metadata,
    read_metadata,
    write_metadata,
)
from recjury.agents.neural.tokens import ITEM, Tokens
from recjury.agents.unicrs.added_rows import AddedRows, drawn_rows, grown
from recjury.agents.unicrs.backbones import (
    read_gpt2,
    read_roberta,
    read_weights,
    save_backbone,
)
from recjury.agents.unicrs.model import Unicrs
from recjury.agents.unicrs.prompts import PromptEncoder
from recjury.agents.unicrs.texts import Texts
from recjury.errors import ConfigError

WEIGHTS = {part: Path(f"{part}_model") / "model.pt" for part in ("rec", "conv")}
_WORDS = "embeddings.word_embeddings.weight"
# Left over from the original training code and from the graph; no part of the model.
_NO_PART = ("rec_prefix_", "conv_prefix_", "edge_")


class Published(NamedTuple):
    """What the released configuration of one data set is."""

    limits: Limits
    item: str


PUBLISHED = {
    "redial": Published(Limits(context=128, entities=43, response=128), ITEM),
    "opendialkg": Published(Limits(context=128, entities=20, response=64), "<mask>"),
}


class Checkpoint(NamedTuple):
    """A loaded model in evaluation mode; `digest` covers all weights files, backbones too."""

    model: Unicrs
    texts: Texts
    metadata: Metadata | None
    digest: str


class Backbones(NamedTuple):
    """Where the two backbones are."""

    gpt2: Path
    text: Path


def save(
    folder: Path, model: Unicrs, texts: Texts, metadata: Metadata, *, with_backbones: bool
) -> None:
    """Write a checkpoint folder; metadata comes last.

    `with_backbones` writes the backbones and tokenizers as well: for models from scratch.
    """
    (folder / METADATA).unlink(missing_ok=True)
    weights.write_tensors(folder / WEIGHTS["rec"], model.rec.state_dict())
    weights.write_tensors(folder / WEIGHTS["conv"], model.conv.state_dict())
    if with_backbones:
        inside = folder / backbones.INSIDE
        save_backbone(inside / "gpt2", model.gpt2, model.gpt2.config)
        save_backbone(inside / "roberta", model.text, model.text.config)
        texts.gpt2.save(inside / "gpt2")
        texts.text.save(inside / "roberta")
    write_metadata(folder, metadata)


def find_backbones(folder: Path, named: Mapping[str, str]) -> Backbones:
    """The backbones of a checkpoint folder; `named` may give `gpt2` and `roberta` elsewhere."""
    found = (
        backbones.backbone_folder(
            named.get(kind), published, checkpoint=folder, kind=kind, weights=True
        )
        for kind, published in (("gpt2", backbones.GPT2), ("roberta", backbones.ROBERTA))
    )
    return Backbones(*found)


def load(
    folder: Path,
    *,
    entities: int,
    relations: int,
    corpus: str,
    fidelity: Fidelity | None = None,
    named: Mapping[str, str] | None = None,
    published: Published | None = None,
    rows: AddedRows | None = None,
) -> Checkpoint:
    """Load a checkpoint for a graph of that many entities and relations.

    `fidelity` None means what the metadata says, and "ievalm" without any. `named` are backbones
    by kind (`gpt2`, `roberta`), folders or hub names. `published` None means what the metadata
    says, or else what was released for `corpus`. `rows` None draws the added tokens' embeddings
    as the published code does. Raises ConfigError for what is missing, DataError for what does
    not fit.
    """
    for path in WEIGHTS.values():
        if not (folder / path).is_file():
            raise ConfigError(f"no UniCRS checkpoint in {folder}: expected {folder / path}")
    metadata = read_metadata(folder)
    encoders = {part: _tensors(folder / path) for part, path in WEIGHTS.items()}
    for part, path in WEIGHTS.items():
        weights.refuse_other_entities(
            encoders[part], "node_embeds", entities, folder / path, extra=1
        )
    places = find_backbones(folder, named or {})
    texts = _texts(places, published or _published(metadata, corpus))
    bases = weights.size(encoders["rec"], "kg_encoder.weight", axis=0, default=8)
    model, files = _with_backbones(
        places, texts, rows, entities=entities, relations=relations, bases=bases
    )
    model.fidelity = fidelity or (metadata.fidelity if metadata else "ievalm")
    for part, path in WEIGHTS.items():
        encoder: PromptEncoder = getattr(model, part)
        weights.load_into(encoder, encoders[part], folder / path, whose="UniCRS")
    digest = weights.file_digest([*(folder / path for path in WEIGHTS.values()), *files])
    return Checkpoint(model.eval(), texts, metadata, digest)


def _published(metadata: Metadata | None, corpus: str) -> Published:
    released = PUBLISHED["redial" if corpus.startswith("redial") else "opendialkg"]
    if metadata is None:
        return released
    return Published(metadata.limits or released.limits, metadata.item_token or released.item)


def _texts(places: Backbones, published: Published) -> Texts:
    gpt2, text = Tokens.load(places.gpt2, "gpt2"), Tokens.load(places.text, "bart")
    texts = Texts(gpt2, text, published.limits, published.item)
    texts.add_tokens()
    return texts


def _with_backbones(
    places: Backbones,
    texts: Texts,
    rows: AddedRows | None,
    *,
    entities: int,
    relations: int,
    bases: int,
) -> tuple[Unicrs, list[Path]]:
    """A model with loaded backbones and untrained prompts, and the backbones' weights files."""
    gpt2, text = read_gpt2(places.gpt2), read_roberta(places.text)
    of_gpt2, _, gpt2_path = read_weights(places.gpt2, "transformer.")
    of_text, pooler, text_path = read_weights(places.text, "roberta.")
    vocabularies = max(gpt2.vocab_size, texts.gpt2.size), max(text.vocab_size, texts.text.size)
    added = vocabularies[0] - gpt2.vocab_size, vocabularies[1] - text.vocab_size
    if rows is None:
        rows = drawn_rows(gpt2, text, gpt2_added=added[0], text_added=added[1], pooler=pooler)
    of_gpt2 = grown(of_gpt2, "wte.weight", rows.gpt2, vocabularies[0])
    of_text = grown(of_text, _WORDS, rows.text, vocabularies[1])
    gpt2.vocab_size, text.vocab_size = vocabularies
    model = made(
        lambda: Unicrs(gpt2, text, entities=entities, relations=relations, bases=bases),
        places.gpt2,
    )
    weights.load_into(model.gpt2, of_gpt2, gpt2_path, whose="GPT-2")
    weights.load_into(model.text, of_text, text_path, whose="RoBERTa")
    return model, [gpt2_path, text_path]


def _tensors(path: Path) -> dict[str, Tensor]:
    found = weights.read_tensors(path)
    return {name: tensor for name, tensor in found.items() if not name.startswith(_NO_PART)}
