"""Language models in this process: tiny ones with random weights, made by the test."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from recjury.errors import Stop, UserError
from recjury.llm import Answer, Model, open_model
from recjury.records import Message, Status
from tests.llm.doubles import Memory, ask_of, gateway

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

_TEMPLATE = (
    "{% for message in messages %}<{{ message.role }}>{{ message.content }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
_NO_SYSTEM = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}"


def write(folder: Path, template: str | None = _TEMPLATE) -> str:
    """A Llama of two small layers, and a tokenizer of single characters."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = {word: number for number, word in enumerate(["</s>", *letters])}
    letter = Tokenizer(models.BPE(words, []))
    letter.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    letter.decoder = decoders.ByteLevel()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=letter, eos_token="</s>", chat_template=template
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(words),
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=400,
        eos_token_id=0,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write(tmp_path_factory.mktemp("tiny"))


def said(name: str, prompts: Sequence[Any], **settings: Any) -> list[Answer[str]]:
    temperature, memory = settings.pop("temperature", 0.0), settings.pop("memory", None)

    async def run() -> list[Answer[str]]:
        model = {"provider": "transformers", "name": name, "max_tokens": 12, **settings}
        async with gateway(open_model, memory=memory, **model) as opened:
            ask = ask_of(opened)
            texts = (ask.text(each, model="main", temperature=temperature) for each in prompts)
            return list(await asyncio.gather(*texts))

    return asyncio.run(run())


def test_open_calls_are_answered_together_and_counted(tiny: str) -> None:
    memory = Memory()
    prompts = ["Hello.", "A longer question than that?", "Hm."]
    together = [each.value for each in said(tiny, prompts, memory=memory)]
    alone = [each.value for each in said(tiny, prompts, concurrency=1)]
    assert together == alone
    kept = list(memory.kept.values())
    assert all(each.tokens_out == 12 and each.finish == "length" for each in kept)
    assert all(each.tokens_in and each.cost == 0 for each in kept)


def test_what_is_sampled_is_sampled_again_alike(tiny: str) -> None:
    first = said(tiny, ["Hello."], temperature=1.0, concurrency=1)
    assert first == said(tiny, ["Hello."], temperature=1.0, concurrency=1)
    assert first[0].value != said(tiny, ["Hello."], concurrency=1)[0].value


def test_it_has_log_probabilities(tiny: str) -> None:
    async def run() -> tuple[Any, Memory]:
        memory = Memory()
        model: dict[str, Any] = {"provider": "transformers", "name": tiny}
        async with gateway(open_model, memory=memory, **model) as opened:
            return await ask_of(opened).odds("One letter.", ("a", "b"), model="main"), memory

    answer, memory = asyncio.run(run())
    assert answer.status in (Status.OK, Status.UNREADABLE)  # weights are random
    places = [place for kept in memory.kept.values() for place in kept.logprobs]
    assert places
    for place in places:
        tops = [top["logprob"] for top in place["top_logprobs"]]
        assert len(tops) == 20
        assert tops == sorted(tops, reverse=True)
        assert place["logprob"] == pytest.approx(tops[0])


def test_a_template_without_system_messages_gets_them_from_the_user(tmp_path: Path) -> None:
    name = write(tmp_path, _NO_SYSTEM + _TEMPLATE)
    prompt = [Message("system", ("Be kind.",)), Message("user", ("Hi.",))]
    assert said(name, [prompt])[0].value


def test_a_prompt_that_is_too_long_is_refused_and_the_others_are_not(tiny: str) -> None:
    long, short = said(tiny, ["a" * 400, "Hello."])
    assert long.status is Status.REFUSED
    assert "400" in long.reason
    assert short.value


def test_a_tokenizer_without_chat_template_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(Stop, match="no chat template"):
        said(write(tmp_path, None), ["Hello."])


@pytest.mark.parametrize(
    ("name", "settings", "reason"),
    [
        ("/no/such/folder", {}, "config.json"),
        ("/no/such/model.gguf", {}, "model.gguf"),
        ("TINY", {"adapter": "/no/such/adapter"}, "adapter"),
    ],
)
def test_what_is_missing_is_said_before_anything_is_loaded(
    tiny: str, name: str, settings: dict[str, str], reason: str
) -> None:
    model = Model(provider="transformers", name=name.replace("TINY", tiny), **settings)
    with pytest.raises(UserError, match=reason) as error:
        open_model(model)
    assert "\n" not in str(error.value)


def test_a_device_that_is_not_there_is_one_line(tiny: str) -> None:
    with pytest.raises(Stop):
        said(tiny, ["Hello."], device="cuda:99")


def test_calls_are_new_when_the_files_change_and_not_when_they_move(tmp_path: Path) -> None:
    def reply(folder: Path, **settings: Any) -> Any:
        return Model(provider="transformers", name=str(folder), **settings).reply

    one, other = tmp_path / "a" / "m", tmp_path / "b" / "m"
    for folder in (one, other):
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")
    assert reply(one) == reply(other)
    assert reply(one, device="cpu", concurrency=3) == reply(one)
    assert reply(one, dtype="bfloat16") != reply(one)
    assert reply(one, adapter=str(other)) != reply(one)
    (other / "model.safetensors").write_text("weights")
    assert reply(one) != reply(other)


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of peft about transformers
def test_an_adapter_changes_what_is_said(tiny: str, tmp_path: Path) -> None:
    peft = pytest.importorskip("peft")
    base = transformers.AutoModelForCausalLM.from_pretrained(tiny)
    torch.manual_seed(1)
    tuned = peft.get_peft_model(base, peft.LoraConfig(r=4, init_lora_weights=False))
    tuned.save_pretrained(tmp_path)
    with_adapter = said(tiny, ["Hello."], adapter=str(tmp_path))[0].value
    assert with_adapter != said(tiny, ["Hello."])[0].value
