"""The neural systems against the reference implementation, and one altered weight."""

import shutil
from pathlib import Path

import pytest
import torch

from benchmarks import crs_golden
from benchmarks.golden.files import MODELS, Golden, found_in
from recjury.agents.neural import weights


@pytest.fixture
def golden(data_folder: Path) -> Path:
    found = data_folder / "crs-golden"
    if not found.is_dir():
        pytest.skip("needs crs-golden/ in the data folder")
    return found


@pytest.mark.parametrize("model", MODELS)
def test_scores_lists_and_texts_are_the_references(golden: Path, model: str) -> None:
    found = [each for each in found_in(golden) if each.model == model]
    report, passed = crs_golden.compare(found)
    figures = report[model]["opendialkg"]
    assert passed
    assert figures == {
        "max_abs_error": pytest.approx(0, abs=1e-4),
        "top50_equal": True,
        "texts_equal": [7, 7],
    }


@pytest.mark.parametrize(
    ("model", "file", "tensor"),
    [
        ("kbrd", "rec_model/model.pt", "kg_encoder.comp"),
        ("kbrd", "conv_model/pytorch_model.bin", "rec_proj.weight"),
        ("barcor", "rec_model/pytorch_model.bin", "classification_head.dense.weight"),
        ("barcor", "conv_model/pytorch_model.bin", "lm_head.weight"),
        ("unicrs", "rec_model/model.pt", "prompt_proj2.bias"),
        ("unicrs", "conv_model/model.pt", "cross_attn.weight"),
    ],
)
def test_one_altered_weight_is_found(
    golden: Path, tmp_path: Path, model: str, file: str, tensor: str
) -> None:
    for part in ("common", model):
        shutil.copytree(golden / part, tmp_path / part, copy_function=shutil.copyfile)
    path = tmp_path / model / "opendialkg" / file
    path.parent.chmod(0o755)
    tensors = weights.read_tensors(path)
    tensors[tensor].view(-1)[7] += 0.5
    path.unlink()
    torch.save(tensors, path)
    report, passed = crs_golden.compare([Golden(tmp_path, model, "opendialkg")])
    assert not passed, report


def test_the_command_fails_when_there_is_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["crs_golden", str(tmp_path), "--json"])
    with pytest.raises(SystemExit, match="no golden vectors"):
        crs_golden.main()
