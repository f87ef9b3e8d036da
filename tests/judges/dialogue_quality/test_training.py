"""A tiny local model learns the labels of USS, and rates by them."""

from pathlib import Path
from typing import Any

import pytest

from recjury.errors import ConfigError, DataError
from recjury.fine_tuning import LoraPlan
from recjury.judges.dialogue_quality.prompts import QualityPrompts
from recjury.judges.dialogue_quality.subjects import labelled_subjects
from recjury.papers.quality.training import (
    QualityTraining,
    train_dialogue_quality,
    tuning_example,
)
from recjury.records import Level
from tests.tiny_llama import make_tiny_llama

pytest.importorskip("peft")

PLAN = LoraPlan(learning_rate=5e-3, epochs=4, batch=4, device="cpu")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_llama(tmp_path_factory.mktemp("llama"), positions=700)


@pytest.fixture(scope="module")
def uss(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    (folder / "uss").mkdir()
    blocks = [
        f"USER\tFilm {number}?\t\t3,3\nSYSTEM\tYes.\t\t\n"
        f"USER\t{'Wonderful' if number % 2 else 'Awful'} {number}\t\t{3},{3}\n"
        f"USER\tOVERALL\t\t{5 if number % 2 else 2},{4 if number % 2 else 1}\n"
        for number in range(30)
    ]
    (folder / "uss" / "CCPE.txt").write_text("\n".join(blocks))
    return folder


@pytest.mark.parametrize("labels", ["likert", "binary"])
def test_a_model_is_trained_and_tested(tmp_path: Path, model: Path, uss: Path, labels: Any) -> None:
    options = QualityTraining(labels=labels, lora=PLAN)
    found: dict[str, Any] = dict(
        train_dialogue_quality(model, uss, "CCPE", tmp_path / "a", seed=1, options=options)
    )
    assert found["training"]["examples"] == 27
    assert found["training"]["last_loss"] < found["training"]["first_loss"]
    assert found["training"]["plan"]["seed"] == 1
    assert found["test"]["n"] == found["untuned"]["n"] == 3
    assert {"spearman", "weighted_f1", "defect", "non_defect"} <= set(found["test"])
    assert (tmp_path / "a" / "adapter_config.json").is_file()


def test_turns_are_learned_too(tmp_path: Path, model: Path, uss: Path) -> None:
    plan = PLAN.model_copy(update={"epochs": 1})
    options = QualityTraining(level="both", lora=plan, compare=False)
    found: dict[str, Any] = dict(
        train_dialogue_quality(model, uss / "uss", "CCPE", tmp_path / "a", options=options)
    )
    assert found["training"]["examples"] == 27 * 3
    assert (found["test"]["n"], found["test_turns"]["n"]) == (3, 6)
    assert "untuned" not in found


def test_an_example_is_the_prompt_with_its_label(uss: Path) -> None:
    from recjury.corpora.uss import read_uss

    labelled = labelled_subjects(read_uss(uss / "uss", "CCPE"), Level.DIALOGUE)[1]
    prompts = QualityPrompts("logits", "binary")
    example = tuning_example(prompts, labelled)
    assert example.label == "yes"
    assert example.messages == prompts.of(labelled.subject).messages
    shorter = list(example.shorter)
    assert [each[1].text.count("<user>") for each in shorter] == [1, 1]
    assert "Film 1?" not in shorter[0][1].text


def test_what_is_wrong_is_said_before_training(tmp_path: Path, model: Path, uss: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ConfigError, match="not an adapter"):
        train_dialogue_quality(model, uss, "CCPE", tmp_path)
    with pytest.raises(DataError, match=r"SGD\.txt"):
        train_dialogue_quality(model, uss, "SGD", tmp_path / "a")
    (uss / "uss" / "MWOZ.txt").write_text("\n")
    with pytest.raises(DataError, match="has no session"):
        train_dialogue_quality(model, uss, "MWOZ", tmp_path / "a")
