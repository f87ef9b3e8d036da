"""One vLLM server: adapters, log-probabilities, the prefix cache, and the noise floor."""

import asyncio
import math
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from recjury.cli.noise_floor import HEADER, described, measure_noise
from recjury.judges.factor_rubric import Rubric
from recjury.llm import Gateway, NullRecorder
from recjury.llm.choice_odds import read_rating_odds
from recjury.llm.model_kinds import read_model
from recjury.records import ChatRequest, Factor, Message, RatingForm, Reply
from tests.judges.cases import a_log

T = TypeVar("T")
CODE, LOW, HIGH = "k7r2m0", 0, 4
MESSAGES = (
    Message("system", ("You judge conversational recommender systems.",)),
    Message("user", ("User: Something quiet? System: Try Tokyo Story (1953). Rate this.",)),
)
_UNLIKELY = -9000.0  # below it, a token was not allowed


def _rated(reply: Reply) -> dict[str, float]:
    """The log-probabilities of the numbers of the scale, where the number stands."""
    place = [token for token, _, _ in reply.logprobs].index('">') + 1
    _, _, others = reply.logprobs[place]
    return {text: value for text, value in others if value > _UNLIKELY}


def _by_transformers(
    model: Path, prompt: Sequence[Message], adapter: Path | None
) -> dict[str, float]:
    """The same by transformers, over the numbers of the scale alone."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    llama = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    if adapter is not None:
        _merge(llama, adapter)
    chat = [{"role": role, "content": "".join(parts)} for role, parts in prompt]
    said = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    tokens = tokenizer(said + f'<rating code="{CODE}">', return_tensors="pt")["input_ids"]
    with torch.no_grad():
        scores = llama(tokens).logits[0, -1]
    labels = {str(number): tokenizer.encode(str(number)) for number in range(LOW, HIGH + 1)}
    assert all(len(found) == 1 for found in labels.values())
    allowed = torch.tensor([found[0] for found in labels.values()])
    return dict(zip(labels, scores[allowed].log_softmax(0).tolist(), strict=True))


def _merge(llama: Any, adapter: Path) -> None:
    """Add an adapter's product to the weights, as LoRA defines it."""
    import json

    from safetensors.torch import load_file

    config = json.loads((adapter / "adapter_config.json").read_text("utf-8"))
    weights = load_file(adapter / "adapter_model.safetensors")
    for name in {key.rpartition(".lora_")[0] for key in weights}:
        module = llama.get_submodule(name.removeprefix("base_model.model."))
        product = weights[f"{name}.lora_B.weight"] @ weights[f"{name}.lora_A.weight"]
        module.weight.data += product * config["lora_alpha"] / config["r"]


def test_log_probabilities_are_those_of_transformers_with_and_without_an_adapter(
    loop: asyncio.Runner, entry: dict[str, Any], tiny: tuple[Path, Path], figures: list[str]
) -> None:
    model, adapter = tiny
    models = {
        "plain": read_model(entry),
        "strict": read_model(entry | {"adapter": str(adapter), "name": "strict"}),
    }
    form = RatingForm(CODE, LOW, HIGH, reasons=0)

    async def ask() -> list[Reply]:
        async with Gateway(models, NullRecorder()) as gateway:
            await gateway.check()
            return [
                await gateway.complete(
                    ChatRequest(alias, MESSAGES, "test", top_logprobs=20, form=form)
                )
                for alias in models
            ]

    plain, strict = loop.run(ask())
    assert (plain.model, strict.model) == (model.name, "strict")
    wanted = [_by_transformers(model, MESSAGES, each) for each in (None, adapter)]
    worst = 0.0
    for reply, expected in zip((plain, strict), wanted, strict=True):
        found = _rated(reply)
        assert found.keys() == expected.keys()
        worst = max(worst, *(abs(found[label] - expected[label]) for label in expected))
        mean = sum(int(label) * math.exp(value) for label, value in expected.items())
        assert abs(read_rating_odds(reply._replace(code=CODE), LOW, HIGH) - mean) < 1e-3
    apart = max(abs(wanted[0][label] - wanted[1][label]) for label in wanted[0])
    assert worst < 1e-3 < apart
    figures.append(
        f"log-probabilities of the labels 0 to 4: at most {worst:.1e} from those of transformers; "
        f"the adapter, used by its name, changes them by up to {apart:.1e}"
    )


@pytest.mark.parametrize("turns", [8, 64])
def test_the_judges_of_a_log_share_the_prefix_cache(
    loop: asyncio.Runner,
    entry: dict[str, Any],
    tiny: tuple[Path, Path],
    figures: list[str],
    turns: int,
) -> None:
    from transformers import AutoTokenizer

    said = "I would watch Ronin (1998): it is quiet, exact and has long drives. " * 3
    log = a_log(*(f"{number}. {said}" for number in range(turns)))
    rubric = Rubric()
    prompts = [rubric.messages(factor, log) for factor in Factor]
    tokenizer = AutoTokenizer.from_pretrained(tiny[0])
    common = _common_tokens(tokenizer, prompts)
    models = {
        how: read_model({**entry, "concurrency": 12, "extra": {"cache_salt": f"{how} {turns}"}})
        for how in ("one by one", "all at once", "all at once after the first")
    }

    async def ask(how: str) -> list[Reply]:
        asked = [ChatRequest(how, each, "test", form=RatingForm("a1", 0, 4)) for each in prompts]
        async with Gateway(models, NullRecorder(), concurrency=32) as gateway:
            if how == "one by one":
                return [await gateway.complete(each) for each in asked]
            done = [await gateway.complete(asked[0])] if how.endswith("first") else []
            rest = asked[len(done) :]
            return [*done, *await asyncio.gather(*map(gateway.complete, rest))]

    shares = {}
    for how in models:
        replies = loop.run(ask(how))
        later = sorted(replies, key=lambda reply: reply.usage.cached_tokens)[1:]
        cached = sum(min(common, reply.usage.cached_tokens) for reply in later)
        shares[how] = cached / (common * len(later))
        prompt = sum(reply.usage.prompt_tokens for reply in replies)
        whole = sum(reply.usage.cached_tokens for reply in replies) / prompt
        figures.append(
            f"prefix cache, {turns} turns, twelve judges {how}: {shares[how]:.2f} of the "
            f"{common:,} tokens that they have in common, {whole:.2f} of all prompt tokens"
        )
    assert shares["one by one"] >= 0.6


def _common_tokens(tokenizer: Any, prompts: Sequence[Sequence[Message]]) -> int:
    """The number of tokens that all prompts begin with."""
    found = []
    for prompt in prompts:
        chat = [{"role": role, "content": "".join(parts)} for role, parts in prompt]
        said = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        found.append(tokenizer.encode(said))
    number = 0
    for tokens in zip(*found, strict=False):
        if len(set(tokens)) > 1:
            break
        number += 1
    return number


def test_the_noise_floor_of_temperature_0(
    loop: asyncio.Runner, entry: dict[str, Any], figures: list[str]
) -> None:
    found = loop.run(_awaited(measure_noise(read_model(entry), 20)))
    assert [(each.cold, each.others, each.replies) for each in found] == [
        (True, 0, 20),
        (False, 0, 20),
        (True, 44, 20),
        (False, 44, 20),
    ]
    assert [each.cached > 0.5 for each in found] == [False, True, False, True]
    figures.append("noise floor of temperature 0, 20 equal requests of 64 tokens:")
    figures.append(" | ".join(HEADER))
    figures.extend(" | ".join(described(each)) for each in found)


async def _awaited(work: Coroutine[Any, Any, T]) -> T:
    return await work
