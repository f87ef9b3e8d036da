"""The tiny Llama with room for 32k tokens, and a LoRA adapter of it.

`python -m tests.vllm.tiny_llama FOLDER` writes FOLDER/llama and FOLDER/adapter in some seconds.
What the model says is noise: it is for tests of protocol, constraints, log-probabilities and
adapters. Its tokenizer is trained on recjury's prompts and documentation.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.tiny_llama import make_tiny_llama

ROOT = Path(__file__).parents[2]
CONTEXT = 32_768
_RANK = 4


def make(folder: Path) -> tuple[Path, Path]:
    """Write the model and the adapter unless they are there; return their folders."""
    model, adapter = folder / "llama", folder / "adapter"
    if not (model / "config.json").is_file():
        # vLLM on a CPU needs heads of a size of at least 32, so there are two.
        make_tiny_llama(model, positions=CONTEXT, vocabulary=3_000, heads=2, texts=_texts())
    if not (adapter / "adapter_config.json").is_file():
        _write_adapter(adapter, json.loads((model / "config.json").read_text("utf-8")))
    return model, adapter


def _texts() -> Iterator[str]:
    for pattern in ("docs/*.md", "recjury/prompts/packs/*/*"):
        for path in sorted(ROOT.glob(pattern)):
            yield path.read_text("utf-8")


def _write_adapter(folder: Path, model: dict[str, int]) -> None:
    import torch
    from safetensors.torch import save_file

    size, weights = model["hidden_size"], {}
    with torch.random.fork_rng():
        torch.manual_seed(1)
        for layer in range(model["num_hidden_layers"]):
            for projection in ("q_proj", "v_proj"):
                name = f"base_model.model.model.layers.{layer}.self_attn.{projection}"
                weights[f"{name}.lora_A.weight"] = torch.randn(_RANK, size)
                weights[f"{name}.lora_B.weight"] = torch.randn(size, _RANK)
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": "llama",
        "r": _RANK,
        "lora_alpha": 2 * _RANK,
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": ["q_proj", "v_proj"],
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "adapter_config.json").write_text(json.dumps(config, indent=2), "utf-8")
    save_file(weights, folder / "adapter_model.safetensors")


if __name__ == "__main__":
    sys.stdout.write("\n".join(map(str, make(Path(sys.argv[1])))) + "\n")
