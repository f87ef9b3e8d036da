"""The benchmark of FACE's pipeline runs, and counts what it says it counts."""

from pathlib import Path

import pytest

from benchmarks.face_pipeline import measure
from recjury.records import Aspect


@pytest.mark.slow
def test_two_dialogues_of_one_aspect(data_folder: Path, tmp_path: Path) -> None:
    found = measure(
        data_folder / "crsarena-eval",
        (Aspect.EFFICIENCY,),
        limit=2,
        concurrency=16,
        store=tmp_path / "face.db",
    )
    assert (found["dialogues"], found["failed"], found["published"]) == (2, 0, None)
    # A request per turn to take it apart, and one of five samples per particle and instruction.
    turns, scored = found["requests"] - found["samples"] // 5, found["samples"] // 5
    assert turns > 0
    assert scored % 16 == 0
    assert found["cpu_ms_per_request"] > 0
    assert found["store_mb"] > 0
