"""Greedy generation for several rows at once, with bans on repeated n-grams.

The rules are those of transformers' `generate`. What a row says does not depend on who shares
its batch: sums are rounded differently for one row and for many, so where two tokens are so
close that this could decide, the row is scored again by itself.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from recjury.agents.decoding.bans import NgramBans
from recjury.errors import SystemFailed
from recjury.records import JSON

# A lead below this part of the scores' size is settled alone. A larger one is safe where rounding
# moves each score by less than half of it: a twentieth was seen, on the processors tried.
CLOSE = 5e-5
# Rows are dropped from the batch when so few are left: dropping copies all that is remembered.
_WORTH_DROPPING = 0.75


@dataclass(frozen=True, kw_only=True)
class Rules:
    """How to generate.

    `tokens` is the most tokens to generate, the ones that are forced included. `ngram` and
    `source_ngram` are the lengths of n-grams that must not occur twice in a row's own sequence,
    or again from its source; 0 bans nothing. The tokens in `undoubled` must not follow themselves.
    `forced_first` and `forced_last` are token ids; `least` keeps a row from ending before so many
    tokens.
    """

    tokens: int
    end: int
    ngram: int = 3
    source_ngram: int = 0
    undoubled: frozenset[int] = frozenset()
    forced_first: int | None = None
    forced_last: int | None = None
    repetition_penalty: float = 1.0
    least: int = 0

    @property
    def settings(self) -> dict[str, JSON]:
        """The rules as a system's settings name them; of `undoubled` only how many there are."""
        return {**asdict(self), "undoubled": len(self.undoubled)}


class Steps(Protocol):
    """A model that scores the next token of several rows, one step after the other.

    Scores are raw, and new at every call: the loop writes into them.
    """

    def first(self) -> Tensor:
        """[rows, vocabulary]: the scores after each row's prefix."""

    def next(self, tokens: Tensor) -> Tensor:
        """[rows, vocabulary]: the scores after one more token per row, `tokens` [rows]."""

    def alone(self, row: int, tokens: Sequence[int]) -> Tensor:
        """[vocabulary]: the scores of a row after its generated `tokens`, by itself.

        They must be the same, bit for bit, whichever rows share the batch.
        """

    def keep(self, rows: Tensor) -> None:
        """Go on with these rows only, indices into the present ones."""


@dataclass
class Generated:
    """One row: its new ids, the end token included, and each step's scores where asked for.

    `settled_alone` counts the steps at which two tokens were too close to choose in a batch.
    """

    ids: list[int] = field(default_factory=list)
    scores: list[Tensor] = field(default_factory=list)
    settled_alone: int = 0


class _Row:
    def __init__(self, history: Sequence[int], source: Sequence[int], rules: Rules):
        self.bans = NgramBans(history, source, ngram=rules.ngram, source_ngram=rules.source_ngram)
        self.found = Generated()
        self._rules = rules

    @property
    def ended(self) -> bool:
        ids = self.found.ids
        return bool(ids) and (ids[-1] == self._rules.end or len(ids) >= self._rules.tokens)

    @property
    def forced(self) -> int | None:
        """The token that must come next, if one must."""
        number = len(self.found.ids)
        if number == self._rules.tokens - 1 and self._rules.forced_last is not None:
            return self._rules.forced_last
        return self._rules.forced_first if number == 0 else None

    def banned(self) -> set[int]:
        ids, rules = self.found.ids, self._rules
        banned = self.bans.banned()
        if len(ids) < rules.least:
            banned.add(rules.end)
        if ids and ids[-1] in rules.undoubled:
            banned.add(ids[-1])
        return banned

    def push(self, token: int) -> None:
        self.found.ids.append(token)
        self.bans.push(token)


def generate(
    steps: Steps,
    histories: Sequence[Sequence[int]],
    rules: Rules,
    *,
    sources: Sequence[Sequence[int]] | None = None,
    with_scores: bool = False,
) -> list[Generated]:
    """Continue each history greedily until its end token or `rules.tokens`.

    `sources` are the encoder's inputs. Raises SystemFailed where scores are not finite.
    """
    rows = [
        _Row(history, sources[number] if sources else (), rules)
        for number, history in enumerate(histories)
    ]
    present = list(rows)
    with torch.inference_mode():
        scores = steps.first() if rows else torch.empty(0)
        while present:
            chosen = _choose(steps, scores, present, rules, with_scores=with_scores)
            going = [place for place, row in enumerate(present) if not row.ended]
            if not going:
                break
            if len(going) <= _WORTH_DROPPING * len(present):
                kept = torch.tensor(going, device=chosen.device)
                steps.keep(kept)
                chosen, present = chosen[kept], [present[place] for place in going]
            scores = steps.next(chosen)
    return [row.found for row in rows]


def _choose(
    steps: Steps, scores: Tensor, rows: Sequence[_Row], rules: Rules, *, with_scores: bool
) -> Tensor:
    """Each row's best allowed token [rows], which is added to it; rows that ended get any."""
    size = _size(scores, [not row.ended for row in rows])
    _restrict(scores, rows, rules)
    best = scores.topk(2, dim=-1)
    clear = best.values[:, 0] - best.values[:, 1] > CLOSE * size
    chosen = best.indices[:, 0].clone()
    for place, (row, token, decided) in enumerate(
        zip(rows, chosen.tolist(), clear.tolist(), strict=True)
    ):
        if row.ended:
            continue
        if not decided and row.forced is None:
            scores[place] = _alone(steps, place, row, rules)
            token = int(scores[place].argmax())
            chosen[place] = token
        if with_scores:
            row.found.scores.append(scores[place].clone())
        row.push(token)
    return chosen


def _alone(steps: Steps, place: int, row: _Row, rules: Rules) -> Tensor:
    """The restricted scores [vocabulary] of one row by itself."""
    row.found.settled_alone += 1
    scores = steps.alone(place, row.found.ids).unsqueeze(0)
    _size(scores, [True])
    _restrict(scores, [row], rules)
    return scores[0]


def _size(scores: Tensor, counting: list[bool]) -> Tensor:
    """[rows]: how large the raw scores are. Raises SystemFailed if any that counts is infinite."""
    size: Tensor = torch.linalg.vector_norm(scores, ord=torch.inf, dim=-1)
    finite = torch.isfinite(size).tolist()
    if not all(fine for fine, counts in zip(finite, counting, strict=True) if counts):
        raise SystemFailed("the model gives scores that are not finite numbers")
    return size


def _restrict(scores: Tensor, rows: Sequence[_Row], rules: Rules) -> None:
    """Change the scores of all rows that go on in place as the rules say."""
    places: list[int] = []
    tokens: list[int] = []
    for place, row in enumerate(rows):
        if row.ended:
            continue
        if rules.repetition_penalty != 1.0:
            _penalise(scores[place], row.bans.sequence, rules.repetition_penalty)
        if row.forced is not None:
            scores[place] = -torch.inf
            scores[place, row.forced] = 0.0
            continue
        banned = row.banned()
        places.extend([place] * len(banned))
        tokens.extend(banned)
    if places:
        scores[torch.tensor(places), torch.tensor(tokens)] = -torch.inf


def _penalise(scores: Tensor, sequence: Sequence[int], penalty: float) -> None:
    """Make every token of the sequence less likely, once: scores [vocabulary], in place."""
    seen = torch.tensor(sorted(set(sequence)), dtype=torch.long, device=scores.device)
    known = scores[seen]
    scores[seen] = torch.where(known < 0, known * penalty, known / penalty)
