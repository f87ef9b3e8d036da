"""Where a model and its adapters are: a folder on this machine, or a name of a hub."""

import json
from pathlib import Path

from recjury.errors import ConfigError
from recjury.llm.model_folder import folder_digest


def local_folder(name: str) -> Path | None:
    """The folder that `name` is, which may be missing; None for a name of the Hugging Face hub."""
    path = Path(name).expanduser()
    is_path = name.startswith(("/", ".", "~")) or name.count("/") != 1
    return path if is_path or path.exists() else None


def weights_of(name: str, what: str, config: str) -> str:
    """What identifies the weights: a digest of the folder, or the name on the hub.

    Raises ConfigError for a folder that is not there, or that has no file called `config`; `what`
    is "model" or "adapter".
    """
    folder = local_folder(name)
    if folder is None:
        return name
    if not folder.is_dir():
        raise ConfigError(
            f"there is no {what} at {name}: give its folder, or its name on the Hugging Face hub "
            "(ORGANISATION/NAME)"
        )
    if not (folder / config).is_file():
        raise ConfigError(f"{name} holds no {what}: it has no {config}")
    return folder_digest(folder)


def weights_size(name: str) -> int | None:
    """The bytes of a model's files of weights; None for a name of the hub."""
    folder = local_folder(name)
    if folder is None:
        return None
    return sum(file.stat().st_size for file in folder.glob("*.safetensors"))


def adapter_rank(name: str) -> int | None:
    """The rank of a LoRA adapter; None for a name of the hub, or if its folder does not say it."""
    folder = local_folder(name)
    if folder is None:
        return None
    try:
        rank = json.loads((folder / "adapter_config.json").read_text("utf-8")).get("r")
    except (OSError, ValueError):
        return None
    return rank if isinstance(rank, int) else None
