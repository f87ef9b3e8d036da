"""Build a UniCRS from backbones in their folders and untrained prompt encoders."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from recjury.agents.neural import weights
from recjury.agents.neural.bart_config import CONFIG, made
from recjury.agents.neural.description import METADATA, Limits
from recjury.agents.neural.tokens import Tokens
from recjury.agents.unicrs.added_rows import AddedRows, drawn_rows, grown
from recjury.agents.unicrs.backbone_files import Folders, read_gpt2, read_roberta, read_weights
from recjury.agents.unicrs.model import Unicrs
from recjury.agents.unicrs.texts import Texts
from recjury.errors import DataError

FIRST_POSITION = 2  # RoBERTa's
_WORDS = "embeddings.word_embeddings.weight"


class Assembled(NamedTuple):
    """A model, the files of its backbones, and the digests of the backbones' tensors by kind.

    The files are weights and `config.json` of GPT-2, then of RoBERTa.
    """

    model: Unicrs
    files: tuple[Path, ...]
    digests: Mapping[str, str]


def read_texts(places: Folders, limits: Limits, item: str) -> Texts:
    """The backbones' tokenizers, with the added tokens; `item` is the one that means an item."""
    gpt2, text = Tokens.load(places.gpt2, "gpt2"), Tokens.load(places.roberta, "bart")
    texts = Texts(gpt2, text, limits, item)
    texts.add_tokens()
    return texts


def assemble(
    places: Folders,
    texts: Texts,
    *,
    entities: int,
    relations: int,
    bases: int = 8,
    rows: AddedRows | None = None,
) -> Assembled:
    """Build a model from the backbones, for a graph with that many entities and relations.

    With `rows` None, the added tokens' embeddings are drawn as in the published code. Raises
    ConfigError for missing files, and DataError for files that do not fit.
    """
    gpt2, text = read_gpt2(places.gpt2), read_roberta(places.roberta)
    of_gpt2, _, gpt2_path = read_weights(places.gpt2, "transformer.")
    of_text, pooler, text_path = read_weights(places.roberta, "roberta.")
    digests = {"gpt2": weights.tensors_digest(of_gpt2), "roberta": weights.tensors_digest(of_text)}
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
    files = gpt2_path, places.gpt2 / CONFIG, text_path, places.roberta / CONFIG
    return Assembled(model, files, digests)


def refuse_beyond(model: Unicrs, texts: Texts, folder: Path) -> None:
    """Raise DataError if the limits exceed the positions of the backbones in `folder`.

    Otherwise an embedding look-up would fail in the middle of a conversation.
    """
    limits = texts.limits
    rooms = {
        "gpt2": (int(model.gpt2.config.n_positions), texts.prompted_width + limits.response - 1),
        "roberta": (
            int(model.text.config.max_position_embeddings) - FIRST_POSITION,
            limits.context,
        ),
    }
    for kind, (room, needed) in rooms.items():
        if room < needed:
            raise DataError(
                f"{kind} has positions for {room} tokens, but contexts of {limits.context} and "
                f"replies of {limits.response} need {needed}; {METADATA} says how long they are, "
                "and without it they are as published",
                path=folder,
            )
