"""Greedy replies to several conversations at once, with transformers' `generate`.

A reply does not depend on the other conversations in its batch. Sums are rounded differently for
one row and for many; where the two best tokens are so close that rounding could decide, the row
is scored again by itself, and those scores count.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from transformers import (
    EncoderNoRepeatNGramLogitsProcessor,
    ForcedBOSTokenLogitsProcessor,
    ForcedEOSTokenLogitsProcessor,
    GenerationConfig,
    LogitsProcessorList,
    NoRepeatNGramLogitsProcessor,
    PreTrainedModel,
    RepetitionPenaltyLogitsProcessor,
)

from recjury.errors import SystemFailed
from recjury.records import JSON

# The smallest lead, relative to the largest score, that is taken from a batch. Rounding was seen
# to move scores by up to a twentieth of it.
NEAR_TIE = 5e-5
Processor = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True, kw_only=True)
class DecodingConfig:
    """How to decode; a `GenerationConfig` cut down to what changes greedy replies.

    `tokens` is the most new tokens, forced ones included; `end` is the token that ends a reply.
    N-grams of length `ngram` must not come twice in a row's own sequence, those of length
    `source_ngram` must not come again from its source; 0 bans nothing. Tokens in `undoubled` must
    not follow themselves. `forced_first` and `forced_last` are token ids.
    """

    tokens: int
    end: int
    ngram: int = 3
    source_ngram: int = 0
    undoubled: frozenset[int] = frozenset()
    forced_first: int | None = None
    forced_last: int | None = None
    repetition_penalty: float = 1.0

    @property
    def settings(self) -> dict[str, JSON]:
        """The part of a system's settings that says how it decodes; stores hold its digest."""
        return {**asdict(self), "undoubled": len(self.undoubled), "least": 0}


@dataclass(frozen=True, kw_only=True)
class GenerationBatch:
    """Several conversations to answer.

    `inputs` are the arguments of `model.generate`; their prompt has `prompt_length` tokens.
    `sources` are each row's token ids to take no n-gram from. `score_alone(row, ids)` gives the
    raw scores [vocabulary] after the row's generated `ids`, computed from nothing of other rows.
    `bias` [rows, vocabulary] is added to every step's scores; `score_alone` adds its own.
    `counts_prompt` says whether n-grams of the prompt must not be repeated either.
    """

    inputs: Mapping[str, object]
    sources: Sequence[Sequence[int]]
    pad: int
    prompt_length: int
    score_alone: Callable[[int, list[int]], Tensor]
    bias: Tensor | None = None
    counts_prompt: bool = True

    def processors(self, config: DecodingConfig, device: torch.device) -> list[Processor]:
        """What changes the scores at every step, in order."""
        own: list[Processor] = []
        found: list[Processor] = []
        if config.repetition_penalty != 1.0:
            own.append(RepetitionPenaltyLogitsProcessor(config.repetition_penalty))
        if config.ngram:
            own.append(NoRepeatNGramLogitsProcessor(config.ngram))
        found.append(_FromPosition(0 if self.counts_prompt else self.prompt_length, own))
        if config.source_ngram:
            longest = max(map(len, self.sources))
            rows = [[*ids, *[self.pad] * (longest - len(ids))] for ids in self.sources]
            sources = torch.tensor(rows, dtype=torch.long, device=device)
            found.append(EncoderNoRepeatNGramLogitsProcessor(config.source_ngram, sources))
        if config.undoubled:
            found.append(_NoDoubledToken(config.undoubled, device))
        if config.forced_first is not None:
            found.append(ForcedBOSTokenLogitsProcessor(config.forced_first))
        if config.forced_last is not None:
            length = self.prompt_length + config.tokens
            found.append(ForcedEOSTokenLogitsProcessor(length, config.forced_last))
        return found


class Replies(NamedTuple):
    """New token ids by row, the end token included.

    `rescored` counts the tokens that were too close to choose in the batch.
    """

    ids: list[list[int]]
    rescored: int


def generate(model: PreTrainedModel, batch: GenerationBatch, config: DecodingConfig) -> Replies:
    """Generate one reply per row. Raises SystemFailed for scores that are not finite."""
    rescoring = _RescoreNearTies(batch, config, model.device)
    found: Tensor = model.generate(
        **batch.inputs,
        generation_config=GenerationConfig(
            max_new_tokens=config.tokens,
            do_sample=False,
            eos_token_id=config.end,
            pad_token_id=batch.pad,
        ),
        logits_processor=LogitsProcessorList([rescoring]),
    )
    rows = found[:, batch.prompt_length :].tolist()
    return Replies([_up_to(row, config.end) for row in rows], rescoring.rescored)


class _RescoreNearTies:
    """Applies a batch's processors; rows whose two best scores nearly tie are scored alone."""

    def __init__(self, batch: GenerationBatch, config: DecodingConfig, device: torch.device):
        self._processors = batch.processors(config, device)
        self._score_alone, self._bias = batch.score_alone, batch.bias
        self._end, self._prompt_length = config.end, batch.prompt_length
        self.rescored = 0

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """[rows, vocabulary] to the same with banned tokens at minus infinity."""
        scores = scores if self._bias is None else scores + self._bias
        live = ~(input_ids[:, self._prompt_length :] == self._end).any(1)
        size = _largest(scores[live])
        found = _processed(self._processors, input_ids, scores)
        best = found[live].topk(2).values
        near = live.nonzero()[:, 0][best[:, 0] - best[:, 1] <= NEAR_TIE * size]
        if not len(near):
            return found
        self.rescored += len(near)
        scores = scores.clone()
        for row in near.tolist():
            said = input_ids[row, self._prompt_length :].tolist()
            scores[row] = self._score_alone(row, said)
        _largest(scores[near])
        return _processed(self._processors, input_ids, scores)


class _FromPosition:
    """Applies `processors` as if the sequences began at a position."""

    def __init__(self, start: int, processors: Sequence[Processor]):
        self._start, self._processors = start, processors

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """[rows, vocabulary] to the same."""
        if input_ids.shape[1] == self._start:
            return scores
        return _processed(self._processors, input_ids[:, self._start :], scores)


class _NoDoubledToken:
    """Keeps each of the `tokens` from following itself."""

    def __init__(self, tokens: frozenset[int], device: torch.device):
        self._tokens = torch.tensor(sorted(tokens), device=device)

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """[rows, vocabulary] to the same with the doubled token at minus infinity."""
        last = input_ids[:, -1:]
        banned = torch.where(torch.isin(last, self._tokens), -torch.inf, 0.0)
        return scores.scatter_add(1, last, banned.to(scores.dtype))


def _processed(processors: Sequence[Processor], input_ids: Tensor, scores: Tensor) -> Tensor:
    # A `LogitsProcessorList` inspects each processor's signature again at every step, which takes
    # a tenth of a small model's time.
    for process in processors:
        scores = process(input_ids, scores)
    return scores


def _largest(scores: Tensor) -> Tensor:
    """[rows]: the largest absolute score of each row. Raises SystemFailed if one is not finite."""
    size = torch.linalg.vector_norm(scores, ord=torch.inf, dim=-1)
    if not bool(torch.isfinite(size).all()):
        raise SystemFailed("the model gives scores that are not finite numbers")
    return size  # type: ignore[no-any-return]


def _up_to(ids: list[int], end: int) -> list[int]:
    return ids[: ids.index(end) + 1] if end in ids else ids
