"""What may stand in `args`, the further flags of a vLLM server."""

import re
from collections.abc import Iterator, Mapping

from pydantic import JsonValue

_ADDRESS = "the server listens on 127.0.0.1 and answers plain HTTP, and nothing else"
_OWN_FLAGS = {
    "model": "use `model`",
    "served_model_name": "use `name`",
    "tensor_parallel_size": "use `gpus`",
    "enable_lora": "use `adapter`",
    "lora_modules": "use `adapter`",
    "config": "write the flags of that file into `args`",
    "api_key": "the server has no key, and a key would be stored with every run",
    "host": "recjury sets it",
    "uds": _ADDRESS,
}
_OF_SSL = ("ssl_", "enable_ssl_")
_OF_NO_REPLY = frozenset({"port"})
_MOST_PORT = 65535
# Of vLLM's own flags, these are only --hf-token and --api-key; the others may be in an object that
# is the value of a flag. A tokenizer, numbers of tokens, and pad_token are no secrets.
_SECRET = re.compile(
    r"(^|\.)(key|token)$"
    r"|(api|access|auth|bearer|hf|hub|huggingface|private|secret)_?(key|token)(_id)?s?$"
    r"|(secret|password|passwd|passphrase|credentials?|authorization)$",
    re.IGNORECASE,
)


def checked_args(given: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The flags as vLLM's settings have them: `max_model_len`. Raises ValueError."""
    found = {_plain(name): each for name, each in given.items()}
    for flag in found:
        instead = _ADDRESS if flag.startswith(_OF_SSL) else _OWN_FLAGS.get(flag)
        if instead is not None:
            raise ValueError(f"`{flag}` must not stand in `args`: {instead}")
    if "port" in found:
        _check_port(found["port"])
    for name in _secrets(found):
        raise ValueError(
            f"`{name}` must not stand in `args`, because it may be a secret: set an environment "
            "variable in the shell (HF_TOKEN, for example), and the server inherits it"
        )
    return found


def args_of_replies(args: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The flags that can change a reply."""
    return {name: each for name, each in args.items() if name not in _OF_NO_REPLY}


def _plain(name: str) -> str:
    return name.lstrip("-").replace("-", "_")


def _check_port(port: JsonValue) -> None:
    if isinstance(port, bool) or not isinstance(port, int) or not 1 <= port <= _MOST_PORT:
        raise ValueError(
            f"`port` in `args` must be a whole number from 1 to {_MOST_PORT}, got {port!r}: leave "
            "it out, and a free one is taken"
        )


def _secrets(given: JsonValue) -> Iterator[str]:
    """The names of what may be a secret. A switch is none: `hf_token: true` is a stored login."""
    if isinstance(given, list):
        for each in given:
            yield from _secrets(each)
    elif isinstance(given, dict):
        for name, each in given.items():
            if _SECRET.search(_plain(name)) and not isinstance(each, bool | None):
                yield name
            yield from _secrets(each)
