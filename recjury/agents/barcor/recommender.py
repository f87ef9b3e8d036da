"""BARCOR as a system under test."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recjury.agents.barcor import checkpoint
from recjury.agents.barcor.checkpoint import BarcorCheckpoint
from recjury.agents.barcor.model import BarcorRecommender
from recjury.agents.kbrd.dataset import space_of
from recjury.agents.neural.bart import padded
from recjury.agents.neural.bart_config import refuse_beyond
from recjury.agents.neural.bart_generator import BartGenerator
from recjury.agents.neural.context import REPEAT_NGRAM, EncodedContext, prefixed
from recjury.agents.neural.description import Fidelity, refuse_other_checkpoint
from recjury.agents.neural.model import ModelSetup, NeuralModel
from recjury.agents.neural.tokens import ITEM, Tokens
from recjury.records import JSON

_VERSION = 3
_ROLE = "System:"


def load_barcor(folder: Path, setup: ModelSetup) -> NeuralModel:
    """Load a checkpoint folder with iEvaLM's layout.

    Raises ConfigError for what is missing, DataError for what does not fit.
    """
    corpus = setup.corpus
    refuse_other_checkpoint(folder, "barcor", corpus.catalogue)
    loaded = checkpoint.load(
        folder, entities=len(corpus.graph.entities), backbone=setup.backbones.get("bart")
    )
    parts = {
        checkpoint.REC: loaded.recommender.model,
        checkpoint.CONV: loaded.generator.model.model,
    }
    for part, bart in parts.items():
        refuse_beyond(bart.config, loaded.tokens, loaded.limits, folder / part)
    return barcor_model(loaded, setup)


def barcor_model(loaded: BarcorCheckpoint, setup: ModelSetup) -> NeuralModel:
    """Recommends and writes replies from the words of the conversation alone."""
    corpus, limits, tokens = setup.corpus, loaded.limits, loaded.tokens
    trained_as: Fidelity = loaded.metadata.fidelity if loaded.metadata else "ievalm"
    fidelity = setup.fidelity or trained_as
    published = fidelity == "ievalm"
    space = space_of(corpus)
    generator = barcor_generator(loaded, fidelity, setup.device)
    settings: dict[str, JSON] = {
        "version": _VERSION,
        "weights": loaded.digest,
        "tokens": tokens.digest,
        "fidelity": fidelity,
        "limits": limits.model_dump(),
        "rules": generator.rules.settings,
        # Its scores come from words alone; other names of the graph only help to correct.
        "graph": corpus.graph.items_digest if published else corpus.graph.digest,
    }
    return NeuralModel(
        BarcorRanker(loaded.recommender.to(setup.device), tokens, limits.context, space.items),
        generator,
        setup,
        entity_limit=limits.entities,
        refs=space.refs,
        corrects_names=not published,
        settings=settings,
    )


class BarcorRanker:
    """Scores items by the words of a conversation."""

    def __init__(
        self, model: BarcorRecommender, tokens: Tokens, context: int, items: NDArray[np.int64]
    ):
        """`context` is the largest number of tokens read; `items` are the items' entity ids."""
        self._model, self._tokens, self._context, self._items = model, tokens, context, items

    def scores(self, heard: Sequence[EncodedContext]) -> NDArray[np.float32]:
        """[conversations, items]."""
        return self.entity_scores(heard)[:, self._items]

    def entity_scores(self, heard: Sequence[EncodedContext]) -> NDArray[np.float32]:
        """[conversations, entities]."""
        rows = [
            self._tokens.sentence(prefixed(each.context.utterances, "</s>"), self._context)
            for each in heard
        ]
        device = self._model.classification_head.out_proj.weight.device
        found: NDArray[np.float32] = self._model(padded(rows).to(device)).cpu().numpy()
        return found


def barcor_generator(
    loaded: BarcorCheckpoint, fidelity: Fidelity, device: str = "cpu"
) -> BartGenerator:
    """The generator of a checkpoint; with "corrected", tokens that mean an item stay in the
    text."""
    loaded.generator.model.to(device)
    named = fidelity == "corrected" and loaded.tokens.find(ITEM) is not None
    return BartGenerator(
        loaded.generator,
        loaded.tokens,
        context=loaded.limits.context,
        text=prefixed,
        finish=without_role if fidelity == "corrected" else without_letters,
        keep=(ITEM,) if named else (),
        new_words=REPEAT_NGRAM if fidelity == "corrected" else None,
    )


def without_letters(text: str) -> str:
    """The text without its leading letters of "System;:", even if they belong to another word.

    The published code removes the role in this way: "System: yes" becomes "yes", and "yes" becomes
    empty.
    """
    return text.lstrip("System;:").strip()


def without_role(text: str) -> str:
    """The text without a leading "System:"."""
    return text.strip().removeprefix(_ROLE).strip()
