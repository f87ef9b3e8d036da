"""KBRD as a system under test."""

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from recjury.agents.kbrd import checkpoint
from recjury.agents.kbrd.checkpoint import KbrdCheckpoint
from recjury.agents.kbrd.dataset import Space, space_of
from recjury.agents.kbrd.generator import CONV, LIMITS, KbrdSpeech, load_generator
from recjury.agents.kbrd.model import KbrdModel
from recjury.agents.neural.bart_config import refuse_beyond
from recjury.agents.neural.bart_generator import BartGenerator
from recjury.agents.neural.context import REPEAT_NGRAM, EncodedContext, joined
from recjury.agents.neural.description import Fidelity, refuse_other_checkpoint
from recjury.agents.neural.model import ModelSetup, NeuralModel, ReplyGenerator
from recjury.agents.neural.tokens import ITEM
from recjury.errors import DataError
from recjury.records import JSON, ItemRef

_VERSION = 4
_NAMED = 3
_QUESTIONS = (
    "What kind of films do you like? A title, an actor or a genre would help me.",
    "Could you name a film or an actor you enjoyed?",
    "Which genre or director are you in the mood for?",
)
_SENTENCES = (
    "From what you have told me, you could try {items}.",
    "You might enjoy {items}.",
    "How about {items}?",
    "Have you thought of {items}?",
)


def load_kbrd(folder: Path, setup: ModelSetup) -> NeuralModel:
    """Load a checkpoint folder made by `recjury train kbrd`, or one with iEvaLM's layout.

    Raises ConfigError for what is missing, DataError for what does not fit.
    """
    graph = setup.corpus.graph
    refuse_other_checkpoint(folder, "kbrd", setup.corpus.catalogue)
    loaded = checkpoint.load(
        folder,
        entities=len(graph.entities),
        relations=len(graph.relations),
        fidelity=setup.fidelity,
    )
    speech = None
    if (folder / CONV).is_dir():
        limits = (loaded.metadata and loaded.metadata.limits) or LIMITS
        width = loaded.model.node_embeds.shape[1]
        backbone = setup.backbones.get("bart")
        speech = load_generator(folder, width=width, limits=limits, backbone=backbone)
        bart = speech.generator.model.model.config
        refuse_beyond(bart, speech.tokens, limits, folder / CONV)
    return kbrd_model(loaded, speech, setup)


def kbrd_model(loaded: KbrdCheckpoint, speech: KbrdSpeech | None, setup: ModelSetup) -> NeuralModel:
    """Recommends by the entities of the whole conversation.

    The generator `speech` writes the replies (`settings` have `text: generated`). Without one, the
    replies are fixed sentences with the best items (`text: template`). Raises DataError if the
    weights give scores that are not finite.
    """
    ranker = KbrdRanker(loaded.model, space_of(setup.corpus), device=setup.device)
    fidelity, limits = loaded.model.fidelity, LIMITS
    generator: ReplyGenerator = _TemplateGenerator()
    spoken: dict[str, JSON] = {"text": "template"}
    if speech is not None:
        limits = speech.limits
        generator = kbrd_generator(speech, ranker, fidelity, setup.device)
        spoken = {
            "text": "generated",
            "generator": speech.digest,
            "tokens": speech.tokens.digest,
            "limits": limits.model_dump(),
            "rules": generator.rules.settings,
        }
    settings: dict[str, JSON] = {
        "version": _VERSION,
        "weights": loaded.digest,
        "fidelity": fidelity,
        "graph": setup.corpus.graph.digest,
        "entity_limit": limits.entities,
    }
    return NeuralModel(
        ranker,
        generator,
        setup,
        entity_limit=limits.entities,
        refs=ranker.space.refs,
        corrects_names=fidelity == "corrected" and speech is not None,
        settings=settings | spoken,
    )


class KbrdRanker:
    """Scores items by the entities of a conversation; without entities, by popularity."""

    def __init__(self, model: KbrdModel, space: Space, *, device: str = "cpu"):
        """Encode the graph once. Raises DataError if the weights give numbers that are not
        finite."""
        self.space = space
        with torch.inference_mode():
            # The graph's index arrays are on the CPU, and are needed only here.
            self._nodes = model.nodes(space.edges).to(device)
        self._model = model.to(device)
        if not bool(torch.isfinite(self._nodes).all()):
            raise DataError("the KBRD checkpoint gives scores that are not finite numbers")

    def users(self, heard: Sequence[EncodedContext]) -> Tensor:
        """[conversations, width]: the pooled entities of each conversation; zero if it has none."""
        return self._model.pool(self._nodes, [each.context.entities for each in heard])

    def entity_scores(self, heard: Sequence[EncodedContext]) -> NDArray[np.float32]:
        """[conversations, entities + 1], the padding node last; all zero without an entity."""
        found: NDArray[np.float32] = (self.users(heard) @ self._nodes.T).cpu().numpy()
        return found

    def scores(self, heard: Sequence[EncodedContext]) -> NDArray[np.float32]:
        """[conversations, items]; without an entity, the items' popularity."""
        found = self.entity_scores(heard)[:, self.space.items]
        for row, each in enumerate(heard):
            if not each.context.entities:
                found[row] = self.space.popularity
        return found


class _TemplateGenerator:
    """Fixed sentences: a question while no entity is known, otherwise the first items of the
    list."""

    fills_names = True

    def say(self, heard: Sequence[EncodedContext], lists: Sequence[Sequence[ItemRef]]) -> list[str]:
        return [
            _recommendation(items, each.named, each.turns)
            if each.context.entities
            else _question(each.turns)
            for each, items in zip(heard, lists, strict=True)
        ]


def kbrd_generator(
    speech: KbrdSpeech, ranker: KbrdRanker, fidelity: Fidelity, device: str = "cpu"
) -> BartGenerator:
    """The generator, biased by the user vectors; "ievalm" leaves its text unchanged."""
    speech.generator.model.to(device)
    named = fidelity == "corrected" and speech.tokens.find(ITEM) is not None
    return BartGenerator(
        speech.generator,
        speech.tokens,
        context=speech.limits.context,
        text=joined,
        finish=str.strip if fidelity == "corrected" else str,
        users=ranker.users,
        keep=(ITEM,) if named else (),
        new_words=REPEAT_NGRAM if fidelity == "corrected" else None,
    )


def _question(turn: int) -> str:
    """A question to a user without known entities; `turn` selects the question."""
    return _QUESTIONS[turn // 2 % len(_QUESTIONS)]


def _recommendation(items: Sequence[ItemRef], named: Collection[str], turn: int) -> str:
    """A sentence with the first items of the list whose ids are not in `named`.

    If all have been named, the list's first item is named again.
    """
    fresh = [item.name for item in items if item.id not in named][:_NAMED] or [items[0].name]
    joined = fresh[0] if len(fresh) == 1 else f"{', '.join(fresh[:-1])} or {fresh[-1]}"
    return _SENTENCES[turn // 2 % len(_SENTENCES)].format(items=joined)
