"""What sharing forward passes gains: `python -m benchmarks.crs_batching --json`.

A BART of bart-base's size with random weights answers 32 conversations with 64 tokens each, once
all at the same time through the collector, and once one after the other, in turns in one process.
The figure is the ratio of replies per second. Both ways use the same code and processors, and
have to say the same.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import torch
from transformers import BartConfig, BartModel

from recjury.agents.batching import Batcher
from recjury.agents.decoding.bart import BartSteps
from recjury.agents.decoding.greedy import Generated, Rules, generate

_START, _NEVER = 2, -1
_SHORTEST, _LONGEST = 20, 200


@dataclass(frozen=True)
class Figures:
    """What was measured; seconds and ratios are of each repeat, in order.

    `cpu_ratio` compares processor time, which other work on the machine disturbs less.
    `settled_alone` counts the tokens that were too close to choose in the batch.
    """

    ratio: float
    ratios: list[float]
    cpu_ratio: float
    together_seconds: list[float]
    one_by_one_seconds: list[float]
    replies_per_second: tuple[float, float]
    texts_equal: tuple[int, int]
    settled_alone: int
    conversations: int
    tokens: int
    mean_context: float
    device: str
    threads: int
    load: float


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--conversations", type=int, default=32)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        print("no CUDA device here: skipped")
        return
    torch.set_num_threads(options.threads)
    found = asyncio.run(
        measure(
            options.conversations,
            Rules(tokens=options.tokens, end=_NEVER, source_ngram=3),
            repeats=options.repeats,
            device=options.device,
        )
    )
    if options.json:
        print(json.dumps(asdict(found), indent=1))
    else:
        fast, slow = found.replies_per_second
        print(f"{found.ratio} times: {fast} replies/s together, {slow} one by one")


async def measure(conversations: int, rules: Rules, *, repeats: int, device: str) -> Figures:
    """Both ways in turns, so that what else runs here disturbs both alike."""
    load = os.getloadavg()[0]
    contexts = _contexts(conversations)
    speaker = _Speaker(_bart(device), rules)
    batcher: Batcher[list[int], Generated] = Batcher(speaker, name="bart", most=conversations)
    speaker(contexts[:2])
    together, alone, cpu_ratios = [], [], []
    for _ in range(repeats):
        begin = _Clocks.now()
        batch = await asyncio.gather(*map(batcher.ask, contexts))
        middle = _Clocks.now()
        singles = [speaker([context])[0] for context in contexts]
        end = _Clocks.now()
        together.append(middle.wall - begin.wall)
        alone.append(end.wall - middle.wall)
        cpu_ratios.append((end.cpu - middle.cpu) / (middle.cpu - begin.cpu))
    await batcher.aclose()
    ratios = [slow / fast for slow, fast in zip(alone, together, strict=True)]
    equal = sum(a.ids == b.ids for a, b in zip(batch, singles, strict=True))
    return Figures(
        ratio=round(statistics.median(ratios), 2),
        ratios=[round(each, 2) for each in ratios],
        cpu_ratio=round(statistics.median(cpu_ratios), 2),
        together_seconds=[round(each, 2) for each in together],
        one_by_one_seconds=[round(each, 2) for each in alone],
        replies_per_second=(
            round(conversations / statistics.median(together), 2),
            round(conversations / statistics.median(alone), 2),
        ),
        texts_equal=(equal, conversations),
        settled_alone=sum(each.settled_alone for each in batch),
        conversations=conversations,
        tokens=rules.tokens,
        mean_context=round(statistics.mean(map(len, contexts)), 1),
        device=torch.cuda.get_device_name() if device == "cuda" else device,
        threads=torch.get_num_threads(),
        load=round(load, 1),
    )


class _Clocks(NamedTuple):
    wall: float
    cpu: float

    @classmethod
    def now(cls) -> "_Clocks":
        return cls(time.perf_counter(), time.process_time())


class _Speaker:
    """What the collector's thread runs."""

    def __init__(self, model: BartModel, rules: Rules):
        self._model, self._rules = model, rules

    def __call__(self, contexts: Sequence[list[int]]) -> list[Generated]:
        steps = BartSteps(self._model, self._model.shared.weight, contexts, start=_START)
        histories = [[_START]] * len(contexts)
        return generate(steps, histories, self._rules, sources=contexts)


def _bart(device: str) -> BartModel:
    """Bart-base's size: 6 + 6 layers, width 768, 50,265 tokens; random weights."""
    torch.manual_seed(0)
    config = BartConfig(
        vocab_size=50_265, d_model=768, encoder_layers=6, decoder_layers=6,
        encoder_attention_heads=12, decoder_attention_heads=12,
        encoder_ffn_dim=3072, decoder_ffn_dim=3072, max_position_embeddings=1024,
    )  # fmt: skip
    model: BartModel = BartModel(config).eval().to(device)
    return model


def _contexts(number: int) -> list[list[int]]:
    """Conversations of all lengths that the published models read, 200 tokens at most."""
    dice = random.Random(0)
    return [
        [0, *(dice.randrange(4, 50_000) for _ in range(dice.randint(_SHORTEST, _LONGEST) - 2)), 2]
        for _ in range(number)
    ]


if __name__ == "__main__":
    main()
