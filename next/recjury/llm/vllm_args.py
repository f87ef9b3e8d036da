"""The arguments that a model of provider `vllm` passes on, as a command line has them."""

import shlex
from collections.abc import Iterator, Sequence
from itertools import groupby

_OURS = (
    "--host",
    "--port",
    "--uds",
    "--api-key",
    "--model",
    "--served-model-name",
    "--root-path",
    "--config",
    "--ssl-keyfile",
    "--ssl-certfile",
    "--headless",
)
"""What recjury sets itself, or what would hide the server from it."""

_SPEED = {
    "--gpu-memory-utilization",
    "--max-num-seqs",
    "--max-num-batched-tokens",
    "--tensor-parallel-size",
    "--data-parallel-size",
    "--pipeline-parallel-size",
    "--enable-prefix-caching",
    "--enforce-eager",
    "--swap-space",
    "--download-dir",
    "--disable-log-requests",
    "--disable-log-stats",
    "--enable-prompt-tokens-details",
}
"""What can be changed without other replies. All other arguments are in the identity of calls."""


def split_args(given: object) -> object:
    """The arguments of a text, or of a list of words. Raises ValueError for open quotes."""
    return shlex.split(given) if isinstance(given, str) else given


def check_args(args: Sequence[str]) -> tuple[str, ...]:
    """The arguments. Raises ValueError for one that recjury sets itself, or its beginning."""
    for word in args:
        name = _name(word)
        if name.startswith("--") and len(name) > 2:
            own = next((each for each in _OURS if each.startswith(name)), None)
            if own:
                raise ValueError(f"recjury sets {own} itself: leave {word!r} out")
        elif word.startswith("-") and not word[1:2].isdecimal():
            raise ValueError(f"arguments begin with two dashes, got {word!r}")
    if args and not args[0].startswith("--"):
        raise ValueError(f"arguments begin with two dashes, got {args[0]!r}: `name` has the model")
    return tuple(args)


def reply_args(args: Sequence[str]) -> list[str]:
    """Those that can change a reply, in order of their names."""
    return sorted(" ".join(each) for each in _each(args) if _name(each[0]) not in _SPEED)


def _each(args: Sequence[str]) -> Iterator[list[str]]:
    """An argument with its values."""
    number = 0

    def which(word: str) -> int:
        nonlocal number
        number += word.startswith("--")
        return number

    for _, words in groupby(args, which):
        yield list(words)


def _name(word: str) -> str:
    """`--max-model-len` of `--max_model_len=8192`."""
    return word.partition("=")[0].replace("_", "-")
