"""How many bytes a model's weights take, from its folder, before it is loaded."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from recjury.llm.vllm.spec import VllmSpec

_BYTES = {"float32": 4.0, "float": 4.0, "float16": 2.0, "half": 2.0, "bfloat16": 2.0}
_QUANTIZED = {"fp8": 1.0, "int8": 1.0, "bitsandbytes": 0.6}  # bytes of a parameter


class ModelSize(NamedTuple):
    """The bytes of a model's weights, and how they are known."""

    bytes: float
    said: str


def model_size(spec: VllmSpec) -> ModelSize | None:
    """The size of the weights in the server's data type; None if the model is not on this machine.

    It is the size of the files if they are not converted, and else the number of parameters by the
    model's configuration.
    """
    folder = _folder(spec.model)
    config = None if folder is None else _read(folder / "config.json")
    if folder is None or config is None:
        return None
    # A model of text and images keeps what is looked at here in a part of its own.
    text = config.get("text_config")
    config = {**config, **text} if isinstance(text, Mapping) else config
    stored = str(config.get("torch_dtype") or config.get("dtype") or "float32")
    wanted = str(spec.args.get("dtype") or "auto")
    quantization = str(spec.args.get("quantization") or "")
    files = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
    if wanted == "auto":
        # vLLM's "auto" loads float32 as float16.
        wanted = "float16" if stored in ("float32", "float") and spec.gpus else stored
    if files and not quantization:
        size = files * _BYTES.get(wanted, 2.0) / _BYTES.get(stored, 2.0)
        quantized = config.get("quantization_config") is not None
        return ModelSize(files if quantized else size, f"its files have {files / 2**30:.1f} GiB")
    parameters = parameter_count(config)
    if parameters is None:
        return None
    each = _QUANTIZED.get(quantization, _BYTES.get(wanted, 2.0))
    return ModelSize(parameters * each, f"{parameters / 1e9:.1f} billion parameters")


def parameter_count(config: Mapping[str, object]) -> int | None:
    """The parameters of a decoder with this configuration; None for other kinds of models."""
    hidden, layers = _number(config, "hidden_size"), _number(config, "num_hidden_layers")
    inner, vocabulary = _number(config, "intermediate_size"), _number(config, "vocab_size")
    heads = _number(config, "num_attention_heads")
    if not (hidden and layers and inner and vocabulary and heads):
        return None
    width = _number(config, "head_dim") or hidden // heads
    shared = _number(config, "num_key_value_heads") or heads
    attention = hidden * width * (2 * heads + 2 * shared)
    experts = _number(config, "num_local_experts") or _number(config, "num_experts")
    if experts:
        each = _number(config, "moe_intermediate_size") or inner
        feed_forward = experts * (3 * hidden * each + hidden)
    else:
        feed_forward = 3 * hidden * inner
    embeddings = vocabulary * hidden * (1 if config.get("tie_word_embeddings") else 2)
    return layers * (attention + feed_forward + 2 * hidden) + embeddings + hidden


def adapter_rank(adapter: str) -> int | None:
    """The rank of a LoRA adapter; None if it is not on this machine."""
    folder = _folder(adapter)
    config = None if folder is None else _read(folder / "adapter_config.json")
    return None if config is None else _number(config, "r") or None


def _number(config: Mapping[str, object], name: str) -> int:
    value = config.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _folder(name: str) -> Path | None:
    """The folder itself, or where the Hugging Face hub's client keeps it."""
    path = Path(name).expanduser()
    if path.is_dir():
        return path
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    hub = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    snapshots = hub / f"models--{name.replace('/', '--')}" / "snapshots"
    found = sorted(snapshots.glob("*/"), key=lambda each: each.stat().st_mtime)
    return found[-1] if found else None


def _read(path: Path) -> dict[str, object] | None:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
