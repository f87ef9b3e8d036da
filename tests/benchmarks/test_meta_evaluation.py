"""The benchmark of scorers, with a scripted endpoint for FACE and FACE*."""

from pathlib import Path

import pytest

from benchmarks.meta_evaluation import measure
from benchmarks.meta_evaluation_face import FacePlan
from benchmarks.meta_evaluation_tables import markdown
from benchmarks.reply_evaluation import MetaEvaluationPlan
from recjury.llm import EndpointSpec
from tests.endpoint import Body, ScriptedEndpoint, prompt


def test_face_is_compared_on_maintains_context(data_folder: Path, tmp_path: Path) -> None:
    plan = MetaEvaluationPlan(
        data_folder / "dialogue-eval",
        ("convai2-usr", "topicalchat-usr"),
        ("length",),
        robustness=False,
        resamples=20,
    )
    with ScriptedEndpoint(_rated_by_length) as endpoint:
        face = FacePlan(
            EndpointSpec(base_url=endpoint.url, name="scripted"),
            f"sqlite:///{tmp_path}/face.db",
            final=2,
            rules=True,
            limit=4,
        )
        found = measure(plan, face)
        asked = len(endpoint.bodies)
        again = measure(plan, face)
        assert len(endpoint.bodies) == asked
    assert found["face"] == again["face"]
    assert found["face"]["replies"] == found["face"]["done"] == 8
    assert {len(names) for names in found["face"]["chosen"].values()} == {2}
    for name in plan.sets:
        scorers = found["maintains_context"][name]["all rows"]["scorers"]
        assert scorers["face"]["n"] == scorers["face*"]["n"] == 4
        assert scorers["length"]["n"] >= 300
        assert "system-mean" not in scorers


def _rated_by_length(body: Body) -> str:
    return f"<rating>{len(prompt(body)) % 3}</rating>"


@pytest.mark.slow
def test_the_tables_have_the_scorers_of_all_runs(data_folder: Path) -> None:
    first, second = (
        measure(
            MetaEvaluationPlan(data_folder / "dialogue-eval", scorers=[name], resamples=10),
            own_pairs=5,
        )
        for name in ("length", "distinct-1")
    )
    tables = markdown([first, second])
    rows = [line for line in tables.splitlines() if line.startswith("| distinct-1 |")]
    assert len(rows) == len([line for line in tables.splitlines() if line.startswith("| length")])
    assert "| length | -20.8/-24.4 | -12.6/-17.5 | 0.7/1.5 | 30.1/30.9 |" in tables
    assert "vocabulary_diversity, 5" in tables
