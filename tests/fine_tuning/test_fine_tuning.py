"""LoRA on a real tiny Llama: the loss falls, and the adapter gives the same odds when loaded."""

import asyncio
import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recjury.errors import ConfigError, DataError, ProviderError
from recjury.fine_tuning import LoraPlan, TuningExample, TuningReport, TuningStep, fine_tune
from recjury.fine_tuning.tuning import read_report
from recjury.llm import ChoiceOdds, Gateway, NullRecorder, call_identity, read_model
from recjury.records import ChatRequest, Message
from tests.questions import ask_odds
from tests.tiny_llama import make_tiny_llama

pytest.importorskip("peft")

PLAN = LoraPlan(learning_rate=5e-3, epochs=20, batch=4, device="cpu")
SHORT = PLAN.model_copy(update={"epochs": 1})
LABELS = ("good", "bad")


def _prompt(word: str, times: int = 1) -> tuple[Message, ...]:
    return (
        Message("system", ("Say good or bad.",)),
        Message("user", (f"It was {word}. " * times,)),
    )


def _examples() -> list[TuningExample]:
    return [
        TuningExample(_prompt(word), label)
        for word, label in [("lovely", "good"), ("awful", "bad"), ("nice", "good"), ("dull", "bad")]
        for _ in range(4)
    ]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its output layer is not trained, so it must be able to tell words apart."""
    from safetensors.torch import load_file, save_file

    folder = make_tiny_llama(tmp_path_factory.mktemp("llama"), positions=256)
    weights = load_file(folder / "model.safetensors")
    weights["lm_head.weight"] *= 20
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, model: Path) -> TuningReport:
    out = tmp_path_factory.mktemp("trained") / "adapter"
    return fine_tune(model, _examples(), out, PLAN)


def _odds(model: Path, adapter: str | None, word: str) -> ChoiceOdds:
    given = {"provider": "transformers", "model": str(model), "device": "cpu", "adapter": adapter}

    async def ask() -> ChoiceOdds:
        async with Gateway({"main": read_model(given)}, NullRecorder()) as gateway:
            await gateway.check()
            answer = await ask_odds(gateway, [_prompt(word)], LABELS)
            assert answer.odds is not None, answer.rating.reason
            return answer.odds

    return asyncio.run(ask())


def test_the_loss_falls_and_the_labels_are_learned(model: Path, trained: TuningReport) -> None:
    assert len(trained.losses) == 80
    assert trained.last_loss < trained.first_loss / 2
    assert trained.trained < trained.all_parameters / 2
    assert _odds(model, trained.folder, "lovely").odds["good"] > 0.9
    assert _odds(model, trained.folder, "awful").odds["bad"] > 0.9
    assert _odds(model, None, "lovely").mass < 0.1


def test_a_loaded_adapter_gives_the_odds_of_the_model_in_training(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from recjury.fine_tuning import lora
    from recjury.llm.chat_tokens import chat_tokens
    from recjury.llm.local_choices import choice_scores
    from recjury.llm.local_generation import load_tokenizer
    from recjury.llm.local_spec import LocalSpec

    seen: list[float] = []
    fitted = lora._fit

    def fit(tuned: Any, *rest: Any) -> list[float]:
        losses = fitted(tuned, *rest)
        tokenizer = load_tokenizer(LocalSpec(provider="transformers", name=str(model)))
        prompt = torch.tensor([chat_tokens(tokenizer, _prompt("dull"), "m")])
        seen.extend(choice_scores(tuned, tokenizer, prompt, LABELS, lambda _: None))
        return losses

    monkeypatch.setattr(lora, "_fit", fit)
    report = fine_tune(model, _examples(), tmp_path / "a", SHORT)
    odds = _odds(model, report.folder, "dull")
    assert [math.log(odds.mass * odds.odds[label]) for label in LABELS] == pytest.approx(
        seen, abs=1e-5
    )


def test_the_same_training_gives_the_same_adapter(tmp_path: Path, model: Path) -> None:
    one, two = (fine_tune(model, _examples(), tmp_path / name, SHORT) for name in "ab")
    assert one.losses == two.losses
    odds = [_odds(model, each.folder, "nice").odds["good"] for each in (one, two)]
    assert odds[0] == odds[1]


def test_how_many_are_in_memory_at_once_changes_no_loss(tmp_path: Path, model: Path) -> None:
    one = fine_tune(model, _examples(), tmp_path / "1", SHORT.model_copy(update={"at_once": 1}))
    four = fine_tune(model, _examples(), tmp_path / "4", SHORT.model_copy(update={"at_once": 4}))
    assert one.losses == pytest.approx(four.losses, rel=1e-3)


def test_prompts_that_are_too_long_are_shortened_or_left_out(tmp_path: Path, model: Path) -> None:
    asked: list[int] = []

    def shorter() -> Iterator[tuple[Message, ...]]:
        for times in (90, 20, 5):
            asked.append(times)
            yield _prompt("nice", times)

    examples = [
        TuningExample(_prompt("nice", 100), "good", shorter()),
        TuningExample(_prompt("dull", 100), "bad"),
        TuningExample(_prompt("dull"), "bad"),
    ]
    report = fine_tune(model, examples, tmp_path / "a", LoraPlan(device="cpu"))
    assert (report.examples, report.shortened, report.left_out) == (2, 1, 1)
    assert asked == [90, 20]
    with pytest.raises(DataError, match="no example to learn from; 1 are longer than 256 tokens"):
        fine_tune(model, examples[1:2], tmp_path / "b", LoraPlan(device="cpu"))
    assert not (tmp_path / "b").exists()


def test_each_step_is_told(tmp_path: Path, model: Path) -> None:
    steps: list[TuningStep] = []
    report = fine_tune(
        model, _examples(), tmp_path / "a", LoraPlan(device="cpu", batch=8), progress=steps.append
    )
    assert [(step.number, step.steps) for step in steps] == [(1, 2), (2, 2)]
    assert tuple(step.loss for step in steps) == report.losses


def test_the_report_is_kept_beside_the_adapter(trained: TuningReport) -> None:
    folder = Path(trained.folder)
    assert read_report(folder) == trained
    assert json.loads((folder / "adapter_config.json").read_text())["r"] == 16
    with pytest.raises(DataError, match=r"tuning\.json: cannot be read: No such file"):
        read_report(folder / "recjury")


def test_an_adapter_is_part_of_the_models_identity(model: Path, trained: TuningReport) -> None:
    plain = read_model({"provider": "transformers", "model": str(model)})
    tuned = read_model({"provider": "transformers", "model": str(model), "adapter": trained.folder})
    asked = ChatRequest("main", _prompt("nice"), "test")
    assert call_identity(asked, plain) != call_identity(asked, tuned)
    assert set(plain.reply_settings()) == set(tuned.reply_settings())
    assert "adapter" not in plain.reply_settings()


def test_another_folder_is_never_replaced(tmp_path: Path, model: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ConfigError, match="is not empty and is not an adapter"):
        fine_tune(model, _examples(), tmp_path, PLAN)
    with pytest.raises(ConfigError, match="is a file"):
        fine_tune(model, _examples(), tmp_path / "notes.txt", PLAN)
    assert os.listdir(tmp_path) == ["notes.txt"]


def test_files_beside_an_adapter_are_never_deleted(tmp_path: Path, model: Path) -> None:
    out = tmp_path / "adapter"
    out.mkdir()
    (out / "adapter_config.json").write_text("{}")
    (out / "thesis.txt").write_text("mine")
    with pytest.raises(ConfigError, match=r"holds 'thesis\.txt' besides an adapter"):
        fine_tune(model, _examples(), out, SHORT)
    assert (out / "thesis.txt").read_text() == "mine"


def test_a_place_that_cannot_be_written_to_is_refused_first(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(DataError, match="file is not a folder"):
        fine_tune(tmp_path / "nowhere", _examples(), tmp_path / "file" / "adapter", PLAN)


def test_an_adapter_is_replaced_as_a_whole(tmp_path: Path, model: Path) -> None:
    out = tmp_path / "adapter"
    out.mkdir()
    for name in ("adapter_config.json", "adapter_model.bin"):
        (out / name).write_text("old")
    fine_tune(model, _examples(), out, SHORT)
    assert os.listdir(tmp_path) == ["adapter"]
    assert not (out / "adapter_model.bin").exists()
    assert read_report(out).examples == 16


def test_a_training_that_fails_leaves_the_old_adapter(
    tmp_path: Path, model: Path, trained: TuningReport
) -> None:
    out = tmp_path / "adapter"
    fine_tune(model, _examples(), out, LoraPlan(device="cpu"))
    kept = sorted(path.name for path in out.iterdir())
    with pytest.raises(DataError, match="a label must have a token"):
        fine_tune(model, [TuningExample(_prompt("nice"), "")], out, PLAN)
    assert sorted(path.name for path in out.iterdir()) == kept
    assert os.listdir(tmp_path) == ["adapter"]


def test_what_is_no_model_or_no_adapter_is_one_line(tmp_path: Path, model: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no config\.json"):
        fine_tune(tmp_path / "nowhere", _examples(), tmp_path / "a", PLAN)
    with pytest.raises(ConfigError, match=r"there is no adapter_config\.json"):
        _odds(model, str(tmp_path), "nice")
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "adapter_config.json").write_text("{}")
    with pytest.raises(ProviderError, match="its adapter cannot be loaded"):
        _odds(model, str(broken), "nice")


def test_four_bits_need_their_package_and_a_gpu(tmp_path: Path, model: Path) -> None:
    plan = LoraPlan(device="cpu", dtype="nf4")
    with pytest.raises(ConfigError, match="dtype: nf4 needs"):
        fine_tune(model, _examples(), tmp_path / "a", plan)
