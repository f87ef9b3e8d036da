"""A campaign on a vLLM that recjury starts, with a model of a real size and random weights.

`python -m benchmarks.vllm_server make FOLDER --shape 7b` writes the model; `... measure FOLDER
--python VLLM_PYTHON` then starts one server for it and measures, one after the other:

- a campaign with the model as the user, `outcome`, `core` and `face`: how many replies were read
  at the first attempt, calls and written tokens a second, the cached share of prompts by stage;
- the twelve judges of some logs of that campaign, asked one by one and all at once, with nothing
  in the cache before: the share of all prompt tokens that came from the cache, and the time;
- the noise floor of temperature 0: `recjury doctor --repeat`.

What such a model writes is noise, and as long as `--longest-text` allows.
"""

import argparse
import asyncio
import json
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.running import run
from recjury.campaign.config import CampaignConfig
from recjury.campaign.run import run_campaign
from recjury.cli.noise_floor import HEADER, described, measure_noise
from recjury.judges import Rubric
from recjury.llm import Gateway, ModelSpec, NullRecorder, event_loop, running_servers
from recjury.llm.model_kinds import read_model
from recjury.records import ChatRequest, ConversationLog, Factor, RatingForm, Reply
from recjury.store import Store

CONTEXT = 32_768
SHAPES = {  # hidden size, of the MLP, layers, heads, heads of keys and values, vocabulary
    "tiny": (64, 128, 2, 2, 2, 3_000),
    "1b": (2048, 5632, 22, 32, 4, 32_000),  # TinyLlama 1.1B
    "7b": (4096, 14_336, 32, 32, 8, 32_000),  # Mistral 7B
}
_ROOT = Path(__file__).parents[1]
_TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
_SPECIAL = ("<|system|>", "<|user|>", "<|assistant|>", "<|end|>")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    making = verbs.add_parser("make", help="write a model with random weights")
    making.add_argument("folder", type=Path)
    making.add_argument("--shape", choices=SHAPES, default="7b")
    measuring = verbs.add_parser("measure", help="serve a model and measure")
    measuring.add_argument("folder", type=Path)
    measuring.add_argument("--python", help="of the environment with vLLM")
    measuring.add_argument("--gpus", type=int, default=1)
    measuring.add_argument("--trials", type=int, default=32)
    measuring.add_argument("--concurrency", type=int, default=128)
    measuring.add_argument("--longest-text", type=int, default=600)
    measuring.add_argument("--logs", type=int, default=8)
    measuring.add_argument("--repeats", type=int, default=20)
    measuring.add_argument("--noise-only", action="store_true")
    measuring.add_argument("--batch-invariant", action="store_true")
    options = parser.parse_args()
    if options.verb == "make":
        make(options.folder, options.shape)
        return
    with event_loop() as runner:
        found = runner.run(measure(options))
    print(json.dumps(found, indent=1))


def make(folder: Path, shape: str) -> None:
    """Write a Llama of that shape with random weights (bfloat16), and a tokenizer for it."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    hidden, wide, layers, heads, groups, vocabulary = SHAPES[shape]
    folder.mkdir(parents=True, exist_ok=True)
    words, end = _write_tokenizer(folder, vocabulary)
    config = LlamaConfig(
        vocab_size=words,
        hidden_size=hidden,
        intermediate_size=wide,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=groups,
        max_position_embeddings=CONTEXT,
        bos_token_id=None,
        eos_token_id=end,
        pad_token_id=end,
        tie_word_embeddings=False,
    )
    torch.manual_seed(0)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda" if torch.cuda.is_available() else "cpu"):
        model = LlamaForCausalLM(config)
    model.save_pretrained(folder)
    weights = sum(each.numel() for each in model.parameters())
    print(f"{shape}: {weights:,} weights, {words:,} tokens")


def _write_tokenizer(folder: Path, vocabulary: int) -> tuple[int, int | None]:
    """Train a byte-level BPE on recjury's own text; the number of tokens, and that of the end."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=list(_SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_texts(), trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    described = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": "<|end|>",
        "pad_token": "<|end|>",
        "model_max_length": CONTEXT,
        "chat_template": _TEMPLATE,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(described), "utf-8")
    return tokenizer.get_vocab_size(), tokenizer.token_to_id("<|end|>")


def _texts() -> Iterator[str]:
    for pattern in ("docs/**/*.md", "recjury/prompts/packs/*/*", "*/**/*.py"):
        for path in sorted(_ROOT.glob(pattern)):
            if path.is_file():
                yield path.read_text("utf-8")


def entry(options: argparse.Namespace) -> dict[str, Any]:
    """The model as a campaign file has it."""
    on_cpu = {"VLLM_CPU_KVCACHE_SPACE": "1", "OMP_NUM_THREADS": "1"}
    return {
        "provider": "vllm",
        "model": str(options.folder),
        "python": options.python,
        "gpus": options.gpus,
        "longest_text": options.longest_text,
        "batch_invariant": options.batch_invariant,
        "args": {"max_model_len": CONTEXT},
        "env": {} if options.gpus else on_cpu,
    }


