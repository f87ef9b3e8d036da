"""Published backbones to train from: their names, their files, and what is made of them."""

import json
import socket
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BartForConditionalGeneration

from recjury.agents.barcor.checkpoint import LIMITS
from recjury.agents.neural import weights
from recjury.agents.neural.backbones import Origin, backbone_folder, find_origin
from recjury.agents.neural.description import Limits
from recjury.agents.neural.tokens import ITEM, Tokens
from recjury.agents.training.bart_start import BartStart, published_bart
from recjury.agents.training.origins import find_origins
from recjury.agents.training.replies import TrainingReply
from recjury.agents.training.systems import TrainingOptions, train
from recjury.agents.unicrs.assembly import read_texts
from recjury.agents.unicrs.backbone_files import Folders
from recjury.agents.unicrs.prompting import fitting
from recjury.corpora import Corpus
from recjury.errors import ConfigError, DataError
from recjury.tables import WorkProgress
from tests.agents.published import write_bart, write_gpt2, write_roberta

TEXTS = ["<s>User: I liked Heat</s>", "<s>User: A film</s><pad><pad>"]


def start(folder: Path, limits: Limits = LIMITS) -> BartStart:
    return published_bart(find_origin(str(folder), "bart"), limits)


def test_backbones_are_named_by_kind_and_found_by_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    assert find_origins("kbrd", []) == {}
    found = Origin("bart", str((tmp_path / "one").resolve()), Path("one"))
    assert find_origins("kbrd", ["one"]) == find_origins("barcor", ["bart=one"]) == {"bart": found}
    both = find_origins("unicrs", ["roberta=two", "gpt2=one"])
    assert {kind: origin.folder for kind, origin in both.items()} == {
        "gpt2": Path("one"),
        "roberta": Path("two"),
    }


@pytest.mark.parametrize(
    ("system", "named", "said"),
    [
        ("kbrd", ["gpt2=x"], "kbrd takes bart=NAME, got 'gpt2=x'"),
        ("barcor", ["bart="], "barcor takes bart=NAME, got 'bart='"),
        ("barcor", [""], "barcor takes bart=NAME, got ''"),
        ("barcor", ["a", "bart=b"], "backbones name bart twice: a and b"),
        ("unicrs", ["x"], "unicrs takes gpt2=NAME and roberta=NAME, got 'x'"),
        ("unicrs", ["bart=x"], "unicrs takes gpt2=NAME and roberta=NAME, got 'bart=x'"),
        ("unicrs", ["gpt2=x"], r"add roberta=NAME \(published: roberta-base\)"),
        ("unicrs", ["gpt2=x", "gpt2=y"], "backbones name gpt2 twice: x and y"),
        ("kbrd", ["/nowhere/bart"], "backbone bart: there is no folder /nowhere/bart"),
    ],
)
def test_backbones_named_badly_are_refused(
    few: Corpus, tmp_path: Path, system: str, named: list[str], said: str
) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        train(system, few, tmp_path / "out", TrainingOptions(backbones=named))
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_without_a_network_it_says_what_to_fetch_and_where_to_name_it(
    few: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    named = [f"gpt2={write_gpt2(tmp_path / 'gpt2')}", "roberta=roberta-base"]
    with pytest.raises(ConfigError) as caught:
        train("unicrs", few, tmp_path / "out", TrainingOptions(backbones=named))
    said = str(caught.value)
    assert "hf download roberta-base --local-dir FOLDER" in said
    assert "config.json, and model.safetensors (or pytorch_model.bin)" in said
    assert "with `--set backbones=roberta=FOLDER`" in said
    assert not (tmp_path / "out").exists()


def test_a_hub_that_cannot_be_reached_is_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    import huggingface_hub.constants

    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # it does not listen: whoever connects is refused
        address = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", address)
        url = address + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(huggingface_hub.constants, "HUGGINGFACE_CO_URL_TEMPLATE", url)
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        begun = time.monotonic()
        with pytest.raises(ConfigError, match="hf download roberta-base --local-dir FOLDER"):
            find_origin("roberta-base", "roberta")
    assert time.monotonic() - begun < 15  # the library alone waits for 23 s for each file
    assert "Retrying" not in caplog.text


def test_a_hub_name_is_found_in_the_hubs_cache_and_again_by_what_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    cached = tmp_path / "cache" / "models--facebook--bart-base"
    revision = "0123456789" * 4
    snapshot = write_bart(cached / "snapshots" / revision)
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text(revision)
    found = find_origin("facebook/bart-base", "bart")
    assert found == Origin("bart", "facebook/bart-base", snapshot)
    inside = tmp_path / "checkpoint" / "backbones" / "bart"
    inside.mkdir(parents=True)

    def place(recorded: str | None) -> Path:
        return backbone_folder(
            None,
            "roberta-base",
            checkpoint=tmp_path / "checkpoint",
            kind="bart",
            weights=True,
            recorded=recorded,
        )

    assert place(found.name) == snapshot
    assert place(None) == inside


def test_a_generator_that_is_not_wanted_starts_from_nothing(few: Corpus, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="leave them out with generator=false"):
        train("kbrd", few, tmp_path / "out", TrainingOptions(backbones=["x"], generator=False))


class TooLate(WorkProgress):
    """Of a training that begins before all files were looked at."""

    def say(self, line: str) -> None:
        raise AssertionError(line)


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("config.json", r"no config\.json in .*bart"),
        ("tokenizer.json", r"no tokenizer in .*bart: expected tokenizer\.json, or"),
        ("model.safetensors", r"no weights in .*bart: expected .*model\.safetensors"),
    ],
)
@pytest.mark.parametrize("system", ["kbrd", "barcor"])
def test_a_folder_that_lacks_a_file_is_refused_before_anything_is_trained(
    few: Corpus, tmp_path: Path, system: str, missing: str, said: str
) -> None:
    bart = write_bart(tmp_path / "bart")
    (bart / missing).unlink()
    with pytest.raises(ConfigError, match=said):
        train(
            system,
            few,
            tmp_path / "out",
            TrainingOptions(backbones=[str(bart)]),
            progress=TooLate(),
        )
    assert [path.name for path in tmp_path.iterdir()] == ["bart"]


