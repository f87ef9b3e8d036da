"""The released particles, and particles that are not what they should be."""

from pathlib import Path
from typing import Any

import pytest

from recjury.corpora.crsarena import read_crsarena
from recjury.corpora.crsarena_particles import (
    by_conversation,
    not_in_turn,
    read_crsarena_particles,
)
from recjury.errors import DataError
from recjury.records import DialogueAct, Particle, ScoreTarget
from tests.corpora.arena import count_faults, write_lines


def _row(turn: int, *mentions: str, act: str = "recommendation") -> dict[str, Any]:
    return {
        "conv_id": "kbrd_redial_1",
        "turn_ind": turn,
        "assistant_utterance": "",
        "particles": [
            {"particle_ind": n, "dialogue_act": act, "particle": mention, "user_feedback": said}
            for n, (mention, said) in enumerate(
                zip(mentions, ["Heat is great", "NO_FEEDBACK_PROVIDED"], strict=False)
            )
        ],
    }


def test_the_released_particles_are_all_read(data_folder: Path) -> None:
    folder = data_folder / "crsarena-eval"
    particles = read_crsarena_particles(folder / "face-particles" / "run_particles.json")
    every = [particle for turn in particles.values() for particle in turn.particles]
    assert (len(particles), len(every)) == (2235, 6274)
    assert sum(not turn.particles for turn in particles.values()) == 15
    assert sum(particle.feedback is None for particle in every) == 3750
    assert sum(particle.act is DialogueAct.RECOMMENDATION for particle in every) == 4643
    logs = read_crsarena(folder / "crs_arena_eval.json").logs
    problems = [
        problem
        for place, own in particles.items()
        for problem in not_in_turn(place, own, logs[place.conversation].interaction[own.turn].text)
    ]
    # 470 are not in their turn to the letter; these are not there by any reading.
    assert count_faults(problems) == {"particle not in the turn": 79}
    whole = by_conversation(particles)
    assert len(whole) == 467
    assert sum(each.particles for each in whole.values()) == 6274


def test_no_feedback_is_none(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "p.json", [_row(1, "Heat", "It is slow")])
    turn = read_crsarena_particles(path)[ScoreTarget("kbrd_redial_1", 1)]
    assert turn.particles == (
        Particle(act=DialogueAct.RECOMMENDATION, mention="Heat", feedback="Heat is great"),
        Particle(act=DialogueAct.RECOMMENDATION, mention="It is slow", feedback=None),
    )


def test_particles_that_are_not_in_the_turn_are_reported(tmp_path: Path) -> None:
    rows = [_row(1, "HEAT: (1995)", "Ronin (1998)")]
    [(place, own)] = read_crsarena_particles(write_lines(tmp_path / "p.json", rows)).items()
    assert [str(each) for each in not_in_turn(place, own, "Try Heat (1995). It is slow.")] == [
        "kbrd_redial_1, turn 1: particle 1: 'Ronin (1998)' is not in the turn"
    ]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([_row(1), _row(1)], "p.json:2: a second kbrd_redial_1, turn 1"),
        ([_row(1, "x", act="praise")], "p.json:1: kbrd_redial_1, turn 1: 'praise' is not a valid"),
        ([{**_row(1), "more": 1}], "p.json:1: more: is not a known key"),
        ([], "holds no turn"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, rows: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        read_crsarena_particles(write_lines(tmp_path / "p.json", rows))
