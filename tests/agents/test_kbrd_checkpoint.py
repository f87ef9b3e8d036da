"""Checkpoints that do not fit, and files that want more than to be read."""

import os
import pickle
from pathlib import Path

import pytest
import torch

from recjury.agents.kbrd import checkpoint
from recjury.agents.kbrd.model import KbrdModel
from recjury.errors import ConfigError, DataError

ENTITIES, RELATIONS = 6, 2


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, model().state_dict())
    return tmp_path


def model() -> KbrdModel:
    return KbrdModel(ENTITIES, RELATIONS, dim=4, bases=2)


def write(folder: Path, content: object) -> None:
    (folder / "rec_model").mkdir(exist_ok=True)
    torch.save(content, folder / "rec_model" / "model.pt")


def load(folder: Path, entities: int = ENTITIES, relations: int = RELATIONS) -> None:
    checkpoint.load(folder, entities=entities, relations=relations)


def test_a_folder_laid_out_as_published_loads(folder: Path) -> None:
    loaded = checkpoint.load(folder, entities=ENTITIES, relations=RELATIONS)
    assert loaded.model.fidelity == "ievalm"
    assert loaded.metadata is None
    asked = checkpoint.load(folder, entities=ENTITIES, relations=RELATIONS, fidelity="corrected")
    assert asked.model.fidelity == "corrected"
    assert asked.digest == loaded.digest


def test_a_missing_checkpoint_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"expected .*rec_model.model\.pt"):
        load(tmp_path)


def test_another_graph_gives_both_counts(folder: Path) -> None:
    with pytest.raises(DataError, match="trained on 6 entities, but the graph has 9"):
        load(folder, entities=9)


def test_missing_and_strange_tensors_are_named(folder: Path) -> None:
    tensors = model().state_dict()
    del tensors["kg_encoder.root"]
    tensors["surplus"] = torch.zeros(3)
    write(folder, tensors)
    with pytest.raises(DataError) as caught:
        load(folder)
    assert "kg_encoder.root: expected [4, 4], found nothing" in str(caught.value)
    assert "surplus: expected nothing, found [3]" in str(caught.value)


def test_wrong_shapes_are_named(folder: Path) -> None:
    with pytest.raises(DataError, match=r"kg_encoder\.comp: expected \[5, 2\], found \[2, 2\]"):
        load(folder, relations=5)


class Intruder:
    """Pickles to a call of os.mkdir."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.path),)


def test_a_file_that_would_execute_code_is_refused(folder: Path, tmp_path: Path) -> None:
    trace = tmp_path / "executed"
    write(folder, {"node_embeds": Intruder(trace)})
    with pytest.raises(DataError, match="nothing in it was executed"):
        load(folder)
    assert not trace.exists()


def test_a_plain_pickle_is_refused(folder: Path, tmp_path: Path) -> None:
    trace = tmp_path / "executed"
    (folder / "rec_model" / "model.pt").write_bytes(pickle.dumps(Intruder(trace)))
    with pytest.raises(DataError, match=r"model\.pt"):
        load(folder)
    assert not trace.exists()


@pytest.mark.parametrize("content", [b"", b"no checkpoint", b"PK\x03\x04"])
def test_a_corrupt_file_is_one_line(folder: Path, content: bytes) -> None:
    (folder / "rec_model" / "model.pt").write_bytes(content)
    with pytest.raises(DataError, match=r"model\.pt: ") as caught:
        load(folder)
    assert "\n" not in str(caught.value)


def test_what_is_no_dict_of_tensors_is_refused(folder: Path) -> None:
    write(folder, [torch.zeros(1)])
    with pytest.raises(DataError, match="expected tensors by name, found list"):
        load(folder)


def test_a_broken_description_is_refused(folder: Path) -> None:
    (folder / "recjury.json").write_text('{"corpus": 3}')
    with pytest.raises(DataError, match=r"recjury\.json: is not a checkpoint description"):
        load(folder)


def test_saving_leaves_nothing_half_written(folder: Path) -> None:
    trained = model()
    description = checkpoint.Metadata(
        corpus="sample",
        catalogue="x",
        entities=ENTITIES,
        relations=RELATIONS,
        fidelity="corrected",
        seed=3,
        trained_on="train split",
        stopped_on="validation split",
        hyperparameters={"dim": 4.0},
        best_epoch=1,
        figures={"recall@1": 0.5},
        versions={"torch": "0"},
    )
    checkpoint.save(folder, trained, description)
    loaded = checkpoint.load(folder, entities=ENTITIES, relations=RELATIONS)
    assert loaded.metadata == description
    assert loaded.model.fidelity == "corrected"
    assert torch.equal(loaded.model.node_embeds, trained.node_embeds)
    assert list(folder.rglob("*.partial")) == []
