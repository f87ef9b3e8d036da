"""Anyone's own system: a Python class, found by import path or entry point, and guarded."""

import importlib
import importlib.metadata
import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING

from recjury.errors import ConfigError, Fixable, SystemFailed, UnitFailed
from recjury.records import JSON, Conversation, Recommender, SystemReply

if TYPE_CHECKING:
    from recjury.corpora import Corpus

ENTRY_POINTS = "recjury.recommenders"

Maker = Callable[..., object]


def load_own(
    path: str, corpus: "Corpus", *, name: str, options: Mapping[str, object]
) -> Recommender:
    """Make the system that `path` means: "module:Class", or the name of an entry point.

    It is called as `Class(corpus, name=name, **options)`. Raises ConfigError, saying what is
    missing, if it cannot be imported, cannot be made, or is no `Recommender`.
    """
    maker = _from_module(path) if ":" in path else _from_entry_point(path)
    try:
        system = maker(corpus, name=name, **options)
    except Fixable:
        raise
    except Exception as error:
        raise ConfigError(f"{path} cannot be made: {type(error).__name__}: {error}") from error
    return GuardedRecommender(system, path)


class GuardedRecommender:
    """A foreign system whose mistakes fail one turn and not the campaign.

    What it raises, and an answer that is no `SystemReply` or is empty, becomes SystemFailed.
    """

    def __init__(self, system: object, path: str):
        """Raises ConfigError if `system` lacks a part of the protocol `Recommender`."""
        missing = [
            part for part in ("name", "settings", "respond", "aclose") if not hasattr(system, part)
        ]
        if missing:
            raise ConfigError(f"{path} is no recommender: it has no {', '.join(missing)}")
        for method in ("respond", "aclose"):
            if not inspect.iscoroutinefunction(getattr(system, method)):
                raise ConfigError(f"{path} is no recommender: {method} is not `async def`")
        self._system: Recommender = system  # type: ignore[assignment]  # checked above
        self.name: str = self._system.name
        self.settings: Mapping[str, JSON] = {
            "kind": "python",
            "path": path,
            **self._system.settings,
        }

    async def respond(self, conversation: Conversation) -> SystemReply:
        """The system's answer. Raises SystemFailed for whatever is wrong with it."""
        try:
            reply: object = await self._system.respond(conversation)
        except UnitFailed:
            raise
        except Exception as error:
            raise SystemFailed(f"{self.name} raised {type(error).__name__}: {error}") from error
        if not isinstance(reply, SystemReply):
            raise SystemFailed(f"{self.name} answered {type(reply).__name__}, not a SystemReply")
        if not reply.text.strip() and not reply.items:
            raise SystemFailed(f"{self.name} answered with neither text nor items")
        return reply

    async def aclose(self) -> None:
        """Release what the system holds."""
        await self._system.aclose()


def entry_points() -> tuple[str, ...]:
    """The names of the systems that installed packages offer."""
    return tuple(sorted(each.name for each in importlib.metadata.entry_points(group=ENTRY_POINTS)))


def _from_module(path: str) -> Maker:
    module, _, attribute = path.partition(":")
    try:
        found: object = getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        raise ConfigError(f"{path} cannot be imported: {error}") from error
    except AttributeError:
        raise ConfigError(f"the module {module} has no {attribute}") from None
    if not callable(found):
        raise ConfigError(f"{path} is no class or function")
    return found


def _from_entry_point(name: str) -> Maker:
    found = importlib.metadata.entry_points(group=ENTRY_POINTS, name=name)
    if not found:
        near = get_close_matches(name, entry_points(), n=1)
        hint = f", did you mean {near[0]}?" if near else "; expected module:Class or its name"
        raise ConfigError(f"no installed package offers a recommender {name!r}{hint}")
    maker: object = next(iter(found)).load()
    if not callable(maker):
        raise ConfigError(f"the recommender {name!r} is no class or function")
    return maker
