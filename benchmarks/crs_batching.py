"""What sharing forward passes gains: `python -m benchmarks.crs_batching --json`.

A BART of bart-base's size with random weights answers 32 conversations with 64 tokens each: all
at the same time through the batcher, one after the other, and all in one plain call of
transformers' `generate`, which does not score near ties again. The three take turns in one
process and have to say the same.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import torch
from torch import Tensor
from transformers import BartConfig, BartForConditionalGeneration

from recjury.agents.batching import Batcher
from recjury.agents.neural.bart import PAD, START, BartLanguageModel, padded
from recjury.agents.neural.generation import DecodingConfig, GenerationBatch, generate

_END = 3
_SHORTEST, _LONGEST = 20, 200
_NGRAM = 3


@dataclass(frozen=True)
class Way:
    """One way to answer: replies per second of wall and of processor time, medians of repeats."""

    replies_per_second: float
    replies_per_cpu_second: float
    seconds: list[float]


@dataclass(frozen=True)
class Figures:
    """What was measured.

    `ratio` and `cpu_ratio` are those of batches to one by one. `texts_equal` counts the
    conversations that all three ways answer alike, `rescored` the tokens that the batches scored
    again.
    """

    ratio: float
    cpu_ratio: float
    batched: Way
    one_by_one: Way
    plain_generate: Way
    texts_equal: tuple[int, int]
    rescored: int
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
    config = DecodingConfig(tokens=options.tokens, end=_END, ngram=_NGRAM, source_ngram=_NGRAM)
    found = measure(options.conversations, config, repeats=options.repeats, device=options.device)
    if options.json:
        print(json.dumps(asdict(found), indent=1))
    else:
        ways = (found.batched, found.one_by_one, found.plain_generate)
        fast, slow, plain = (each.replies_per_second for each in ways)
        print(
            f"{found.ratio} times: {fast} replies/s in batches, {slow} one by one, {plain} by "
            f"plain generate; texts equal: {found.texts_equal[0]} of {found.texts_equal[1]}"
        )


def measure(conversations: int, config: DecodingConfig, *, repeats: int, device: str) -> Figures:
    """All ways in turns, so that other work on the machine disturbs them alike."""
    load = os.getloadavg()[0]
    contexts = _contexts(conversations)
    speaker = _Speaker(_bart(device), config)
    speaker(contexts[:2])
    ways: dict[str, Callable[[], list[list[int]]]] = {
        "batched": lambda: asyncio.run(_batched(speaker, contexts)),
        "one_by_one": lambda: [speaker([context])[0] for context in contexts],
        "plain_generate": lambda: speaker.plain(contexts),
    }
    wall: dict[str, list[float]] = {name: [] for name in ways}
    cpu: dict[str, list[float]] = {name: [] for name in ways}
    said, rescored = {}, 0
    for _ in range(repeats):
        for name, answer in ways.items():
            speaker.rescored = 0
            clocks = time.perf_counter(), time.process_time()
            said[name] = answer()
            wall[name].append(time.perf_counter() - clocks[0])
            cpu[name].append(time.process_time() - clocks[1])
            rescored = speaker.rescored if name == "batched" else rescored
    rows = zip(*said.values(), strict=True)
    figures = {name: _way(conversations, wall[name], cpu[name]) for name in ways}
    fast, slow = figures["batched"], figures["one_by_one"]
    return Figures(
        ratio=round(fast.replies_per_second / slow.replies_per_second, 2),
        cpu_ratio=round(fast.replies_per_cpu_second / slow.replies_per_cpu_second, 2),
        **figures,
        texts_equal=(sum(a == b == c for a, b, c in rows), conversations),
        rescored=rescored,
        conversations=conversations,
        tokens=config.tokens,
        mean_context=round(statistics.mean(map(len, contexts)), 1),
        device=torch.cuda.get_device_name() if device == "cuda" else device,
        threads=torch.get_num_threads(),
        load=round(load, 1),
    )


async def _batched(speaker: "_Speaker", contexts: Sequence[Sequence[int]]) -> list[list[int]]:
    batcher: Batcher[Sequence[int], list[int]] = Batcher(speaker, name="bart", most=len(contexts))
    try:
        return await asyncio.gather(*map(batcher.ask, contexts))
    finally:
        await batcher.aclose()


def _way(conversations: int, wall: list[float], cpu: list[float]) -> Way:
    return Way(
        replies_per_second=round(conversations / statistics.median(wall), 3),
        replies_per_cpu_second=round(conversations / statistics.median(cpu), 3),
        seconds=[round(each, 2) for each in wall],
    )


class _Speaker:
    """What the batcher's thread runs; `rescored` adds up the tokens that were scored again."""

    def __init__(self, model: BartForConditionalGeneration, config: DecodingConfig):
        self._model, self._config, self.rescored = model, config, 0

    def __call__(self, contexts: Sequence[Sequence[int]]) -> list[list[int]]:
        def score_alone(row: int, said: list[int]) -> Tensor:
            scores: Tensor = self._model(
                self._ids([contexts[row]]), decoder_input_ids=self._ids([[START, *said]])
            ).logits[0, -1]
            return scores

        batch = GenerationBatch(
            inputs=self._inputs(contexts),
            sources=contexts,
            pad=PAD,
            prompt_length=1,
            score_alone=score_alone,
        )
        with torch.inference_mode():
            found = generate(self._model, batch, self._config)
        self.rescored += found.rescored
        return found.ids

    def plain(self, contexts: Sequence[Sequence[int]]) -> list[list[int]]:
        """The same by one call of transformers alone."""
        found: Tensor = self._model.generate(
            **self._inputs(contexts),
            max_new_tokens=self._config.tokens,
            do_sample=False,
            eos_token_id=_END,
            pad_token_id=PAD,
            no_repeat_ngram_size=_NGRAM,
            encoder_no_repeat_ngram_size=_NGRAM,
        )
        return [_up_to_end(ids) for ids in found[:, 1:].tolist()]

    def _inputs(self, contexts: Sequence[Sequence[int]]) -> dict[str, Tensor]:
        ids = self._ids(contexts)
        return {"input_ids": ids, "attention_mask": (ids != PAD).long()}

    def _ids(self, rows: Sequence[Sequence[int]]) -> Tensor:
        return padded(rows).to(self._model.device)


def _up_to_end(ids: list[int]) -> list[int]:
    return ids[: ids.index(_END) + 1] if _END in ids else ids


def _bart(device: str) -> BartForConditionalGeneration:
    """Bart-base's size: 6 + 6 layers, width 768, 50,265 tokens; random weights."""
    torch.manual_seed(0)
    config = BartConfig(
        vocab_size=50_265, d_model=768, encoder_layers=6, decoder_layers=6,
        encoder_attention_heads=12, decoder_attention_heads=12,
        encoder_ffn_dim=3072, decoder_ffn_dim=3072, max_position_embeddings=1024,
        forced_eos_token_id=None,
    )  # fmt: skip
    return BartLanguageModel(config).eval().to(device).for_generation()


def _contexts(number: int) -> list[list[int]]:
    """Conversations of all lengths that the published models read, 200 tokens at most."""
    dice = random.Random(0)
    return [
        [0, *(dice.randrange(4, 50_000) for _ in range(dice.randint(_SHORTEST, _LONGEST) - 2)), 2]
        for _ in range(number)
    ]


if __name__ == "__main__":
    main()
