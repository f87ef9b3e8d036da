"""The command line and the environment of a vLLM server."""

import json
import os
from collections.abc import Sequence

from recjury.errors import ConfigError
from recjury.llm.vllm.constraints import GUIDANCE
from recjury.llm.vllm.environment import Gpu
from recjury.llm.vllm.folders import adapter_rank, local_folder
from recjury.llm.vllm.spec import VllmSpec
from recjury.records import JSON, digest

_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)  # that --max-lora-rank accepts
_DEFAULTS: dict[str, JSON] = {
    "enable_prompt_tokens_details": True,  # cached tokens are reported
    "generation_config": "vllm",  # no sampling parameters but the request's
    "structured_outputs_config": GUIDANCE,
    "uvicorn_log_level": "warning",
}
_ON_A_CPU: dict[str, JSON] = {"enforce_eager": True}
_ENVIRONMENT = {"DO_NOT_TRACK": "1", "VLLM_NO_USAGE_STATS": "1"}


def server_settings(spec: VllmSpec) -> str:
    """A digest of what models must have in common to share a server."""
    shared = spec.model_dump(
        mode="json", include={"model", "gpus", "args", "env", "batch_invariant"}
    )
    return digest([shared, spec.interpreter])


def server_flags(specs: Sequence[VllmSpec]) -> list[str]:
    """The flags of the server of `specs`, except its port. Raises ConfigError.

    `specs` share the settings of their server, and differ in their adapters or names.
    """
    first = specs[0]
    flags: dict[str, JSON] = dict(_DEFAULTS)
    if first.gpus == 0:
        flags |= _ON_A_CPU
    if first.gpus > 1:
        flags["tensor_parallel_size"] = first.gpus
    adapters = _adapters(specs)
    if adapters:
        rank = max((adapter_rank(path) or 16) for path in adapters.values())
        flags |= {
            "enable_lora": True,
            "max_loras": len(adapters),
            "max_lora_rank": next((each for each in _RANKS if each >= rank), rank),
            "lora_modules": [f"{name}={_place(path)}" for name, path in adapters.items()],
        }
    flags |= first.args
    names = dict.fromkeys(spec.name for spec in specs if spec.adapter is None)
    own: dict[str, JSON] = {
        "model": _place(first.model),
        "served_model_name": [*names] or [f"{first.name}-base"],
    }
    written = [_written(name, value) for name, value in (own | flags).items()]
    return [word for words in written for word in words]


def _adapters(specs: Sequence[VllmSpec]) -> dict[str, str]:
    """The folders of adapters by name."""
    found: dict[str, str] = {}
    plain = {spec.name for spec in specs if spec.adapter is None}
    for spec in specs:
        if spec.adapter is None:
            continue
        if found.setdefault(spec.name, spec.adapter) != spec.adapter or spec.name in plain:
            raise ConfigError(
                f"two models of one vLLM server are called {spec.name!r}: give one of them "
                "another `name`"
            )
    return found


def _place(name: str) -> str:
    folder = local_folder(name)
    return name if folder is None else str(folder.resolve())


def _written(name: str, value: JSON) -> list[str]:
    """One word, so that a value is never read as another flag; a list of names has one for each."""
    flag = "--" + name.replace("_", "-")
    if value is None:
        return []
    if isinstance(value, bool):
        return [flag if value else flag.replace("--", "--no-", 1)]
    if isinstance(value, dict):
        return [f"{flag}={json.dumps(value)}"]
    if isinstance(value, list):
        return [flag, *map(str, value)]
    return [f"{flag}={value}"]


def server_environment(spec: VllmSpec, gpus: Sequence[Gpu]) -> dict[str, str]:
    """The environment variables of the server."""
    found = dict(os.environ)
    found.pop("VLLM_API_KEY", None)  # the server would ask for it
    if spec.python is not None:  # another environment: nothing of this one's may be imported there
        for name in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"):
            found.pop(name, None)
    found |= _ENVIRONMENT
    if local_folder(spec.model) is not None:
        found.setdefault("HF_HUB_OFFLINE", "1")
    if gpus:
        found["CUDA_VISIBLE_DEVICES"] = ",".join(gpu.name for gpu in gpus)
    if spec.batch_invariant:
        found["VLLM_BATCH_INVARIANT"] = "1"
    return found | spec.env
