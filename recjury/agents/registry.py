"""The systems under test by kind; what a kind needs is imported when it is asked for."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from recjury.agents.extras import require_neural
from recjury.agents.shipped import shipped_checkpoint
from recjury.errors import ConfigError
from recjury.records import LIST_LENGTH, Recommender

if TYPE_CHECKING:
    from recjury.agents.neural.description import Fidelity
    from recjury.corpora import Corpus
    from recjury.llm import Gateway

T = TypeVar("T")


@dataclass(frozen=True)
class SystemContext:
    """What systems are made from: the corpus, models where there are any, places.

    `cache` is a folder for the vectors of items (None: in the user's cache folder).
    """

    corpus: "Corpus"
    gateway: "Gateway | None" = None
    list_length: int = LIST_LENGTH
    cache: Path | None = None


class Options:
    """The options of one system: taken one by one, so that one nobody takes is found."""

    def __init__(self, name: str, values: Mapping[str, object]):
        """`name` is the system's, for messages."""
        self._name, self._left = name, dict(values)

    def take(self, key: str, kind: type[T], default: T | None = None) -> T:
        """The option's value; ConfigError if it is of another type, or missing without default."""
        value: object = self._left.pop(key, default)
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if isinstance(value, float) and not math.isfinite(value):
            raise ConfigError(f"system {self._name}: {key} must be a finite number, got {value}")
        # To Python `true` is a number; to whoever writes a campaign file it is not.
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise ConfigError(f"system {self._name}: {key} must be {kind.__name__}, got {value!r}")
        return value

    def take_named(self, key: str) -> str | None:
        """A text that names something; None where the option is left out.

        ConfigError if it is none, or empty: a name that was forgotten is not one left out.
        """
        if key not in self._left:
            return None
        value = self.take(key, str)
        if not value.strip():
            raise ConfigError(f"system {self._name}: {key} is empty: fill it in, or leave it out")
        return value

    def done(self) -> None:
        """Raise ConfigError if an option was not taken."""
        if self._left:
            raise ConfigError(f"system {self._name}: unknown option {next(iter(self._left))!r}")


Loader = Callable[[str, Options, SystemContext], Recommender]


def load_recommender(
    kind: str, name: str, options: Mapping[str, object], surroundings: SystemContext
) -> Recommender:
    """Make the system of that kind.

    Raises ConfigError for an unknown kind or option, and what the system itself raises.
    """
    loader = _LOADERS.get(kind)
    if loader is None:
        near = get_close_matches(kind, _LOADERS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"expected {', '.join(known_kinds())}"
        raise ConfigError(f"system {name}: unknown kind {kind!r}, {hint}")
    given = Options(name, options)
    system = loader(name, given, surroundings)
    given.done()
    return system


def known_kinds() -> tuple[str, ...]:
    """The kinds there are, sorted."""
    return tuple(sorted(_LOADERS))


def _retrieval(name: str, _options: Options, around: SystemContext) -> Recommender:
    from recjury.agents.retrieval import Retrieval

    return Retrieval(around.corpus.catalogue, name=name, list_length=around.list_length)


def _barcor(name: str, options: Options, around: SystemContext) -> Recommender:
    require_neural(f"system {name}: kind barcor")
    from recjury.agents.barcor.recommender import BARCOR

    return BARCOR.load(
        _checkpoint("barcor", name, options, around),
        around.corpus,
        name=name,
        list_length=around.list_length,
        fidelity=_fidelity(name, options),
        backbone=_backbones("barcor", name, options).get("bart"),
        device=_device(name, options),
    )


def _kbrd(name: str, options: Options, around: SystemContext) -> Recommender:
    require_neural(f"system {name}: kind kbrd")
    from recjury.agents.kbrd.recommender import KBRD

    return KBRD.load(
        _checkpoint("kbrd", name, options, around),
        around.corpus,
        name=name,
        list_length=around.list_length,
        fidelity=_fidelity(name, options),
        backbone=_backbones("kbrd", name, options).get("bart"),
        device=_device(name, options),
    )


def _unicrs(name: str, options: Options, around: SystemContext) -> Recommender:
    require_neural(f"system {name}: kind unicrs")
    from recjury.agents.unicrs.recommender import UniCRS

    return UniCRS.load(
        _checkpoint("unicrs", name, options, around),
        around.corpus,
        name=name,
        list_length=around.list_length,
        fidelity=_fidelity(name, options),
        backbones=_backbones("unicrs", name, options),
        device=_device(name, options),
    )


def _checkpoint(kind: str, name: str, options: Options, around: SystemContext) -> Path:
    given = options.take_named("checkpoint")
    if given is not None:
        return Path(given).expanduser()
    return shipped_checkpoint(kind, around.corpus, name=name)


def _fidelity(name: str, options: Options) -> "Fidelity | None":
    given = options.take_named("fidelity")
    if given is None:
        return None
    if given == "corrected":
        return "corrected"
    if given == "ievalm":
        return "ievalm"
    raise ConfigError(f"system {name}: fidelity must be corrected or ievalm, got {given!r}")


def _backbones(system: str, name: str, options: Options) -> dict[str, str]:
    from recjury.agents.neural.backbones import TAKES

    kinds = TAKES[system]
    given: dict[str, str] = options.take("backbones", dict, {})
    for kind, place in given.items():
        if kind not in kinds or not isinstance(place, str) or not place.strip():
            raise ConfigError(
                f"system {name}: backbones may give {' and '.join(kinds)} as a folder or a hub "
                f"name, got {kind}: {place!r}"
            )
    return given


def _device(name: str, options: Options) -> str:
    import torch

    given = options.take("device", str, "cpu")
    try:
        torch.zeros(1, device=given).tolist()  # there are devices that hold no numbers
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"system {name}: device {given!r} cannot be used: {reason}") from error
    return given


def _chatcrs(name: str, options: Options, around: SystemContext) -> Recommender:
    from recjury.agents.chatcrs import ChatCRS
    from recjury.agents.embedding import make_embedder

    if around.gateway is None:
        raise ConfigError(f"system {name}: chatcrs needs a model")
    source = options.take("list_source", str, "independent")
    if source not in ("independent", "from_text"):
        raise ConfigError(f"system {name}: list_source must be independent or from_text")
    catalogue = around.corpus.catalogue
    embedder = make_embedder(options.take("embeddings", str, "tfidf"), catalogue, around.gateway)
    return ChatCRS(
        around.gateway,
        options.take("model", str, "main"),
        catalogue,
        embedder,
        name=name,
        list_source="from_text" if source == "from_text" else "independent",
        list_length=around.list_length,
        cache=around.cache,
    )


def _openai_crs(name: str, options: Options, around: SystemContext) -> Recommender:
    from recjury.agents.endpoint_crs import EndpointCRS

    if around.gateway is None:
        raise ConfigError(f"system {name}: openai_crs needs a model")
    return EndpointCRS(
        around.gateway,
        options.take("model", str),
        around.corpus.catalogue,
        name=name,
        system_prompt=options.take("system_prompt", str, ""),
        list_length=around.list_length,
    )


def _python(name: str, options: Options, around: SystemContext) -> Recommender:
    from recjury.agents.own import load_own
    from recjury.foreign import TIMEOUT

    path = options.take("path", str)
    given: dict[str, object] = options.take("options", dict, {})
    timeout = options.take("timeout", float, TIMEOUT)
    return load_own(path, around.corpus, name=name, options=given, timeout=timeout)


def _http(name: str, options: Options, around: SystemContext) -> Recommender:
    from recjury.agents.http import HttpRecommender
    from recjury.agents.http_client import HttpSettings

    address = HttpSettings(
        url=options.take("url", str),
        health=options.take_named("health"),
        key_env=options.take_named("key_env"),
        key_header=options.take("key_header", str, HttpSettings.key_header),
        timeout=options.take("timeout", float, HttpSettings.timeout),
        retries=options.take("retries", int, HttpSettings.retries),
        idempotent=options.take("idempotent", bool, default=False),
        concurrency=options.take("concurrency", int, HttpSettings.concurrency),
        max_bytes=options.take("max_bytes", int, HttpSettings.max_bytes),
    )
    return HttpRecommender(
        address,
        around.corpus.catalogue,
        name=name,
        version=options.take("version", str, ""),
        options=options.take("options", dict, {}),
        list_length=around.list_length,
    )


_LOADERS: dict[str, Loader] = {
    "barcor": _barcor,
    "chatcrs": _chatcrs,
    "http": _http,
    "kbrd": _kbrd,
    "openai_crs": _openai_crs,
    "python": _python,
    "retrieval": _retrieval,
    "unicrs": _unicrs,
}