async def measure(options: argparse.Namespace) -> dict[str, Any]:
    """All figures, from one server."""
    model = entry(options)
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "run.db"
        async with running_servers():
            if not options.noise_only:
                found["campaign"] = await _campaign(model, store, options)
                found["judges"] = await _judges(model, store, options.logs)
            rows = await measure_noise(read_model(model), options.repeats)
        found["noise floor"] = [dict(zip(HEADER, described(row), strict=True)) for row in rows]
    return found


async def _campaign(
    model: dict[str, Any], store: Path, options: argparse.Namespace
) -> dict[str, Any]:
    config = CampaignConfig.model_validate(
        {
            "name": "vllm",
            "scenarios": [{"corpus": "sample", "limit": options.trials}],
            "systems": ["retrieval"],
            "simulator": {"min_rounds": 2, "max_rounds": 3},
            "model": model,
            "evaluators": ["outcome", "core", {"kind": "face", "aspects": ["relevance"]}],
            "concurrency": options.concurrency,
        }
    )
    begun = time.monotonic()
    await run_campaign(config, f"sqlite:///{store}")
    seconds = time.monotonic() - begun
    with Store.open(f"sqlite:///{store}") as kept:
        (campaign,) = kept.campaigns()
        server = json.loads(json.dumps(campaign.learned))["main"]["server"]
    return {"server": server, "seconds with the start": round(seconds), **_counted(store)}


def _counted(store: Path) -> dict[str, Any]:
    """What the store has of the calls, and of what was read in them."""
    columns = "purpose, p.body, finish_reason, prompt_tokens, cached_tokens, completion_tokens"
    query = f"SELECT {columns}, started_at, latency FROM call JOIN text p ON p.id = params"
    statuses = Counter[str]()
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as connection:
        calls = connection.execute(query).fetchall()
        for table in ("rating", "statement", "face_turn"):
            query = f"SELECT status, count(*) FROM {table} GROUP BY status"
            statuses.update(dict(connection.execute(query).fetchall()))
    span = max(call[6] + call[7] for call in calls) - min(call[6] for call in calls)
    stages = sorted({call[0].split("/")[0] for call in calls})
    return {
        "calls": len(calls),
        "asked again": sum("attempt" in json.loads(call[1]) for call in calls),
        "not ended by themselves": sum(call[2] != "stop" for call in calls),
        "statuses": dict(statuses),
        "seconds of calls": round(span, 1),
        "calls a second": round(len(calls) / span, 1),
        "written tokens a second": round(sum(call[5] for call in calls) / span),
        "tokens of prompts": sum(call[3] for call in calls),
        "longest call, tokens": max(call[3] + call[5] for call in calls),
        "stages": {stage: _stage(calls, stage) for stage in stages},
    }


def _stage(calls: Sequence[Any], stage: str) -> dict[str, float]:
    rows = [call for call in calls if call[0].split("/")[0] == stage]
    prompts = sum(row[3] for row in rows)
    return {
        "calls": len(rows),
        "cached share": round(sum(row[4] for row in rows) / prompts, 3),
        "mean tokens of a prompt": round(prompts / len(rows)),
        "mean tokens of a reply": round(sum(row[5] for row in rows) / len(rows)),
        "mean seconds": round(sum(row[7] for row in rows) / len(rows), 2),
    }


async def _judges(model: dict[str, Any], store: Path, most: int) -> dict[str, Any]:
    """The judges of some logs, each log's one by one, and then all of each log at once."""
    with Store.open(f"sqlite:///{store}") as kept:
        (campaign,) = kept.campaigns()
        stored = kept.conversations(campaign.id)[:most]
        logs = [log for each in stored if (log := kept.log(each.id)) is not None]
    found = {}
    for how in ("one by one", "all at once"):
        salted = read_model({**model, "extra": {"cache_salt": f"{how} {time.time_ns()}"}})
        begun = time.monotonic()
        replies = await _asked(salted, logs, at_once=how == "all at once")
        prompts = sum(reply.usage.prompt_tokens for reply in replies)
        cached = sum(reply.usage.cached_tokens for reply in replies)
        found[how] = {
            "calls": len(replies),
            "cached share": round(cached / prompts, 3),
            "seconds": round(time.monotonic() - begun, 1),
        }
    return found


async def _asked(spec: ModelSpec, logs: Sequence[ConversationLog], at_once: bool) -> list[Reply]:
    rubric, replies = Rubric(), list[Reply]()
    async with Gateway({"judge": spec}, NullRecorder(), concurrency=12) as gateway:
        for log in logs:
            asked = [
                ChatRequest(
                    "judge", rubric.messages(factor, log), "judge", form=RatingForm("a1", 0, 4)
                )
                for factor in Factor
                if not rubric.lacks(factor, log)
            ]
            if at_once:
                replies += await asyncio.gather(*map(gateway.complete, asked))
            else:
                replies += [await gateway.complete(each) for each in asked]
    return replies


if __name__ == "__main__":
    run(main)
