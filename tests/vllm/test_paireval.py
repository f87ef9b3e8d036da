"""PairEval over a vLLM server: the probabilities of the label words, and prompts that are cut."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from recjury.judges.paireval.comparison import Comparer, LlmPairJudge
from recjury.judges.paireval.prompts import PairPrompts, contender_of
from recjury.llm import Gateway, NullRecorder
from recjury.llm.model_kinds import read_model
from recjury.records import Message
from tests.judges.paireval.comparing import response

CONTEXT = 2048
ONE = response("I would watch Ronin (1998).", "Any good heist films?")
OTHER = response("No idea.", "Hello!", "Hi, what do you like?", "Something quiet.")


def _by_transformers(
    model: Path, prompt: Sequence[Message], labels: Sequence[str]
) -> dict[str, float]:
    """The probability of each label's token, among the labels alone."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    llama = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    chat = [{"role": each.role, "content": each.text} for each in prompt]
    said = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    with torch.no_grad():
        scores = llama(tokenizer(said, return_tensors="pt")["input_ids"]).logits[0, -1]
    tokens = [tokenizer.encode(label) for label in labels]
    assert all(len(each) == 1 for each in tokens)
    shares = scores[torch.tensor([each[0] for each in tokens])].softmax(0)
    return dict(zip(labels, shares.tolist(), strict=True))


def test_comparisons_agree_with_transformers_and_are_cut_to_the_context(
    tiny: tuple[Path, Path], entry: dict[str, Any], loop: asyncio.Runner, figures: list[str]
) -> None:
    short = {**entry, "args": {**entry["args"], "max_model_len": CONTEXT}}
    prompts = PairPrompts()

    async def run() -> None:
        async with Gateway({"main": read_model(short)}, NullRecorder()) as gateway:
            comparer = Comparer(gateway, "main", prompts)
            found = await comparer.compare(contender_of(ONE), contender_of(OTHER))
            assert found.value is not None
            assert found.mass == pytest.approx(1, abs=1e-3)  # it may write nothing else
            orders = ((ONE, OTHER), (OTHER, ONE))
            expected = [
                _by_transformers(tiny[0], prompts.pair(*map(contender_of, order)), ("A", "B"))
                for order in orders
            ]
            assert found.value.first == pytest.approx(expected[0]["A"], abs=0.01)
            assert found.value.second == pytest.approx(expected[1]["B"], abs=0.01)

            direct = await comparer.judge(contender_of(ONE))
            assert direct.value is not None
            assert 0 < direct.value < 1

            judge = LlmPairJudge(comparer)
            turns = [f"Turn {n} of a long conversation about films" for n in range(400)]
            assert await judge.compare([(response("Ronin.", *turns), OTHER)]) != [None]
            assert judge.cut == 1
            assert 0 < judge.left_out < 400

            started = time.perf_counter()
            pairs = [(response(f"Film {n}.", "Which film?"), OTHER) for n in range(50)]
            assert None not in await judge.compare(pairs)
            seconds = time.perf_counter() - started
            figures.append(f"PairEval: {2 * len(pairs) / seconds:.0f} calls a second")

    loop.run(run())
