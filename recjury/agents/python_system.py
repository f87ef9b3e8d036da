"""A user's own system in Python: a class or an instance; its errors are caught."""

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from recjury import plugins
from recjury.agents.reply_validation import validate_reply
from recjury.errors import ConfigError, SystemFailed
from recjury.logs import get_logger
from recjury.plugins import (
    MISSING,
    TIMEOUT,
    call_plugin,
    class_path,
    json_settings,
    load_factory,
    make_instance,
    process_identity,
    read_attribute,
    read_settings,
    redirect_stdout,
    source_digest,
)
from recjury.records import JSON, Conversation, Recommender, SystemReply

if TYPE_CHECKING:
    from recjury.corpora import Corpus
    from recjury.knowledge import Catalogue

ENTRY_POINTS = "recjury.recommenders"
_PARTS = ("name", "settings", "respond", "aclose")

logger = get_logger()


def load_python_system(
    path: str,
    corpus: "Corpus",
    *,
    name: str,
    options: Mapping[str, object],
    timeout: float = TIMEOUT,
) -> Recommender:
    """Make the system that `path` names: "module:Class", or the name of an entry point.

    It is called as `Class(corpus, name=name, **options)`; each of its answers may take `timeout`
    seconds. Its printed output goes to standard error. Raises ConfigError if it cannot be imported,
    cannot be made, or is not a `Recommender`; the message says what is missing.
    """
    with redirect_stdout():
        maker = load_factory(path, group=ENTRY_POINTS, what="recommender")
        system = make_instance(maker, path, corpus, name=name, **options)
        plain = json_settings(options, f"{path}: its options")
        made: dict[str, JSON] = {"path": path, "code": source_digest(maker), "options": plain}
        return GuardedRecommender(system, name, made, corpus.catalogue, timeout=timeout)


def guard_python_system(
    system: object, corpus: "Corpus", *, name: str, timeout: float = TIMEOUT
) -> Recommender:
    """Guard an existing system like one that was made from a path.

    It is identified by its settings and the source of its class; without a source it counts as
    another system in every process. Raises ConfigError if it is not a `Recommender`.
    """
    kind = type(system)
    code = source_digest(kind) or process_identity(kind)
    made: dict[str, JSON] = {"path": class_path(system), "code": code}
    with redirect_stdout():
        return GuardedRecommender(system, name, made, corpus.catalogue, timeout=timeout)


class GuardedRecommender:
    """A user's own system: its errors fail one turn and not the campaign.

    An exception, an answer that is not a `SystemReply` or has no text, and an answer that takes
    more than `timeout` seconds become SystemFailed. The ids of its items are checked against the
    catalogue. Its methods may be `async def`, or plain `def`, which run in threads.
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
        """`made` says what it was made from, with its "path"; it is part of its settings.

        Raises ConfigError if `system` lacks a part of the protocol `Recommender`.
        """
        path = str(made["path"])
        if timeout <= 0:
            raise ConfigError(f"timeout must be above 0 seconds, got {timeout:g}")
        missing = [part for part in _PARTS if read_attribute(system, part, path) is MISSING]
        if missing:
            raise ConfigError(f"{path} is not a recommender: it has no {', '.join(missing)}")
        for method in ("respond", "aclose"):
            found: object = getattr(system, method)
            if inspect.isasyncgenfunction(found) or inspect.isgeneratorfunction(found):
                raise ConfigError(
                    f"{path} is not a recommender: {method} has a `yield` and does not return"
                )
        self._system: Recommender = system  # type: ignore[assignment]  # checked above
        self._catalogue, self._timeout = catalogue, timeout
        self.name = name
        own = read_settings(system, path)
        self.settings: Mapping[str, JSON] = {"kind": "python", **made, "system": own}

    async def respond(self, conversation: Conversation) -> SystemReply:
        """Return the system's answer. Raises SystemFailed if it raises, is late or answers
        wrongly."""
        # A copy: a system that changes it does not change the conversation.
        shown = conversation.model_copy(deep=True)
        answer = await self._call(self._system.respond, shown, late="gave no answer")
        try:
            return validate_reply(answer, self._catalogue)
        except SystemFailed as failure:
            raise SystemFailed(f"{self.name}: {failure}") from failure

    async def aclose(self) -> None:
        """Release the system; a failure is only logged, because no answer depends on it."""
        try:
            await self._call(self._system.aclose, late="did not close")
        except SystemFailed as failure:
            logger.warning("system did not close", system=self.name, reason=str(failure))

    async def _call(self, method: Callable[..., object], *given: object, late: str) -> object:
        """Return what a method of the system returns within the time limit. Raises SystemFailed."""
        return await call_plugin(
            method, *given, name=self.name, within=self._timeout, late=late, error=SystemFailed
        )


def recommender_entry_points() -> tuple[str, ...]:
    """The names of the systems that installed packages provide."""
    return plugins.entry_point_names(ENTRY_POINTS)
