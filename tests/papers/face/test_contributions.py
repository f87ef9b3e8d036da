"""A score taken apart leaves no rest."""

import math

import pytest

from recjury.papers.face.contributions import explain_score
from recjury.records import InstructionScore, ParticleScore


def _score(turn: int, number: int, *samples: int | None) -> ParticleScore:
    by = (InstructionScore(f"itr{n}", (sample,)) for n, sample in enumerate(samples))
    return ParticleScore(turn, number, tuple(by))


SCORES = (_score(3, 0, 0, None), _score(1, 1, 1, 0), _score(1, 0, 2, 2))


def test_the_contributions_of_every_kind_of_part_add_up_to_the_difference() -> None:
    found = explain_score(SCORES, reference=0.8)
    assert found.score == 1.0
    for parts in (found.turns, found.particles, found.instructions):
        assert math.fsum(part.contribution for part in parts.values()) == pytest.approx(0.2)
        assert sum(part.scores for part in parts.values()) == 5
    assert {turn: part.score for turn, part in found.turns.items()} == {1: 1.25, 3: 0.0}
    assert list(found.particles) == [(1, 0), (1, 1), (3, 0)]
    first = found.instructions["itr1"]
    assert (first.score, first.scores) == (1.0, 2)
    assert first.contribution == pytest.approx(0.08)


def test_one_turn_can_be_explained_alone() -> None:
    found = explain_score(SCORES, reference=0, turn=3)
    assert (found.score, list(found.turns)) == (0.0, [3])


def test_without_a_score_nothing_is_contributed() -> None:
    found = explain_score((_score(3, 0, None),), reference=1)
    assert (found.score, found.turns[3]) == (None, (None, 0, 0.0))
