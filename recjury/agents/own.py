"""Anyone's own system: a Python class, found by import path or entry point, and guarded."""

import asyncio
import importlib
import importlib.metadata
import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING

import orjson

from recjury.agents.foreign import held_to_catalogue
from recjury.errors import ConfigError, Fixable, SystemFailed, UnitFailed
from recjury.records import JSON, Conversation, Recommender, SystemReply, digest

if TYPE_CHECKING:
    from recjury.corpora import Corpus
    from recjury.knowledge import Catalogue

ENTRY_POINTS = "recjury.recommenders"
TIMEOUT = 300.0

Maker = Callable[..., object]


def load_own(
    path: str,
    corpus: "Corpus",
    *,
    name: str,
    options: Mapping[str, object],
    timeout: float = TIMEOUT,
) -> Recommender:
    """Make the system that `path` means: "module:Class", or the name of an entry point.

    It is called as `Class(corpus, name=name, **options)`; each of its answers may take `timeout`
    seconds. Raises ConfigError, saying what is
    missing, if it cannot be imported, cannot be made, or is no `Recommender`.
    """
    maker = _from_module(path) if ":" in path else _from_entry_point(path)
    try:
        system = maker(corpus, name=name, **options)
    except Fixable:
        raise
    except Exception as error:
        raise ConfigError(f"{path} cannot be made: {type(error).__name__}: {error}") from error
    made: dict[str, JSON] = {"path": path, "code": _code_of(maker), "options": _plain(options)}
    return GuardedRecommender(system, name, made, corpus.catalogue, timeout=timeout)


class GuardedRecommender:
    """A foreign system whose mistakes fail one turn and not the campaign.

    What it raises, an answer that is no `SystemReply` or has no text, and an answer that does not
    come within `timeout` seconds, become SystemFailed. Its items are held to the catalogue. A
    system that blocks the event loop cannot be stopped: long work belongs in a thread.
    """

    def __init__(
        self,
        system: object,
        name: str,
        made: Mapping[str, JSON],
        catalogue: "Catalogue",
        *,
        timeout: float = TIMEOUT,
    ):
        """`made` is what it was made from, its "path" among it: part of each trial's identity.

        Raises ConfigError if `system` lacks a part of the protocol `Recommender`.
        """
        path = made["path"]
        if timeout <= 0:
            raise ConfigError(f"timeout must be above 0 seconds, got {timeout:g}")
        missing = [
            part for part in ("name", "settings", "respond", "aclose") if not hasattr(system, part)
        ]
        if missing:
            raise ConfigError(f"{path} is no recommender: it has no {', '.join(missing)}")
        for method in ("respond", "aclose"):
            if not inspect.iscoroutinefunction(getattr(system, method)):
                raise ConfigError(f"{path} is no recommender: {method} is not `async def`")
        self._system: Recommender = system  # type: ignore[assignment]  # checked above
        self._catalogue, self._timeout = catalogue, timeout
        self.name = name
        own = self._system.settings
        self.settings: Mapping[str, JSON] = {"kind": "python", **made, "system": own}

    async def respond(self, conversation: Conversation) -> SystemReply:
        """The system's answer. Raises SystemFailed for whatever is wrong with it."""
        answering = asyncio.ensure_future(self._answer(conversation))
        try:
            # `asyncio.timeout` would wait for a system that goes on when it is cancelled.
            done, _ = await asyncio.wait({answering}, timeout=self._timeout)
        finally:
            answering.cancel()
        if not done:
            raise SystemFailed(f"{self.name} gave no answer within {self._timeout:g} s")
        if answering.cancelled():
            raise SystemFailed(f"{self.name} cancelled its own answer")
        try:
            return held_to_catalogue(answering.result(), self._catalogue)
        except SystemFailed as failure:
            raise SystemFailed(f"{self.name}: {failure}") from failure

    async def _answer(self, conversation: Conversation) -> object:
        try:
            return await self._system.respond(conversation)
        except UnitFailed:
            raise
        except (Exception, SystemExit) as error:  # not even `sys.exit` ends a campaign
            raise SystemFailed(f"raised {type(error).__name__}: {error}") from error

    async def aclose(self) -> None:
        """Release what the system holds."""
        await self._system.aclose()


def _code_of(maker: Maker) -> str | None:
    """A digest of the module that `maker` is from: other code is another system."""
    try:
        return digest(inspect.getsource(inspect.getmodule(maker) or maker))
    except (OSError, TypeError):  # built in, or made while running
        return None


def _plain(options: Mapping[str, object]) -> Mapping[str, JSON]:
    """Options as JSON has them; what it has no word for, by its text."""
    plain: dict[str, JSON] = orjson.loads(orjson.dumps(options, default=str))
    return plain


def entry_points() -> tuple[str, ...]:
    """The names of the systems that installed packages offer."""
    return tuple(sorted(each.name for each in importlib.metadata.entry_points(group=ENTRY_POINTS)))


def _from_module(path: str) -> Maker:
    module, _, attribute = path.partition(":")
    try:
        found: object = getattr(importlib.import_module(module), attribute)
    except AttributeError:
        raise ConfigError(f"the module {module} has no {attribute}") from None
    except (Exception, SystemExit) as error:  # a module may do anything while it is imported
        raise ConfigError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    if not callable(found):
        raise ConfigError(f"{path} is no class or function")
    return found


def _from_entry_point(name: str) -> Maker:
    found = importlib.metadata.entry_points(group=ENTRY_POINTS, name=name)
    if not found:
        near = get_close_matches(name, entry_points(), n=1)
        hint = f", did you mean {near[0]}?" if near else "; expected module:Class or its name"
        raise ConfigError(f"no installed package offers a recommender {name!r}{hint}")
    try:
        maker: object = next(iter(found)).load()
    except (Exception, SystemExit) as error:  # as above
        raise ConfigError(f"the recommender {name!r} cannot be loaded: {error}") from error
    if not callable(maker):
        raise ConfigError(f"the recommender {name!r} is no class or function")
    return maker
