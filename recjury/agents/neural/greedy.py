"""Greedy generation for several conversations at once, with the bans on repeated n-grams.

The rules are those of transformers' `generate` as iEvaLM calls it; each row's result depends on
that row alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from recjury.errors import SystemFailed


@dataclass(frozen=True, kw_only=True)
class Rules:
    """How to generate.

    `tokens` is the most tokens to generate, the ones that are forced included. `ngram` and
    `source_ngram` are the lengths of n-grams that must not occur twice in a row's own sequence,
    or again from its source; 0 bans nothing. `forced_first` and `forced_last` are token ids;
    `least` keeps a row from ending before so many tokens.
    """

    tokens: int
    end: int
    ngram: int = 3
    source_ngram: int = 0
    forced_first: int | None = None
    forced_last: int | None = None
    repetition_penalty: float = 1.0
    least: int = 0


class Steps(Protocol):
    """A model that scores the next token of several rows, one step after the other."""

    def first(self) -> Tensor:
        """[rows, vocabulary]: the scores after each row's prefix."""

    def next(self, tokens: Tensor) -> Tensor:
        """[rows, vocabulary]: the scores after one more token per row, `tokens` [rows]."""

    def keep(self, rows: Tensor) -> None:
        """Go on with these rows only, indices into the present ones."""


class Generated(NamedTuple):
    """One row: its new ids, the end token included, and each step's scores where asked for."""

    ids: list[int]
    scores: list[Tensor]


class NgramBans:
    """Which tokens would repeat an n-gram of a row's sequence, or bring one of its source."""

    def __init__(self, history: Sequence[int], source: Sequence[int], rules: Rules):
        """`history` is the sequence so far, prefix included; `source` the encoder's input."""
        self._own = _Ngrams(rules.ngram, history)
        self._foreign = _Ngrams(rules.source_ngram, source)
        self._recent = list(history)

    def push(self, token: int) -> None:
        """Add a generated token."""
        self._recent.append(token)
        self._own.add(self._recent)

    def banned(self) -> set[int]:
        """The tokens that must not come next."""
        return self._own.after(self._recent) | self._foreign.after(self._recent)


class _Ngrams:
    """The n-grams of a sequence, found by their first n - 1 tokens."""

    def __init__(self, length: int, sequence: Sequence[int]):
        self._length = length
        self._after: dict[tuple[int, ...], set[int]] = {}
        for end in range(length, len(sequence) + 1) if length else ():
            self.add(sequence[end - length : end])

    def add(self, sequence: Sequence[int]) -> None:
        """Take up the last n-gram of a sequence."""
        if self._length and len(sequence) >= self._length:
            *before, last = sequence[-self._length :]
            self._after.setdefault(tuple(before), set()).add(last)

    def after(self, sequence: Sequence[int]) -> set[int]:
        """What followed the last n - 1 tokens of a sequence."""
        if not self._length or len(sequence) < self._length - 1:
            return set()
        return self._after.get(tuple(sequence[len(sequence) - self._length + 1 :]), set())


class _Row:
    def __init__(self, index: int, history: Sequence[int], source: Sequence[int], rules: Rules):
        self.index = index
        self.bans = NgramBans(history, source, rules)
        self.sequence = list(history)
        self.found = Generated([], [])


def generate(
    steps: Steps,
    histories: Sequence[Sequence[int]],
    rules: Rules,
    *,
    sources: Sequence[Sequence[int]] | None = None,
    with_scores: bool = False,
    shape: Callable[[Tensor], Tensor] | None = None,
) -> list[Generated]:
    """Continue each history greedily until its end token or `rules.tokens`.

    `sources` are the encoder's inputs. `shape` may change the raw scores of a step in place.
    A row whose scores are not finite raises SystemFailed.
    """
    rows = [
        _Row(index, history, sources[index] if sources else (), rules)
        for index, history in enumerate(histories)
    ]
    open_rows = list(rows)
    scores = steps.first() if rows else torch.empty(0)
    while open_rows:
        if shape is not None:
            scores = shape(scores)
        chosen = _choose(scores, open_rows, rules, with_scores=with_scores)
        going = [i for i, row in enumerate(open_rows) if not _ended(row, rules)]
        open_rows = [open_rows[i] for i in going]
        if open_rows:
            kept = torch.tensor(going)
            if len(going) < len(chosen):
                steps.keep(kept)
            scores = steps.next(chosen[kept])
    return [row.found for row in rows]


def _choose(scores: Tensor, rows: Sequence[_Row], rules: Rules, *, with_scores: bool) -> Tensor:
    """Each row's best allowed token, which is added to it."""
    if not bool(torch.isfinite(scores).all()):
        raise SystemFailed("the model gives scores that are not finite numbers")
    scores = scores.clone()
    for offset, row in enumerate(rows):
        _apply(scores[offset], row, rules)
    chosen = scores.argmax(-1)
    for offset, (row, token) in enumerate(zip(rows, chosen.tolist(), strict=True)):
        if with_scores:
            row.found.scores.append(scores[offset])
        row.found.ids.append(token)
        row.sequence.append(token)
        row.bans.push(token)
    return chosen


def _apply(scores: Tensor, row: _Row, rules: Rules) -> None:
    """Change one row's scores [vocabulary] in place as the rules say."""
    number = len(row.found.ids)
    if rules.repetition_penalty != 1.0:
        seen = torch.tensor(sorted(set(row.sequence)))
        known = scores[seen]
        penalty = rules.repetition_penalty
        scores[seen] = torch.where(known < 0, known * penalty, known / penalty)
    banned = row.bans.banned()
    if banned:
        scores[list(banned)] = -torch.inf
    if number < rules.least:
        scores[rules.end] = -torch.inf
    forced = rules.forced_first if number == 0 else None
    if number == rules.tokens - 1 and rules.forced_last is not None:
        forced = rules.forced_last
    if forced is not None:
        scores.fill_(-torch.inf)
        scores[forced] = 0.0


def _ended(row: _Row, rules: Rules) -> bool:
    return row.found.ids[-1] == rules.end or len(row.found.ids) >= rules.tokens
