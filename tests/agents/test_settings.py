"""What can change a neural system's answers is in its settings, whichever file says it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from recjury.agents import SystemContext, load_recommender
from recjury.agents.neural.context import REPEAT_NGRAM
from recjury.agents.neural.description import Fidelity
from recjury.records import JSON
from tests.agents.tiny import CORPUS, write_barcor, write_kbrd, write_unicrs

WRITE: dict[str, Callable[..., object]] = {
    "kbrd": write_kbrd,
    "barcor": write_barcor,
    "unicrs": write_unicrs,
}


def settings(kind: str, folder: Path) -> dict[str, JSON]:
    options = {"checkpoint": str(folder)}
    return dict(load_recommender(kind, kind, options, SystemContext(CORPUS)).settings)


@pytest.mark.parametrize(
    ("kind", "file", "changed"),
    [
        ("kbrd", "conv_model/config.json", {"decoder_attention_heads": 4}),
        ("kbrd", "conv_model/generation_config.json", {"repetition_penalty": 1.5}),
        ("kbrd", "backbones/bart/tokenizer_config.json", {"clean_up_tokenization_spaces": False}),
        ("barcor", "rec_model/config.json", {"encoder_attention_heads": 4}),
        ("barcor", "conv_model/config.json", {"activation_function": "relu"}),
        ("barcor", "conv_model/generation_config.json", {"forced_bos_token_id": 7}),
        ("unicrs", "backbones/gpt2/config.json", {"n_head": 4}),
        ("unicrs", "backbones/roberta/config.json", {"hidden_act": "relu"}),
        ("unicrs", "backbones/gpt2/tokenizer_config.json", {"clean_up_tokenization_spaces": False}),
        ("unicrs", "recjury.json", {"limits": {"context": 48, "entities": 8, "response": 9}}),
    ],
)
def test_a_file_that_changes_answers_makes_another_system(
    kind: str, file: str, changed: dict[str, JSON], tmp_path: Path
) -> None:
    WRITE[kind](tmp_path)
    before, path = settings(kind, tmp_path), tmp_path / file
    described = json.loads(path.read_text()) if path.is_file() else {}
    path.write_text(json.dumps(described | changed))
    assert settings(kind, tmp_path) != before


@pytest.mark.parametrize(
    ("kind", "fidelity", "source_ngram", "penalty"),
    [
        ("kbrd", "corrected", REPEAT_NGRAM, 1.0),
        ("kbrd", "ievalm", 3, 1.0),
        ("barcor", "corrected", REPEAT_NGRAM, 1.0),
        ("barcor", "ievalm", 3, 1.0),
        ("unicrs", "corrected", REPEAT_NGRAM, 1.1),
        ("unicrs", "ievalm", 0, 1.0),
    ],
)
def test_how_a_reply_is_generated_is_named(
    kind: str, fidelity: Fidelity, source_ngram: int, penalty: float, tmp_path: Path
) -> None:
    WRITE[kind](tmp_path, fidelity=fidelity)
    rules = settings(kind, tmp_path)["rules"]
    assert isinstance(rules, dict)
    assert (rules["ngram"], rules["source_ngram"]) == (3, source_ngram)
    assert rules["repetition_penalty"] == penalty
    assert bool(rules["undoubled"]) == (fidelity == "corrected")
