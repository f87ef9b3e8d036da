"""Where a model and its adapters are: a folder on this machine, or a name of a hub."""

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