def test_models_of_another_type_are_refused(few: Corpus, tmp_path: Path) -> None:
    gpt2, roberta = write_gpt2(tmp_path / "gpt2"), write_roberta(tmp_path / "roberta")
    with pytest.raises(DataError, match="expected a model of type bart, found 'gpt2'"):
        train("barcor", few, tmp_path / "out", TrainingOptions(backbones=[str(gpt2)]))
    swapped = [f"gpt2={roberta}", f"roberta={gpt2}"]
    with pytest.raises(DataError, match="expected a model of type gpt2, found 'roberta'"):
        train("unicrs", few, tmp_path / "out", TrainingOptions(backbones=swapped))


def test_weights_of_another_size_and_other_marks_are_refused(tmp_path: Path) -> None:
    bart = write_bart(tmp_path / "bart")
    path = bart / "config.json"
    described = json.loads(path.read_text())
    path.write_text(json.dumps(described | {"encoder_ffn_dim": 8}))
    with pytest.raises(DataError, match=r"encoder\.layers\.0\.fc1\.bias: expected \[8\], found \["):
        start(bart)
    path.write_text(json.dumps(described | {"decoder_start_token_id": 0}))
    with pytest.raises(DataError, match="decoder_start_token_id 2 and pad_token_id 1, found"):
        start(bart)
    path.write_text(json.dumps(described))
    Tokens.train(["a film"], "gpt2", size=300).save(bart)
    with pytest.raises(DataError, match="expected the ids"):
        start(bart)


@pytest.mark.parametrize("head", [False, True])
def test_a_bart_says_at_first_what_the_published_one_does(tmp_path: Path, head: bool) -> None:
    bart = write_bart(tmp_path / "bart", head=head)
    state = torch.get_rng_state()
    begun = start(bart)
    assert torch.equal(torch.get_rng_state(), state)
    reference = BartForConditionalGeneration.from_pretrained(bart).eval()
    model = begun.generator(bias_width=8).eval()
    ids = torch.tensor([begun.tokens.encode(text)[:7] for text in TEXTS])
    users = torch.ones(2, 8)
    with torch.no_grad():
        expected = reference(
            input_ids=ids, attention_mask=ids != 1, decoder_input_ids=ids[:, :5]
        ).logits
        found = model(ids, ids[:, :5], users)
    vocabulary = reference.config.vocab_size
    assert torch.allclose(found[..., :vocabulary], expected, atol=1e-5)
    # The token for items is new, and as likely as tokens are on average.
    assert begun.tokens.id(ITEM) == vocabulary == found.shape[-1] - 1
    assert torch.allclose(found[..., vocabulary], expected.mean(-1), atol=1e-4)


def test_the_digest_is_that_of_the_numbers_in_whatever_file(tmp_path: Path) -> None:
    bart = write_bart(tmp_path / "bart")
    before = start(bart).backbones["bart"]
    assert (before.name, before.frozen) == (str(bart.resolve()), False)
    tensors = load_file(bart / "model.safetensors")
    (bart / "model.safetensors").unlink()
    weights.write_tensors(bart / "pytorch_model.bin", {f"model.{n}": t for n, t in tensors.items()})
    assert start(bart).backbones["bart"] == before
    tensors["encoder.layers.0.fc1.bias"][0] += 1e-3
    save_file(tensors, bart / "model.safetensors")
    assert start(bart).backbones["bart"].digest != before.digest


def test_published_barts_begin_a_reply_with_its_mark_as_they_learnt(tmp_path: Path) -> None:
    begun = start(write_bart(tmp_path / "bart"))
    (reply,) = begun.replies([TrainingReply("d", ("Hi",), (), "A film?", "A film?")])
    ids = begun.tokens.encode(reply.reply)
    assert ids[0] == begun.config.forced_bos_token_id == 0
    assert begun.tokens.decode(ids) == "A film?"


def test_limits_are_the_published_ones_where_there_are_positions(tmp_path: Path) -> None:
    assert start(write_bart(tmp_path / "long", positions=1024)).limits == LIMITS
    assert start(write_bart(tmp_path / "short", positions=60)).limits == Limits(
        context=60, entities=0, response=60
    )
    published = Limits(context=128, entities=43, response=64)

    def fits(gpt2: int, roberta: int) -> Limits:
        places = Folders(
            gpt2=write_gpt2(tmp_path / "gpt2", positions=gpt2),
            roberta=write_roberta(tmp_path / "roberta", positions=roberta),
        )
        return fitting(places, read_texts(places, published, ITEM))

    assert fits(1024, 514) == Limits(context=128, entities=32, response=64)
    assert fits(1024, 82) == Limits(context=80, entities=32, response=64)
    short = fits(120, 514)
    assert (short.entities, short.context > short.response > 30) == (32, True)
    with pytest.raises(DataError, match="too few positions for context and reply"):
        fits(40, 514)
    with pytest.raises(DataError, match="roberta: too few positions"):
        fits(1024, 17)
