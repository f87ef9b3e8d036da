"""The neural systems against what iEvaLM-CRS's own code gave, and one altered weight."""

import os
import shutil
from pathlib import Path

import pytest
import torch

from benchmarks import crs_golden

GOLDEN = Path(os.environ.get("RECJURY_DATA", "nowhere")) / "crs-golden"
pytestmark = pytest.mark.skipif(not GOLDEN.is_dir(), reason="RECJURY_DATA has no crs-golden")


def test_scores_lists_and_texts_are_the_references() -> None:
    report = crs_golden.compare(GOLDEN)
    assert crs_golden.passed(report)
    assert [(model, *found) for model, found in report.items()] == [
        (model, "opendialkg") for model in crs_golden.MODELS
    ]


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
def test_one_altered_weight_is_found(tmp_path: Path, model: str, file: str, tensor: str) -> None:
    (tmp_path / "common").symlink_to(GOLDEN / "common")
    shutil.copytree(GOLDEN / model, tmp_path / model, copy_function=shutil.copyfile)
    path = tmp_path / model / "opendialkg" / file
    path.parent.chmod(0o755)
    tensors = torch.load(path, weights_only=True)
    tensors[tensor].view(-1)[7] += 0.5
    path.unlink()
    torch.save(tensors, path)
    assert not crs_golden.passed(crs_golden.compare(tmp_path))
