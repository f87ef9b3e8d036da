"""Anyone's own system: a Python class, found by import path or entry point, and guarded."""

import asyncio
import importlib
import importlib.metadata
import inspect
from collections.abc import Awaitable, Callable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING

import orjson
import structlog

from recjury.agents.foreign import held_to_catalogue, one_line, told
from recjury.agents.printing import prints_aside
from recjury.errors import ConfigError, Fixable, SystemFailed, UnitFailed
from recjury.records import JSON, Conversation, Recommender, SystemReply, digest

if TYPE_CHECKING:
    from recjury.corpora import Corpus
    from recjury.knowledge import Catalogue

ENTRY_POINTS = "recjury.recommenders"
TIMEOUT = 300.0
_PARTS = ("name", "settings", "respond", "aclose")

logger = structlog.get_logger(__name__)

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
    seconds. What it prints goes to standard error. Raises ConfigError, saying what is missing, if
    it cannot be imported, cannot be made, or is no `Recommender`.
    """
    with prints_aside():
        maker = _from_module(path) if ":" in path else _from_entry_point(path)
        try:
            system = maker(corpus, name=name, **options)
        except Fixable:
            raise
        except (Exception, SystemExit) as error:
            raise ConfigError(f"{path} cannot be made: {told(error)}") from error
        plain = _plain(options, f"{path}: its options")
        made: dict[str, JSON] = {"path": path, "code": _code_of(maker), "options": plain}
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
        missing = [part for part in _PARTS if not _has(system, part, path)]
        if missing:
            raise ConfigError(f"{path} is no recommender: it has no {', '.join(missing)}")
        for method in ("respond", "aclose"):
            found: object = getattr(system, method)
            if not inspect.iscoroutinefunction(found):
                hint = ", but has a `yield`" if inspect.isasyncgenfunction(found) else ""
                raise ConfigError(
                    f"{path} is no recommender: {method} is not an `async def` that returns{hint}"
                )
        self._system: Recommender = system  # type: ignore[assignment]  # checked above
        self._catalogue, self._timeout = catalogue, timeout
        self.name = name
        own: object = self._system.settings
        if not isinstance(own, Mapping):
            raise ConfigError(f"{path}: its settings must be a mapping, got {type(own).__name__}")
        plain = _plain(own, f"{path}: its settings")
        self.settings: Mapping[str, JSON] = {"kind": "python", **made, "system": plain}

    async def respond(self, conversation: Conversation) -> SystemReply:
        """The system's answer. Raises SystemFailed for whatever is wrong with it."""
        # A copy: what a system does to it, be it by force, is not what the user said.
        shown = conversation.model_copy(deep=True)
        answer = await self._within(lambda: self._system.respond(shown), "gave no answer")
        try:
            return held_to_catalogue(answer, self._catalogue)
        except SystemFailed as failure:
            raise SystemFailed(f"{self.name}: {failure}") from failure

    async def aclose(self) -> None:
        """Release what the system holds; that it cannot is logged, since all answers are there."""
        try:
            await self._within(self._system.aclose, "did not close")
        except SystemFailed as failure:
            logger.warning("a system did not close", why=str(failure))

    async def _within(self, work: Callable[[], Awaitable[object]], late: str) -> object:
        """What foreign work gives within the time limit; SystemFailed for all it may do instead."""
        working = asyncio.ensure_future(_guarded(work))
        try:
            with prints_aside():
                # `asyncio.timeout` would wait for a system that goes on when it is cancelled.
                done, _ = await asyncio.wait({working}, timeout=self._timeout)
        finally:
            working.cancel()
        if not done:
            raise SystemFailed(f"{self.name} {late} within {self._timeout:g} s")
        if working.cancelled():
            raise SystemFailed(f"{self.name} cancelled its own answer")
        try:
            return working.result()
        except SystemFailed as failure:
            raise SystemFailed(f"{self.name}: {one_line(failure)}") from failure


async def _guarded(work: Callable[[], Awaitable[object]]) -> object:
    try:
        return await work()
    except (UnitFailed, asyncio.CancelledError, KeyboardInterrupt):
        raise
    except BaseException as error:  # not even `sys.exit` ends a campaign
        raise SystemFailed(f"raised {told(error)}") from error


def _has(system: object, part: str, path: object) -> bool:
    try:
        return hasattr(system, part)
    except Exception as error:  # a property may do anything
        raise ConfigError(f"{path}: its {part} cannot be read: {told(error)}") from error


def _code_of(maker: Maker) -> str | None:
    """A digest of the module that `maker` is from: other code is another system."""
    try:
        return digest(inspect.getsource(inspect.getmodule(maker) or maker))
    except (OSError, TypeError):  # built in, or made while running
        return None


def _plain(values: Mapping[str, object], what: str) -> Mapping[str, JSON]:
    """`values` as JSON has them; what it has no word for, by its text."""
    try:
        plain: dict[str, JSON] = orjson.loads(
            orjson.dumps(dict(values), default=_described, option=orjson.OPT_NON_STR_KEYS)
        )
    except TypeError as error:  # half characters, whole numbers of more than 64 bits, circles
        raise ConfigError(f"{what} cannot be kept as JSON: {told(error)}") from error
    return plain


def _described(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)


def entry_points() -> tuple[str, ...]:
    """The names of the systems that installed packages offer."""
    return tuple(sorted(each.name for each in importlib.metadata.entry_points(group=ENTRY_POINTS)))


def _from_module(path: str) -> Maker:
    name, _, attribute = path.partition(":")
    if not all(part.isidentifier() for part in (*name.split("."), attribute)):
        raise ConfigError(
            f"expected module:Class with the module's name as `import` takes it, got {path!r}"
        )
    try:
        module = importlib.import_module(name)
    except (Exception, SystemExit) as error:  # a module may do anything while it is imported
        raise ConfigError(f"{path} cannot be imported: {told(error)}") from error
    found: object = getattr(module, attribute, None)
    if found is None:
        raise ConfigError(f"the module {name} has no {attribute}")
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
        raise ConfigError(f"the recommender {name!r} cannot be loaded: {told(error)}") from error
    if not callable(maker):
        raise ConfigError(f"the recommender {name!r} is no class or function")
    return maker
