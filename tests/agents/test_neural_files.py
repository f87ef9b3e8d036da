"""Weights, tokenizers and configurations of the neural systems, good and bad."""

import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from recjury.agents.neural import backbones, bart_files, weights
from recjury.agents.neural.bart import BartLanguageModel
from recjury.agents.neural.bart_config import read_config, read_rules
from recjury.agents.neural.tokens import ITEM, Tokens
from recjury.errors import ConfigError, DataError
from tests.agents.tiny import bart_tokens, dims


class Intruder:
    """Pickles to a call of os.mkdir."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.path),)


@pytest.fixture
def generator(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    model = BartLanguageModel(dims().config())
    bart_files.save_transformer(tmp_path, model, model.model.config)
    return tmp_path


def test_safetensors_are_read_as_torch_files_are(generator: Path) -> None:
    before = bart_files.load_generator(generator, max_length=9, whose="BARCOR").model
    tensors = weights.read_tensors(generator / "pytorch_model.bin")
    # As transformers writes it: tied tensors once, half precision where asked for.
    once = {n: t for n, t in tensors.items() if "embed_tokens" not in n and n != "lm_head.weight"}
    save_file(once, generator / "model.safetensors")
    (generator / "pytorch_model.bin").unlink()
    after = bart_files.load_generator(generator, max_length=9, whose="BARCOR").model
    for name, tensor in before.state_dict().items():
        assert torch.equal(tensor, after.state_dict()[name])
    assert after.lm_head.weight is after.model.shared.weight


def test_half_precision_takes_half_the_place_and_is_read_as_single(generator: Path) -> None:
    path = generator / "pytorch_model.bin"
    before, size = weights.read_tensors(path), path.stat().st_size
    weights.halve(generator)
    assert path.stat().st_size < 0.75 * size  # what is not numbers stays as large
    model = bart_files.load_generator(generator, max_length=9, whose="BARCOR").model
    for name, tensor in model.state_dict().items():
        assert tensor.dtype == torch.float32
        assert torch.equal(tensor, before[name].half().float())


def test_tied_tensors_that_differ_are_refused(generator: Path) -> None:
    path = generator / "pytorch_model.bin"
    tensors = weights.read_tensors(path)
    tensors["lm_head.weight"] = tensors["lm_head.weight"] + 1
    weights.write_tensors(path, tensors)
    with pytest.raises(DataError, match=r"lm_head\.weight differs from model\.shared"):
        bart_files.load_generator(generator, max_length=9, whose="BARCOR")


def test_a_tensor_that_holds_no_numbers_does_not_differ_from_itself(generator: Path) -> None:
    path = generator / "pytorch_model.bin"
    weights.write_tensors(path, {n: t * torch.nan for n, t in weights.read_tensors(path).items()})
    model = bart_files.load_generator(generator, max_length=9, whose="BARCOR").model
    assert bool(model.lm_head.weight.isnan().all())


def test_missing_and_strange_tensors_are_named(generator: Path) -> None:
    path = generator / "pytorch_model.bin"
    tensors = weights.read_tensors(path)
    del tensors["model.decoder.layers.0.fc1.bias"]
    tensors["model.encoder.layers.0.fc1.bias"] = torch.zeros(3)
    weights.write_tensors(path, tensors)
    with pytest.raises(DataError) as caught:
        bart_files.load_generator(generator, max_length=9, whose="BARCOR")
    assert "model.decoder.layers.0.fc1.bias: expected [16], found nothing" in str(caught.value)
    assert "model.encoder.layers.0.fc1.bias: expected [16], found [3]" in str(caught.value)


def test_a_long_list_of_wrong_tensors_is_cut(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"; and 12 more$"):
        weights.load_into(
            nn.Linear(2, 2), {str(n): torch.zeros(1) for n in range(18)}, tmp_path, whose="A"
        )


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.safetensors"])
def test_files_that_want_more_than_to_be_read_are_refused(generator: Path, name: str) -> None:
    trace = generator / "executed"
    (generator / "pytorch_model.bin").unlink()
    (generator / name).write_bytes(pickle.dumps(Intruder(trace)))
    with pytest.raises(DataError, match=name):
        bart_files.load_generator(generator, max_length=9, whose="BARCOR")
    torch.save({"model.shared.weight": Intruder(trace)}, generator / name)
    with pytest.raises(DataError, match=name):
        bart_files.load_generator(generator, max_length=9, whose="BARCOR")
    assert not trace.exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda found: dict(enumerate(found.values())),
            "expected tensors by name, found the key 0",
        ),
        (
            lambda found: found | {"lm_head.weight": found["lm_head.weight"].to_sparse()},
            "sparse_coo",
        ),
        (lambda found: found | {"lm_head.weight": found["lm_head.weight"].to("meta")}, "on meta"),
        (lambda found: found | {"lm_head.weight": found["lm_head.weight"] * 1j}, "complex64"),
    ],
)
def test_what_is_no_plain_numbers_by_name_is_refused(
    generator: Path, change: Callable[[dict[str, torch.Tensor]], object], message: str
) -> None:
    path = generator / "pytorch_model.bin"
    torch.save(change(weights.read_tensors(path)), path)
    with pytest.raises(DataError, match=message):
        bart_files.load_generator(generator, max_length=9, whose="BARCOR")


@pytest.mark.parametrize("content", [b"", b"junk", b"not a checkpoint"])
def test_a_file_that_is_no_checkpoint_is_refused(generator: Path, content: bytes) -> None:
    (generator / "pytorch_model.bin").write_bytes(content)
    with pytest.raises(DataError, match=r"pytorch_model\.bin: ") as caught:
        bart_files.load_generator(generator, max_length=9, whose="BARCOR")
    assert "\n" not in str(caught.value)


def test_a_folder_without_weights_says_what_was_expected(generator: Path) -> None:
    (generator / "pytorch_model.bin").unlink()
    with pytest.raises(ConfigError, match=r"expected .*model\.safetensors or .*pytorch_model"):
        bart_files.load_generator(generator, max_length=9, whose="BARCOR")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not JSON"),
        ("[]", "expected a mapping"),
        ('{"model_type": "gpt2"}', "expected a model of type bart, found 'gpt2'"),
        ('{"model_type": "bart", "d_model": "wide"}', "cannot be used"),
        ('{"model_type": "bart", "d_model": 10, "encoder_attention_heads": 3}', "cannot be used"),
    ],
)
def test_a_broken_config_is_one_line(generator: Path, content: str, message: str) -> None:
    (generator / "config.json").write_text(content)
    with pytest.raises(DataError, match=message) as caught:
        bart_files.load_generator(generator, max_length=9, whose="BARCOR")
    assert "config.json" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_without_config_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no config\.json"):
        read_config(tmp_path)


def test_generation_is_configured_as_transformers_reads_it(tmp_path: Path) -> None:
    def rules(config: object, generation: object = None) -> tuple[object, ...]:
        (tmp_path / "config.json").write_text(json.dumps(config))
        (tmp_path / "generation_config.json").unlink(missing_ok=True)
        if generation is not None:
            (tmp_path / "generation_config.json").write_text(json.dumps(generation))
        found = read_rules(tmp_path, max_length=10)
        return found.tokens, found.forced_first, found.forced_last, found.ngram

    own = {"forced_bos_token_id": 0, "forced_eos_token_id": None, "no_repeat_ngram_size": 3}
    assert rules({}) == (9, None, 2, 0)  # BART forces its end token unless told not to
    assert rules(own) == (9, 0, None, 3)
    assert rules(own, {"forced_bos_token_id": 7}) == (9, 7, None, 0)
    assert rules(own, {"forced_bos_token_id": 7, "_from_model_config": True}) == (9, 0, None, 3)
    with pytest.raises(DataError, match="forced_bos_token_id"):
        rules(own, {"forced_bos_token_id": "first"})


def test_texts_are_cut_on_the_left_inside_their_marks() -> None:
    tokens = bart_tokens()
    ids = tokens.encode("I liked Heat a lot")
    assert tokens.sentence("I liked Heat a lot", 100) == [0, *ids, 2]
    assert tokens.sentence("I liked Heat a lot", 5) == [0, *ids[-3:], 2]
    assert tokens.encode("a</s>b") == [*tokens.encode("a"), 2, *tokens.encode("b")]


def test_decoding_drops_special_tokens_but_for_those_to_keep() -> None:
    tokens = bart_tokens()
    ids = [0, *tokens.encode(f"Have you seen {ITEM} ? I do n't know , it 's fine ."), 2]
    assert (
        tokens.decode(ids) == "Have you seen ? I don't know, it's fine."
    )  # as transformers has it
    assert tokens.decode(ids, keep=(ITEM,)) == f"Have you seen {ITEM}? I don't know, it's fine."


def test_a_saved_tokenizer_is_the_same(tmp_path: Path) -> None:
    bart_tokens().save(tmp_path)
    again = Tokens.load(tmp_path, "bart")
    assert again.digest == bart_tokens().digest
    assert again.encode(f"I saw {ITEM}</s>") == bart_tokens().encode(f"I saw {ITEM}</s>")
    config = tmp_path / "tokenizer_config.json"
    config.write_text('{"clean_up_tokenization_spaces": false}')
    untidy = Tokens.load(tmp_path, "bart")
    assert untidy.decode(untidy.encode("Yes , it is .")) == "Yes , it is ."


def test_a_tokenizer_of_two_files_is_the_same(tmp_path: Path) -> None:
    bart_tokens().save(tmp_path)
    model = json.loads((tmp_path / "tokenizer.json").read_text())["model"]
    (tmp_path / "vocab.json").write_text(json.dumps(model["vocab"]))
    merges = [" ".join(m) if isinstance(m, list) else m for m in model["merges"]]
    (tmp_path / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges))
    (tmp_path / "tokenizer.json").unlink()
    text = "<s>I liked Heat (1995), isn't it?</s>"
    assert Tokens.load(tmp_path, "bart").encode(text) == bart_tokens().encode(text)


def test_a_tokenizer_that_is_not_there_or_broken_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"expected tokenizer\.json, or vocab\.json and merges"):
        Tokens.load(tmp_path, "bart")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(DataError, match="the tokenizer cannot be read"):
        Tokens.load(tmp_path, "bart")


def test_backbones_come_from_the_checkpoint_a_folder_or_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub.constants

    def place(name: str | None) -> Path:
        return backbones.backbone_folder(
            name, "facebook/bart-base", checkpoint=tmp_path, kind="bart", weights=True
        )

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    with pytest.raises(ConfigError) as caught:
        place(None)
    said = str(caught.value)
    assert "hf download facebook/bart-base --local-dir FOLDER" in said
    assert "vocab.json and merges.txt" in said
    assert "config.json, and model.safetensors (or pytorch_model.bin)" in said
    assert "backbones: {bart: FOLDER}" in said
    with pytest.raises(ConfigError, match="there is no folder"):
        place(str(tmp_path / "nowhere"))
    other = tmp_path / "other"
    other.mkdir()
    assert place(str(other)) == other
    (tmp_path / "backbones" / "bart").mkdir(parents=True)
    assert place(None) == tmp_path / "backbones" / "bart"
    assert place(str(other)) == other
