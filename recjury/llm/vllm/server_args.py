"""What may stand in `args`, the further flags of a vLLM server.

Other flags could open the server to the network, have it import code, or hold a secret, and flags
are stored with each run and seen in the list of processes.
"""

from collections.abc import Mapping

from pydantic import JsonValue

from recjury.mistakes import did_you_mean

_NAMES = {
    "true or false": (
        "async_scheduling disable_custom_all_reduce disable_hybrid_kv_cache_manager "
        "disable_log_stats disable_sliding_window "
        "enable_auto_tool_choice enable_chunked_prefill enable_expert_parallel "
        "enable_log_requests enable_prefix_caching enable_prompt_tokens_details enforce_eager "
        "fully_sharded_loras language_model_only skip_mm_profiling trust_remote_code"
    ),
    "a whole number": (
        "block_size data_parallel_size kv_cache_memory_bytes long_prefill_token_threshold "
        "max_cpu_loras max_logprobs max_lora_rank max_loras "
        "max_model_len max_num_batched_tokens max_num_seqs "
        "max_parallel_loading_workers num_gpu_blocks_override optimization_level "
        "pipeline_parallel_size port seed stream_interval"
    ),
    "a number": "cpu_offload_gb gpu_memory_utilization kv_offloading_size",
    "a text of one line": (
        "attention_backend chat_template chat_template_content_format code_revision "
        "config_format convert download_dir dtype generation_config hf_config_path "
        "kv_cache_dtype kv_offloading_backend load_format logprobs_mode lora_dtype "
        "mamba_cache_dtype mamba_ssm_cache_dtype model_impl quantization reasoning_parser "
        "revision runner scheduling_policy tokenizer tokenizer_mode tokenizer_revision "
        "tool_call_parser uvicorn_log_level"
    ),
    "an object": (
        "default_chat_template_kwargs hf_overrides limit_mm_per_prompt mm_processor_kwargs "
        "override_generation_config speculative_config structured_outputs_config"
    ),
}
FLAGS = {name: kind for kind, names in _NAMES.items() for name in names.split()}
"""The names of the flags, with the type of each in words."""
_TYPES = {"a whole number": int, "a number": int | float, "an object": dict}
_INSTEAD = {
    "model": "`model`",
    "served_model_name": "`name`",
    "tensor_parallel_size": "`gpus`",
    "enable_lora": "`adapter`",
    "lora_modules": "`adapter`",
    "hf_token": "the environment variable HF_TOKEN of the shell, which the server inherits",
}
_OF_NO_REPLY = frozenset({"port"})
_MOST_PORT = 65535


def checked_args(given: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The flags as vLLM's settings have them: `max_model_len`. Raises ValueError."""
    found = {name.lstrip("-").replace("-", "_"): each for name, each in given.items()}
    for name, value in found.items():
        if name in _INSTEAD:
            raise ValueError(f"`{name}` must not stand in `args`: use {_INSTEAD[name]}")
        kind = FLAGS.get(name)
        if kind is None:
            near = did_you_mean(name, FLAGS)
            raise ValueError(f"`{name}` is no flag that may stand in `args`{near}")
        if value is not None and not _is(kind, value):
            raise ValueError(f"`{name}` in `args` must be {kind}, got {value!r}")
        if isinstance(value, dict) and _imports_code(name, value):
            raise ValueError(f"`{name}` in `args` must not name code that the server imports")
    port = found.get("port", 1)
    if not isinstance(port, int) or not 1 <= port <= _MOST_PORT:
        raise ValueError(
            f"`port` in `args` must be from 1 to {_MOST_PORT}, got {port!r}: leave it out, and a "
            "free one is taken"
        )
    return found


def _imports_code(name: str, value: Mapping[str, JsonValue]) -> bool:
    """Whether vLLM imports a module that an object names: a drafter without a method may be one."""
    if name == "speculative_config":
        return value.get("method") in (None, "custom_class")
    return "reasoning_parser_plugin" in value


def args_of_replies(args: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The flags that can change a reply."""
    return {name: each for name, each in args.items() if name not in _OF_NO_REPLY}


def _is(kind: str, value: JsonValue) -> bool:
    if isinstance(value, str):
        return kind == "a text of one line" and value.isprintable()
    if isinstance(value, bool):
        return kind == "true or false"
    return kind in _TYPES and isinstance(value, _TYPES[kind])
