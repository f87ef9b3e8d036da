"""UniCRS as a system under test."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import DynamicCache

from recjury.agents.kbrd.dataset import space_of
from recjury.agents.kbrd.edges import Neighbourhoods, neighbourhoods
from recjury.agents.neural.context import (
    REPEAT_NGRAM,
    EncodedContext,
    earlier_replies,
)
from recjury.agents.neural.description import refuse_other_checkpoint
from recjury.agents.neural.generation import DecodingConfig, GenerationBatch, generate
from recjury.agents.neural.model import ModelSetup, NeuralModel
from recjury.agents.neural.tokens import END, ITEM
from recjury.agents.unicrs import checkpoint
from recjury.agents.unicrs.assembly import refuse_beyond
from recjury.agents.unicrs.checkpoint import UnicrsCheckpoint
from recjury.agents.unicrs.model import Batch, Unicrs
from recjury.agents.unicrs.texts import PAD, PROMPT, Texts
from recjury.errors import DataError
from recjury.records import JSON, ItemRef

_VERSION = 3
# How much less likely a token becomes once it is in the reply: small GPT-2s repeat themselves.
_SAID = 1.1


def load_unicrs(folder: Path, setup: ModelSetup) -> NeuralModel:
    """Load a checkpoint folder with iEvaLM's layout.

    Raises ConfigError for missing files, and DataError for files that do not fit.
    """
    corpus = setup.corpus
    refuse_other_checkpoint(folder, "unicrs", corpus.catalogue)
    loaded = checkpoint.load(
        folder,
        entities=len(corpus.graph.entities),
        relations=len(corpus.graph.relations),
        corpus=corpus.name,
        fidelity=setup.fidelity,
        named=setup.backbones,
    )
    refuse_beyond(loaded.model, loaded.texts, folder)
    return unicrs_model(loaded, setup)


def unicrs_model(loaded: UnicrsCheckpoint, setup: ModelSetup) -> NeuralModel:
    """Recommends and writes replies from words and entities.

    Raises DataError if the weights give scores that are not finite.
    """
    model, texts = loaded.model, loaded.texts
    space, graph = space_of(setup.corpus), setup.corpus.graph
    edges = neighbourhoods(graph.edges, len(graph.entities) + 1, len(graph.relations))
    speaker = UnicrsSpeaker(model, texts, edges, items=space.items, device=setup.device)
    settings: dict[str, JSON] = {
        "version": _VERSION,
        "weights": loaded.digest,
        "tokens": [texts.gpt2.digest, texts.text.digest],
        "item_token": texts.item,
        "fidelity": model.fidelity,
        "limits": texts.limits.model_dump(),
        "rules": speaker.rules.settings,
        "graph": graph.digest,
    }
    return NeuralModel(
        speaker,
        speaker,
        setup,
        entity_limit=texts.limits.entities,
        refs=space.refs,
        corrects_names=model.fidelity == "corrected",
        settings=settings,
    )


class UnicrsSpeaker:
    """Scores items and writes replies by its `rules`, with prompts before GPT-2 for both."""

    fills_names = False

    def __init__(
        self,
        model: Unicrs,
        texts: Texts,
        edges: Neighbourhoods,
        *,
        items: NDArray[np.int64],
        device: str = "cpu",
    ):
        """Encode the graph once; `edges` count the padding entity as a node, `items` are entity
        ids.

        Raises DataError if the weights give numbers that are not finite.
        """
        self._texts, self._items, self._device = texts, items, device
        with torch.inference_mode():
            # The graph's index arrays are on the CPU, and are needed only here.
            self._rec, self._conv = (
                part.nodes(edges).to(device) for part in (model.rec, model.conv)
            )
        self._model = model.to(device)
        self._language_model = self._model.for_generation()
        self.rules = DecodingConfig(tokens=texts.limits.response, end=texts.gpt2.id(END))
        if model.fidelity == "corrected":
            self.rules = replace(
                self.rules,
                source_ngram=REPEAT_NGRAM,
                undoubled=texts.gpt2.words(),
                repetition_penalty=_SAID,
            )
        if not all(bool(torch.isfinite(nodes).all()) for nodes in (self._rec, self._conv)):
            raise DataError("the UniCRS checkpoint gives scores that are not finite numbers")

    def scores(self, heard: Sequence[EncodedContext]) -> NDArray[np.float32]:
        """[conversations, items]."""
        return self.entity_scores(heard)[:, self._items]

    def entity_scores(self, heard: Sequence[EncodedContext]) -> NDArray[np.float32]:
        """[conversations, entities + 1], the padding entity last."""
        rows = [self._texts.ids(each.context.utterances) for each in heard]
        batch = self._batch(rows, heard, speaking=False)
        found: NDArray[np.float32] = self._model.item_scores(self._rec, batch).cpu().numpy()
        return found

    def say(
        self, heard: Sequence[EncodedContext], _lists: Sequence[Sequence[ItemRef]]
    ) -> list[str]:
        """One text per conversation."""
        rows = [self._texts.prompted(each.context.utterances) for each in heard]
        batch = self._batch(rows, heard, speaking=True)
        prompted = self._model.reply_prompts(self._conv, batch)
        replies = generate(
            self._language_model,
            GenerationBatch(
                inputs={
                    "input_ids": batch.ids,
                    "attention_mask": torch.cat([prompted.real, batch.real], 1).long(),
                    "position_ids": batch.positions,
                    "cache": DynamicCache(prompted.layers),
                },
                sources=self._sources(heard),
                pad=self._texts.gpt2.id(PAD),
                prompt_length=batch.ids.shape[1],
                score_alone=lambda row, said: self._score_alone(rows[row], heard[row], said),
                counts_prompt=self._published,
            ),
            self.rules,
        )
        before = batch.ids.tolist()
        return [self.written(*each) for each in zip(before, replies.ids, strict=True)]

    @property
    def _published(self) -> bool:
        return self._model.fidelity == "ievalm"

    def _score_alone(
        self, row: Sequence[int], heard: EncodedContext, said: Sequence[int]
    ) -> Tensor:
        """[vocabulary]: the scores of one reply's next token, computed from its conversation
        alone."""
        batch = self._batch([row], [heard], speaking=True)
        new = torch.tensor([said], dtype=torch.long, device=self._device)
        after = batch.positions[:, -1:] + 1 + torch.arange(len(said), device=self._device)
        longer = batch._replace(
            ids=torch.cat([batch.ids, new], 1),
            real=torch.cat([batch.real, torch.ones_like(new, dtype=torch.bool)], 1),
            positions=torch.cat([batch.positions, after], 1),
        )
        prompted = self._model.reply_prompts(self._conv, batch)
        return self._model.token_scores(self._model.run(prompted, longer)[0, -1])

    def _sources(self, heard: Sequence[EncodedContext]) -> list[list[int]]:
        """The ids whose n-grams must not be repeated: the system's own turns, or none if
        published."""
        if self._published:
            return [[] for _ in heard]
        tokens = self._texts.gpt2
        return [earlier_replies(each, tokens, tokens.id(END), before=" ") for each in heard]

    def written(self, before: Sequence[int], generated: Sequence[int]) -> str:
        """The reply in generated ids, which follow `before`.

        The published code decodes both, without the item token, and takes the text after the last
        "System:" and one more character.
        """
        tokens, item = self._texts.gpt2, self._texts.item
        if self._model.fidelity == "ievalm":
            whole = tokens.decode([*before, *generated])
            return whole[whole.rfind(PROMPT) + len(PROMPT) + 1 :].strip()
        return tokens.decode(generated, keep=(item,)).replace(item, ITEM).strip()

    def _batch(
        self, rows: Sequence[Sequence[int]], heard: Sequence[EncodedContext], *, speaking: bool
    ) -> Batch:
        batch = self._texts.batch(
            rows,
            [each.context for each in heard],
            padding=self._model.padding,
            fidelity=self._model.fidelity,
            speaking=speaking,
        )
        moved: list[Tensor] = [tensor.to(self._device) for tensor in batch]
        return Batch(*moved)
