"""UniCRS checkpoint folders, laid out as iEvaLM's: a `model.pt` in `rec_model/` and `conv_model/`.

Each holds one prompt encoder. Frozen backbones are not part of the checkpoint, and one that was
trained here records which they were; one that was trained from scratch brings them, with their
tokenizers, in `backbones/`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from torch import Tensor

from recjury.agents.neural import backbones, weights
from recjury.agents.neural.description import (
    METADATA,
    Backbone,
    Fidelity,
    Limits,
    Metadata,
    read_metadata,
    write_metadata,
)
from recjury.agents.neural.tokens import ITEM
from recjury.agents.unicrs.added_rows import AddedRows
from recjury.agents.unicrs.assembly import assemble, read_texts
from recjury.agents.unicrs.backbone_files import Folders, save_backbone
from recjury.agents.unicrs.model import Unicrs
from recjury.agents.unicrs.prompts import PromptEncoder
from recjury.agents.unicrs.texts import Texts
from recjury.errors import ConfigError, DataError

WEIGHTS = {part: Path(f"{part}_model") / "model.pt" for part in ("rec", "conv")}
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


class UnicrsCheckpoint(NamedTuple):
    """A loaded model in evaluation mode.

    `digest` is 16 hex digits over all weights, backbones and their sizes too.
    """

    model: Unicrs
    texts: Texts
    metadata: Metadata | None
    digest: str


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


def find_backbones(
    folder: Path, named: Mapping[str, str], recorded: Mapping[str, Backbone]
) -> Folders:
    """The backbones of a checkpoint folder; `named` may give `gpt2` and `roberta` elsewhere.

    `recorded` are those that its prompts were trained for.
    """

    def place(kind: str, published: str) -> Path:
        return backbones.backbone_folder(
            named.get(kind),
            published,
            checkpoint=folder,
            kind=kind,
            weights=True,
            recorded=recorded[kind].name if kind in recorded else None,
        )

    return Folders(gpt2=place("gpt2", backbones.GPT2), roberta=place("roberta", backbones.ROBERTA))


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
) -> UnicrsCheckpoint:
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
    recorded = {k: b for k, b in metadata.backbones.items() if b.frozen} if metadata else {}
    places = find_backbones(folder, named or {}, recorded)
    limits, item = published or _published(metadata, corpus)
    texts = read_texts(places, limits, item)
    bases = weights.size(encoders["rec"], "kg_encoder.weight", axis=0, default=8)
    model, files, digests = assemble(
        places, texts, rows=rows, entities=entities, relations=relations, bases=bases
    )
    _refuse_other_backbones(recorded, digests, places)
    model.fidelity = fidelity or (metadata.fidelity if metadata else "ievalm")
    for part, path in WEIGHTS.items():
        encoder: PromptEncoder = getattr(model, part)
        weights.load_into(encoder, encoders[part], folder / path, whose="UniCRS")
    digest = weights.file_digest([*(folder / path for path in WEIGHTS.values()), *files])
    return UnicrsCheckpoint(model.eval(), texts, metadata, digest)


def released(corpus: str) -> Published:
    """What was released for a corpus; for others, what was for OpenDialKG."""
    return PUBLISHED["redial" if corpus.startswith("redial") else "opendialkg"]


def _published(metadata: Metadata | None, corpus: str) -> Published:
    found = released(corpus)
    if metadata is None:
        return found
    return Published(metadata.limits or found.limits, metadata.item_token or found.item)


def _refuse_other_backbones(
    recorded: Mapping[str, Backbone], digests: Mapping[str, str], places: Folders
) -> None:
    """DataError for other backbones than the prompts were trained for: they would mean nothing."""
    for kind, backbone in recorded.items():
        if digests[kind] != backbone.digest:
            raise DataError(
                f"has the weights {digests[kind]}, but the checkpoint's prompts were trained for "
                f"{kind} {backbone.name} with the weights {backbone.digest}: name the folder that "
                f"has those in the system's `backbones: {{{kind}: FOLDER}}`",
                path=getattr(places, kind),
            )


def _tensors(path: Path) -> dict[str, Tensor]:
    found = weights.read_tensors(path)
    return {name: tensor for name, tensor in found.items() if not name.startswith(_NO_PART)}
