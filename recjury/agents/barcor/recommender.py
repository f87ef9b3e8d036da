"""BARCOR as a system under test."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recjury.agents.barcor import checkpoint
from recjury.agents.barcor.checkpoint import BarcorCheckpoint
from recjury.agents.barcor.model import BarcorRecommender
from recjury.agents.kbrd.dataset import space_of
from recjury.agents.neural.bart import padded
from recjury.agents.neural.bart_config import refuse_beyond
from recjury.agents.neural.bart_generator import BartGenerator
from recjury.agents.neural.context import REPEAT_NGRAM, ContextEncoder, EncodedContext, prefixed
from recjury.agents.neural.description import Fidelity, refuse_other_checkpoint
from recjury.agents.neural.naming import NameFromList, as_said
from recjury.agents.neural.system import NeuralRecommender, NeuralSystem
from recjury.agents.neural.tokens import ITEM, Tokens
from recjury.errors import ConfigError
from recjury.records import JSON, LIST_LENGTH

if TYPE_CHECKING:
    from recjury.corpora import Corpus

_VERSION = 3
_ROLE = "System:"


class BARCOR(NeuralRecommender):
    """Recommends and writes replies from the words of the conversation alone; a `Recommender`."""

    def __init__(
        self,
        loaded: BarcorCheckpoint,
        corpus: "Corpus",
        *,
        name: str = "barcor",
        list_length: int = LIST_LENGTH,
        fidelity: Fidelity = "ievalm",
        device: str = "cpu",
    ):
        """Serve a loaded checkpoint on a torch `device`."""
        if list_length < 1:
            raise ConfigError(f"list_length must be at least 1, got {list_length}")
        space, published = space_of(corpus), fidelity == "ievalm"
        generator = barcor_generator(loaded, fidelity, device)
        system = NeuralSystem(
            ContextEncoder(corpus.graph, loaded.limits.entities),
            BarcorRanker(
                loaded.recommender.to(device), loaded.tokens, loaded.limits.context, space.items
            ),
            generator,
            as_said if published else NameFromList(corpus.catalogue),
            refs=space.refs,
            list_length=list_length,
        )
        settings: dict[str, JSON] = {
            "kind": "barcor",
            "version": _VERSION,
            "weights": loaded.digest,
            "tokens": loaded.tokens.digest,
            "fidelity": fidelity,
            "limits": loaded.limits.model_dump(),
            "rules": generator.rules.settings,
            "catalogue": corpus.catalogue.digest,
            # Its scores come from words alone; other names of the graph only help to correct.
            "graph": corpus.graph.items_digest if published else corpus.graph.digest,
            "list_length": list_length,
        }
        super().__init__(system, name=name, settings=settings)

    @classmethod
    def load(
        cls,
        folder: Path,
        corpus: "Corpus",
        *,
        name: str = "barcor",
        list_length: int = LIST_LENGTH,
        fidelity: Fidelity | None = None,
        backbones: Mapping[str, str] | None = None,
        device: str = "cpu",
    ) -> "BARCOR":
        """Load a checkpoint folder with iEvaLM's layout.

        `fidelity` None takes what the checkpoint was trained as; a published one is "ievalm".
        `backbones` may give the tokenizer (`bart`), a folder or hub name; the default is the
        checkpoint's own, or else facebook/bart-base. Raises ConfigError for what is missing,
        DataError for what does not fit.
        """
        refuse_other_checkpoint(folder, "barcor", corpus.catalogue)
        tokenizer = (backbones or {}).get("bart")
        loaded = checkpoint.load(folder, entities=len(corpus.graph.entities), backbone=tokenizer)
        parts = {
            checkpoint.REC: loaded.recommender.model,
            checkpoint.CONV: loaded.generator.model.model,
        }
        for part, bart in parts.items():
            refuse_beyond(bart.config, loaded.tokens, loaded.limits, folder / part)
        if fidelity is None:
            fidelity = loaded.metadata.fidelity if loaded.metadata else "ievalm"
        return cls(
            loaded, corpus, name=name, list_length=list_length, fidelity=fidelity, device=device
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
