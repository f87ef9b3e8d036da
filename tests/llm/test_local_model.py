"""Models in this process: a real tiny Llama, by `transformers`."""

import asyncio
import math
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from pydantic import ValidationError

from recjury.errors import CallFailed, ConfigError, ProviderError
from recjury.llm import Completion, Gateway, NullRecorder, call_identity, read_model
from recjury.llm.local_spec import LocalSpec
from recjury.llm.model_folder import folder_digest
from recjury.records import ChatRequest, Message
from tests.tiny_llama import STRICT_TEMPLATE, make_tiny_llama

pytest.importorskip("transformers")

ASKED = ChatRequest(
    "main",
    (Message("system", ("Be brief.",)), Message("user", ("Which film?",))),
    "test",
    max_tokens=12,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_llama(tmp_path_factory.mktemp("llama"))


def _spec(folder: Path, **settings: object) -> LocalSpec:
    given = {"provider": "transformers", "model": str(folder), "device": "cpu", **settings}
    found = read_model(given)
    assert isinstance(found, LocalSpec)
    return found


def _answers(spec: LocalSpec, *requests: ChatRequest) -> Sequence[Completion]:
    async def ask() -> Sequence[Completion]:
        from recjury.llm.local_provider import LocalProvider

        provider = LocalProvider(spec)
        try:
            return await asyncio.gather(*(provider.complete(each) for each in requests))
        finally:
            await provider.aclose()

    return asyncio.run(ask())


def _check(spec: LocalSpec) -> None:
    async def check() -> None:
        async with Gateway({"main": spec}, NullRecorder()) as gateway:
            await gateway.check()

    asyncio.run(check())


def test_a_greedy_reply_is_that_of_generate(folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    (found,) = _answers(_spec(folder), ASKED)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    text = "<|system|>Be brief.<|end|><|user|>Which film?<|end|><|assistant|>"
    prompt = tokenizer(text, return_tensors="pt", add_special_tokens=False).input_ids
    with torch.inference_mode():
        tokens = model.generate(prompt, max_new_tokens=12, do_sample=False)[0, prompt.shape[1] :]
    assert found.text == tokenizer.decode(tokens, skip_special_tokens=True)
    assert found.prompt_tokens == prompt.shape[1]
    assert found.completion_tokens == len(tokens)
    assert found.finish_reason == ("length" if len(tokens) == 12 else "stop")


def test_log_probabilities_are_those_of_the_models_scores(folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    (found,) = _answers(_spec(folder), ASKED._replace(max_tokens=3, top_logprobs=5))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    text = "<|system|>Be brief.<|end|><|user|>Which film?<|end|><|assistant|>"
    prompt = tokenizer(text, return_tensors="pt", add_special_tokens=False).input_ids
    with torch.inference_mode():
        scores = torch.log_softmax(model(prompt).logits[0, -1], dim=-1)
    best = torch.topk(scores, 5)
    token, value, others = found.logprobs[0]
    assert token == tokenizer.decode(best.indices[:1])
    assert math.isclose(value, float(best.values[0]), abs_tol=1e-4)
    assert [text for text, _ in others] == [tokenizer.decode([each]) for each in best.indices]
    assert all(
        math.isclose(mine, float(its), abs_tol=1e-4)
        for (_, mine), its in zip(others, best.values, strict=True)
    )


def test_samples_differ_and_repeat(folder: Path) -> None:
    warm = ASKED._replace(temperature=1.0)
    requests = (warm, warm._replace(sample=1), warm._replace(sample=2))
    first = [each.text for each in _answers(_spec(folder), *requests)]
    again = [each.text for each in _answers(_spec(folder), *reversed(requests))]
    assert len(set(first)) == 3
    assert again == first[::-1]


def test_several_replies_are_asked_for_at_once(folder: Path) -> None:
    (found,) = _answers(_spec(folder), ASKED._replace(temperature=1.0, n=3))
    texts = {found.text, *(each.text for each in found.further)}
    assert len(found.further) == 2
    assert len(texts) == 3
    assert found.completion_tokens > 12


def test_a_template_that_refuses_roles_gets_others(tmp_path: Path) -> None:
    folder = make_tiny_llama(tmp_path, template=STRICT_TEMPLATE)
    opened = (Message("assistant", ("Hello.",)), *ASKED.messages[1:])
    for messages in (ASKED.messages, opened):
        (found,) = _answers(_spec(folder), ASKED._replace(messages=messages))
        assert found.completion_tokens > 0


def test_a_prompt_that_is_too_long_fails_for_good(tmp_path: Path) -> None:
    folder = make_tiny_llama(tmp_path, positions=64)
    long = ASKED._replace(messages=(Message("user", ("film " * 200,)),))
    with pytest.raises(CallFailed, match=r"the prompt has \d+ tokens, the model 64") as failure:
        _answers(_spec(folder), long)
    assert failure.value.permanent


def test_a_reply_has_no_more_tokens_than_the_context_leaves(tmp_path: Path) -> None:
    folder = make_tiny_llama(tmp_path, positions=64)
    (found,) = _answers(_spec(folder), ASKED._replace(max_tokens=None))
    assert found.prompt_tokens + found.completion_tokens <= 64


@pytest.mark.slow
def test_a_caller_who_goes_ends_the_generation(folder: Path) -> None:
    async def ask() -> float:
        from recjury.llm.local_provider import LocalProvider

        provider = LocalProvider(_spec(folder))
        await provider.complete(ASKED)
        long = asyncio.ensure_future(provider.complete(ASKED._replace(max_tokens=3500)))
        await asyncio.sleep(0.2)
        long.cancel()
        with pytest.raises(asyncio.CancelledError):
            await long
        started = asyncio.get_running_loop().time()
        await provider.complete(ASKED._replace(max_tokens=1))
        waited = asyncio.get_running_loop().time() - started
        await provider.aclose()
        return waited

    whole = _time_of(_spec(folder), ASKED._replace(max_tokens=3500))
    assert asyncio.run(ask()) < whole / 2


def _time_of(spec: LocalSpec, request: ChatRequest) -> float:
    import time

    started = time.perf_counter()
    _answers(spec, request)
    return time.perf_counter() - started


def test_the_check_refuses_what_cannot_work(tmp_path: Path, folder: Path) -> None:
    plain = make_tiny_llama(tmp_path / "plain", template=None)
    bare = shutil.copytree(folder, tmp_path / "bare")
    (bare / "model.safetensors").unlink()
    _check(_spec(folder))
    with pytest.raises(ConfigError, match=r"there is no config\.json in this folder"):
        _check(_spec(tmp_path / "nowhere"))
    with pytest.raises(ProviderError, match="no weights in this folder"):
        _check(_spec(bare))
    with pytest.raises(ProviderError, match="no chat template"):
        _check(_spec(plain))
    with pytest.raises(ProviderError, match="device 'tpu9' cannot be used"):
        _check(_spec(folder, device="tpu9"))


def test_a_model_that_does_not_fit_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recjury.llm.local_generation.free_memory", lambda _: 1000)
    with pytest.raises(ProviderError, match=r"its weights need \d+\.\d GiB, and cpu has 0\.0 GiB"):
        _check(_spec(folder))


def test_broken_weights_are_one_line(tmp_path: Path, folder: Path) -> None:
    broken = shutil.copytree(folder, tmp_path / "broken")
    (broken / "model.safetensors").write_bytes(b"\x00" * 100)
    with pytest.raises(ProviderError, match="its model cannot be loaded") as failure:
        _answers(_spec(broken), ASKED)
    assert "\n" not in str(failure.value)


@pytest.mark.parametrize("settings", [{"embedding": True}, {"json_mode": "schema"}])
def test_what_it_cannot_do_is_refused(folder: Path, settings: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="provider transformers"):
        _spec(folder, **settings)


def test_other_weights_are_another_model(tmp_path: Path, folder: Path) -> None:
    copied = shutil.copytree(folder, tmp_path / "copied")
    assert folder_digest(copied) == folder_digest(folder)
    with (copied / "model.safetensors").open("r+b") as file:
        file.write(b"\x01")
    mine, other = _spec(folder), _spec(copied)
    assert call_identity(ASKED, mine) != call_identity(ASKED, other)
    assert mine.reply_settings()["weights"] != other.reply_settings()["weights"]


def test_a_large_file_is_sampled_at_both_ends(tmp_path: Path) -> None:
    path = tmp_path / "weights"
    with path.open("wb") as file:
        file.truncate(80 * 2**20)
    digests = {folder_digest(tmp_path)}
    for place in (0, 80 * 2**20 - 1):
        with path.open("r+b") as file:
            file.seek(place)
            file.write(b"\x01")
        digests.add(folder_digest(tmp_path))
    assert len(digests) == 3
