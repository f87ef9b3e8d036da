"""Optional dependencies: if they are missing, a feature that needs them is refused in one line."""

from collections.abc import Sequence
from importlib.util import find_spec

from recjury.errors import ConfigError

_NEURAL = ("torch", "transformers", "tokenizers", "safetensors")
INSTALL_NEURAL = "pip install 'recjury[neural]'"


INSTALL_FINE_TUNING = "pip install 'recjury[neural,fine-tuning]'"


def require_neural(user: str) -> None:
    """Raise ConfigError, with the command to run, unless the extra `neural` is installed.

    `user` is the feature that needs it, the subject of the message. Nothing is imported.
    """
    require_packages(user, _NEURAL, INSTALL_NEURAL)


def require_fine_tuning(user: str) -> None:
    """As `require_neural`, for the extras `neural` and `fine-tuning`."""
    require_packages(user, (*_NEURAL, "peft"), INSTALL_FINE_TUNING)


def require_packages(user: str, names: Sequence[str], install: str) -> None:
    """As `require_neural`, for modules of any names; `install` is the command."""
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        raise ConfigError(f"{user} needs {', '.join(missing)}: run {install}")
