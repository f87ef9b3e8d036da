"""Greedy replies to several conversations at once, with transformers' `generate`.

A reply does not depend on the other conversations in its batch. Sums for one row and for many rows
are rounded differently. If the two best tokens are so close that rounding could decide, the row is
scored again alone, and those scores are used.
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

# The smallest lead, relative to the largest score, that is accepted from a batch. Rounding was
# observed to change scores by up to a twentieth of it.
NEAR_TIE = 5e-5
Processor = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True, kw_only=True)
class DecodingConfig:
    """How to decode: the part of a `GenerationConfig` that changes greedy replies.

    `tokens` is the largest number of new tokens, including forced ones; `end` is the token that
    ends a reply. No n-gram of length `ngram` may occur twice in a row's own sequence; no n-gram of
    length `source_ngram` may be repeated from its source; 0 bans nothing. Tokens in `undoubled`
    must not follow themselves. `forced_first` and `forced_last` are token ids.
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
        """The part of a system's settings that says how it decodes; stores have a digest of it."""
        return {**asdict(self), "undoubled": len(self.undoubled), "least": 0}


@dataclass(frozen=True, kw_only=True)
class GenerationBatch:
    """Several conversations to answer.

    `inputs` are the arguments of `model.generate`; their prompt has `prompt_length` tokens.
    `sources` are each row's token ids whose n-grams must not be repeated. `score_alone(row, ids)`
    gives the raw scores [vocabulary] after the row's generated `ids`, computed without the other
    rows. `bias` [rows, vocabulary] is added to every step's scores; `score_alone` adds it itself.
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
        """The logits processors of every step, in order."""
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
    """New token ids by row, including the end token.

    `rescored` counts the tokens whose scores were too close to choose in the batch.
    """

    ids: list[list[int]]
    rescored: int


def generate(model: PreTrainedModel, batch: GenerationBatch, config: DecodingConfig) -> Replies:
    """Generate one reply per row. Raises SystemFailed if scores are not finite."""
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
    """Applies a batch's processors. If a row's two best scores nearly tie, the row is scored
    alone."""

    def __init__(self, batch: GenerationBatch, config: DecodingConfig, device: torch.device):
        self._processors = batch.processors(config, device)
        self._score_alone, self._bias = batch.score_alone, batch.bias
        self._end, self._prompt_length = config.end, batch.prompt_length
        self.rescored = 0

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """[rows, vocabulary] to the same shape, with banned tokens at minus infinity."""
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
        """[rows, vocabulary] to the same shape."""
        if input_ids.shape[1] == self._start:
            return scores
        return _processed(self._processors, input_ids[:, self._start :], scores)


class _NoDoubledToken:
    """Prevents each of the `tokens` from following itself."""

    def __init__(self, tokens: frozenset[int], device: torch.device):
        self._tokens = torch.tensor(sorted(tokens), device=device)

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """[rows, vocabulary] to the same shape, with the doubled token at minus infinity."""
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
