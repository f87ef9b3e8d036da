"""FACE's optimiser: it finds what is good, goes on where it was, and chooses again."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recjury.errors import Stop, UserError
from recjury.judges import Face
from recjury.llm import ScriptedModel
from recjury.papers.optimise import FaceTraining, Optimisation, optimise
from recjury.papers.optimise.search import play
from recjury.records import Request
from tests.papers.planted import GOOD, scripted

SMALL = {"iterations": 2, "candidates": 3, "beam": 2, "final": 1, "shown": 8, "sampled": 6}


def asked(folder: Path, **more: Any) -> FaceTraining:
    config = folder / "face.yaml"
    provider = more.pop("provider", "endpoint")
    config.write_text(json.dumps({"model": {"name": "m", "provider": provider}}))
    given = {
        "aspect": "understanding",
        "labels": "tests.papers.planted:labels",
        "config": str(config),
        "out": str(folder / "out"),
        "store": str(folder / "face.db"),
        "samples": 2,
    }
    return FaceTraining.model_validate(given | SMALL | more)


def optimised(
    folder: Path, script: Callable[[Request, str], str] = scripted, **more: Any
) -> Optimisation:
    model = ScriptedModel(script)
    return asyncio.run(optimise(asked(folder, **more), open_provider=lambda _: model))


def test_finds_the_planted_instruction_and_face_reads_it(tmp_path: Path) -> None:
    found = optimised(tmp_path)
    (best,) = found.chosen.names
    assert GOOD in found.pool[best].text
    assert found.chosen.measured[best].correlation == found.chosen.together.correlation == 1
    assert (found.initial.correlation or 0) < 0.9
    Face(aspects=("understanding",), instructions=str(found.file.parent))
    (row,) = json.loads(found.file.read_text())
    assert GOOD in row["text"]
    assert row["validation"] == 1


def test_interrupted_and_continued_it_does_the_same(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir()
    parts.mkdir()
    once = optimised(whole)
    for calls in (7, 90, 400):
        left = iter(range(calls))

        def some(request: Request, code: str) -> str:
            if next(left, None) is None:  # noqa: B023 (called in this round alone)
                raise Stop("the endpoint is gone")
            return scripted(request, code)

        with pytest.raises(Stop):
            optimised(parts, some)
        assert not (parts / "out").exists()
    again = optimised(parts)
    assert again.reused > 0
    assert (again.pool, again.trained, again.chosen) == (once.pool, once.trained, once.chosen)
    assert again.file.read_text() == once.file.read_text()
    assert optimised(parts).sent == 0


def test_chooses_again_from_a_pool(tmp_path: Path) -> None:
    first = optimised(tmp_path)
    pool = first.file.parent / "pool" / first.file.name
    again = optimised(tmp_path, pool=str(pool), out=str(tmp_path / "again"), final=2)
    assert again.chosen.names[0] == first.chosen.names[0]
    assert len(json.loads(again.file.read_text())) == 2
    assert again.sent == 0


def test_a_model_that_rewrites_nothing_is_named(tmp_path: Path) -> None:
    def silent(request: Request, code: str) -> str:
        prompt = request.messages[-1].text
        return "No." if "You improve" in prompt else scripted(request, code)

    with pytest.raises(UserError, match="rewriter"):
        optimised(tmp_path, silent)


@pytest.mark.parametrize(
    ("more", "names"),
    [
        ({"aspect": "understandin"}, "understanding"),
        ({"aspect": "efficiency"}, "understanding"),
        ({"labels": "csv:nowhere.csv"}, "nowhere.csv"),
        ({"model": "other"}, "main"),
        ({"pool": "nowhere"}, "nowhere"),
        ({"share": 0.99}, "too few"),
        ({"provider": "openai-batch"}, "openai-batch"),
    ],
)
def test_what_is_wrong_is_said_before_a_call(
    tmp_path: Path, more: dict[str, Any], names: str
) -> None:
    model = ScriptedModel(scripted)
    with pytest.raises(UserError, match=names):
        asyncio.run(optimise(asked(tmp_path, **more), open_provider=lambda _: model))
    assert not model.requests


def test_the_bandit_finds_the_best_arm_with_its_pulls() -> None:
    pulled: list[int] = []

    async def reward(pull: int, arm: int) -> float | None:
        pulled.append(arm)
        return None if arm == 1 else arm / 10 + (pull % 3 - 1) / 50

    kept = asyncio.run(play(10, reward, keep=2, particles=8))
    assert kept == (9, 8)
    assert len(pulled) == 5 * 5  # T = 5 B, B half the arms
    assert set(pulled[:10]) == set(range(10))  # each once, before any twice
