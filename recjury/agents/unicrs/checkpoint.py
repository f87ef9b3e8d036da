"""UniCRS checkpoint folders in iEvaLM's layout: `model.pt` in `rec_model/` and `conv_model/`.

Each has one prompt encoder. Frozen backbones are not part of the checkpoint; a checkpoint trained
by recjury records which they were. A checkpoint trained from scratch has its backbones, with their
tokenizers, in `backbones/`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from torch import Tensor

from recjury.agents.neural import backbones, weights
from recjury.agents.neural.bart_files import save_transformer
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
from recjury.agents.unicrs.backbone_files import Folders
from recjury.agents.unicrs.model import Unicrs
from recjury.agents.unicrs.prompts import PromptEncoder
from recjury.agents.unicrs.texts import Texts
from recjury.errors import ConfigError, DataError

WEIGHTS = {part: Path(f"{part}_model") / "model.pt" for part in ("rec", "conv")}
# Left over from the original training code and from the graph; not part of the model.
_NO_PART = ("rec_prefix_", "conv_prefix_", "edge_")


class Published(NamedTuple):
    """The released configuration of one data set."""

    limits: Limits
    item: str


PUBLISHED = {
    "redial": Published(Limits(context=128, entities=43, response=128), ITEM),
    "opendialkg": Published(Limits(context=128, entities=20, response=64), "<mask>"),
}


class UnicrsCheckpoint(NamedTuple):
    """A loaded model in evaluation mode.

    `digest` is 16 hex digits over all weights, including the backbones and their sizes.
    """

    model: Unicrs
    texts: Texts
    metadata: Metadata | None
    digest: str


def save(
    folder: Path, model: Unicrs, texts: Texts, metadata: Metadata, *, with_backbones: bool
) -> None:
    """Write a checkpoint folder; the metadata is written last.

    `with_backbones` also writes the backbones and tokenizers: for models from scratch.
    """
    (folder / METADATA).unlink(missing_ok=True)
    weights.write_tensors(folder / WEIGHTS["rec"], model.rec.state_dict())
    weights.write_tensors(folder / WEIGHTS["conv"], model.conv.state_dict())
    if with_backbones:
        inside = folder / backbones.INSIDE
        save_transformer(inside / "gpt2", model.gpt2, model.gpt2.config)
        save_transformer(inside / "roberta", model.text, model.text.config)
        texts.gpt2.save(inside / "gpt2")
        texts.text.save(inside / "roberta")
    write_metadata(folder, metadata)


def find_backbones(
    folder: Path, named: Mapping[str, str], recorded: Mapping[str, Backbone]
) -> Folders:
    """The backbones of a checkpoint folder; `named` may give other folders for `gpt2`, `roberta`.

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
    """Load a checkpoint for a graph with that many entities and relations.

    With `fidelity` None, the metadata's value is used, or "ievalm" if there is no metadata. `named`
    are backbones by kind (`gpt2`, `roberta`), as folders or hub names. With `published` None, the
    metadata's configuration is used, or the one released for `corpus`. With `rows` None, the added
    tokens' embeddings are drawn as in the published code. Raises ConfigError for missing files, and
    DataError for files that do not fit.
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
    """The configuration released for a corpus; for other corpora, that of OpenDialKG."""
    return PUBLISHED["redial" if corpus.startswith("redial") else "opendialkg"]


def _published(metadata: Metadata | None, corpus: str) -> Published:
    found = released(corpus)
    if metadata is None:
        return found
    return Published(metadata.limits or found.limits, metadata.item_token or found.item)


def _refuse_other_backbones(
    recorded: Mapping[str, Backbone], digests: Mapping[str, str], places: Folders
) -> None:
    """Raise DataError for backbones other than those for which the prompts were trained."""
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
