"""Optional dependencies: if they are missing, a feature that needs them is refused in one line."""

from importlib.util import find_spec

from recjury.errors import ConfigError

_NEURAL = ("torch", "transformers", "tokenizers", "safetensors")
INSTALL_NEURAL = "pip install 'recjury[neural]'"


def require_neural(user: str) -> None:
    """Raise ConfigError, with the command to run, unless the extra `neural` is installed.

    `user` is the feature that needs it, the subject of the message. Nothing is imported.
    """
    missing = [name for name in _NEURAL if find_spec(name) is None]
    if missing:
        raise ConfigError(f"{user} needs {', '.join(missing)}: run {INSTALL_NEURAL}")
