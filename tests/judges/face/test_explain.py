"""A score taken apart leaves no rest."""

import math

import pytest

from recjury.judges.face.explain import explain_score
from recjury.records import Aspect, InstructionScore, ParticleScore
from tests.judges.face.logs import HEAT, SLOW

TEXTS = {1: "Try Heat (1995). It is slow.", 3: "Bye!"}
PARTICLES = {1: (HEAT, SLOW), 3: (SLOW,)}


def _score(turn: int, number: int, *samples: int | None) -> ParticleScore:
    by = (InstructionScore(f"itr{n}", (sample,)) for n, sample in enumerate(samples))
    return ParticleScore(turn, number, tuple(by))


SCORES = (_score(3, 0, 0, None), _score(1, 1, 1, 0), _score(1, 0, 2, 2))


def test_the_pulls_of_every_kind_of_part_add_up_to_the_difference() -> None:
    found = explain_score("c", Aspect.UNDERSTANDING, SCORES, PARTICLES, TEXTS, reference=0.8)
    assert found.score == 1.0
    by_turn = [turn.part for turn in found.turns]
    by_particle = [each.part for turn in found.turns for each in turn.particles]
    for parts in (by_turn, by_particle, list(found.instructions.values())):
        assert math.fsum(part.contribution for part in parts) == pytest.approx(0.2)
        assert sum(part.scores for part in parts) == 5
    assert [(turn.turn, turn.part.score) for turn in found.turns] == [(1, 1.25), (3, 0.0)]
    assert [each.particle for each in found.turns[0].particles] == [HEAT, SLOW]
    first = found.instructions["itr1"]
    assert (first.score, first.scores) == (1.0, 2)
    assert first.contribution == pytest.approx(0.08)


def test_the_strongest_pull_comes_first_whichever_way() -> None:
    found = explain_score("c", Aspect.UNDERSTANDING, SCORES, PARTICLES, TEXTS, reference=0.8)
    turn, particle = found.strongest(1)[0]
    assert (turn.turn, particle.number, particle.part.score) == (1, 0, 2.0)
    again = explain_score("c", Aspect.UNDERSTANDING, SCORES, PARTICLES, TEXTS, reference=2)
    turn, particle = again.strongest(1)[0]
    assert (turn.turn, particle.number) == (1, 1)


def test_one_turn_can_be_explained_alone() -> None:
    found = explain_score("c", Aspect.RELEVANCE, SCORES, PARTICLES, TEXTS, reference=0, turn=3)
    assert (found.score, len(found.turns)) == (0.0, 1)
    shown = found.as_json()
    assert shown["turn"] == 3


def test_without_a_score_there_is_nothing_to_pull() -> None:
    nothing = (_score(3, 0, None),)
    found = explain_score("c", Aspect.UNDERSTANDING, nothing, PARTICLES, TEXTS, reference=1)
    assert (found.score, found.turns[0].part) == (None, (None, 0, 0.0))
