"""The arguments that a model of provider `vllm` passes on, as a command line has them."""

import re
import shlex
from collections.abc import Sequence

_OURS = shlex.split(
    "--host --port --uds --api-key --model --served-model-name --root-path --config --headless "
    "--ssl-keyfile --ssl-certfile"
)
"""What recjury sets itself, or what would hide the server from it."""

_SPEED = shlex.split(
    "--gpu-memory-utilization --max-num-seqs --max-num-batched-tokens --tensor-parallel-size "
    "--data-parallel-size --pipeline-parallel-size --enable-prefix-caching --enforce-eager "
    "--swap-space --download-dir --disable-log-requests --disable-log-stats"
)
"""What can be changed without other replies. All other arguments are in the identity of calls."""


def split_args(given: object) -> object:
    """The arguments of a text, or of a list of words. Raises ValueError for open quotes."""
    return shlex.split(given) if isinstance(given, str) else given


def check_args(args: Sequence[str]) -> tuple[str, ...]:
    """The arguments. Raises ValueError for one that recjury sets itself, or its beginning."""
    for number, word in enumerate(args):
        if re.match(r"-[^-\d]", word) or not (number or word.startswith("--")):
            raise ValueError(f"arguments begin with two dashes, got {word!r}")
        name = _name(word)
        if name.startswith("--") and (own := next((o for o in _OURS if o.startswith(name)), "")):
            raise ValueError(f"recjury sets {own} itself: leave {word!r} out")
    return tuple(args)


def reply_args(args: Sequence[str]) -> list[str]:
    """Those that can change a reply, with their values, in order of their names."""
    each = re.split(r"\s(?=--)", " ".join(args)) if args else []
    return sorted(one for one in each if _name(one.split()[0]) not in _SPEED)


def _name(word: str) -> str:
    """`--max-model-len` of `--max_model_len=8192`."""
    return word.partition("=")[0].replace("_", "-")
