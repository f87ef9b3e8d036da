"""Decomposition by rules: sentences, items, and the user's words."""

import asyncio
import time
from pathlib import Path

import pytest

from recjury.corpora.crsarena import read_crsarena
from recjury.corpora.crsarena_particles import read_crsarena_particles
from recjury.judges.face.face_prompts import answer_to
from recjury.judges.face.rule_decomposer import RuleDecomposer, particles_of
from recjury.judges.face.voting import folded
from recjury.records import DialogueAct
from tests.judges.face.logs import log


def _shown(text: str, answer: str | None = None) -> list[tuple[str, str, str | None]]:
    return [(p.act.value, p.mention, p.feedback) for p in particles_of(text, answer)]


def test_sentences_items_and_acts() -> None:
    text = "Hello there! Have you seen Heat (1995) or Ronin (1998)? What do you like?\nBye!"
    assert _shown(text) == [
        ("greeting", "Hello there!", None),
        ("recommendation", "Have you seen Heat (1995) or", None),
        ("recommendation", "Ronin (1998)?", None),
        ("preference elicitation", "What do you like?", None),
        ("goodbye", "Bye!", None),
    ]


def test_a_list_has_a_particle_per_item() -> None:
    text = "I would recommend the following items:  \n1: Heat (1995)  \n2: Mr. Bean's Holiday\n"
    assert [mention for _, mention, _ in _shown(text)] == [
        "I would recommend the following items:",
        "Heat (1995)",
        "Mr. Bean's Holiday",
    ]


def test_feedback_goes_to_the_particle_it_shares_words_with() -> None:
    text = "Try Heat (1995). Or maybe a comedy?"
    answer = "Sure. Heat was boring! I like comedy more."
    assert [feedback for *_, feedback in _shown(text, answer)] == [
        "Heat was boring!",
        "Sure. I like comedy more.",
    ]


@pytest.mark.parametrize("text", ["", "   ", "?", "...\n!!"])
def test_a_turn_without_a_word_has_no_particle(text: str) -> None:
    assert _shown(text, "What?") == []


def test_it_is_named_for_what_it_is() -> None:
    decomposition = asyncio.run(RuleDecomposer().decompose(log()))
    assert decomposition.decomposer == "rule"
    assert [turn.turn for turn in decomposition.turns] == [1, 3]
    assert decomposition.turns[1].particles[0].act is DialogueAct.GOODBYE


@pytest.mark.parametrize("text", ["E " * 20_000, "Aa" * 20_000, "1. " * 20_000, "A.b" * 20_000])
def test_long_nonsense_takes_no_longer_than_reading_it(text: str) -> None:
    started = time.process_time()
    particles_of(text, text)
    assert time.process_time() - started < 5


def test_it_finds_most_of_the_words_of_the_released_particles(data_folder: Path) -> None:
    folder = data_folder / "crsarena-eval"
    logs = read_crsarena(folder / "crs_arena_eval.json").logs
    released = read_crsarena_particles(folder / "face-particles" / "run_particles.json")
    found = every = 0
    for place, own in released.items():
        said = logs[place.conversation]
        ruled = particles_of(said.interaction[own.turn].text, answer_to(said, own.turn))
        words = [folded(particle.mention) for particle in ruled]
        for particle in own.particles:
            mention = folded(particle.mention)
            found += any(mention in other or other in mention for other in words)
            every += 1
    assert found / every > 0.95
