"""A user's own system in Python: a class or an object; its errors are caught."""

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import PrivateAttr

from recjury.agents.reply_validation import validate_reply
from recjury.agents.system import System, SystemContext
from recjury.errors import ConfigError, SystemFailed
from recjury.isolation import ProcessPool, ProcessSettings
from recjury.logs import get_logger
from recjury.plugins import (
    TIMEOUT,
    Registry,
    Seconds,
    call_plugin,
    class_path,
    given_identity,
    made_identity,
    make_instance,
    read_settings,
    redirect_stdout,
    require_parts,
)
from recjury.records import JSON, Conversation, Recommender, SystemReply

if TYPE_CHECKING:
    from recjury.corpora import Corpus

OWN_SYSTEMS: Registry[Callable[..., object]] = Registry("system", "recjury.systems", {})
"""The systems of installed packages."""
_PARTS = ("name", "settings", "respond", "aclose")

logger = get_logger()


class PythonSystem(ProcessSettings, System):
    """Your own system: `path` is "module:Class" or the name of an entry point.

    It is made as `Class(corpus, name=name, **options)`; from Python, `instance` may be the system
    itself. An exception, an answer that is not a `SystemReply` or has no text, and one that takes
    more than `timeout` seconds fail one turn. The ids of its items are checked against the
    catalogue. Its methods may be `async def`, or plain `def`, which run in threads.
    """

    kind: Literal["python"] = "python"
    timeout: Seconds = TIMEOUT

    _pool: ProcessPool | None = PrivateAttr(default=None)
    _system: Recommender = PrivateAttr()
    _identity: Mapping[str, JSON] = PrivateAttr()

    @property
    def settings(self) -> Mapping[str, JSON]:
        """What it was made from, its source, and its own settings."""
        return {"kind": self.kind, **self._identity}

    async def respond(self, conversation: Conversation) -> SystemReply:
        """Return the system's answer. Raises SystemFailed if it raises, is late or answers
        wrongly."""
        if self._pool is None:
            # A copy: a system that changes it does not change the conversation.
            shown = conversation.model_copy(deep=True)
            answer = await self._call(self._system.respond, shown, late="gave no answer")
        else:
            answer = await self._pool.answer(conversation.model_dump(mode="json"), SystemReply)
        try:
            return validate_reply(answer, self._catalogue)
        except SystemFailed as failure:
            raise SystemFailed(f"{self.name}: {failure}") from failure

    async def aclose(self) -> None:
        """Release the system; a failure is only logged, because no answer depends on it."""
        try:
            await (self.close_own() if self._pool is None else self._pool.aclose())
        except SystemFailed as failure:
            logger.warning("system did not close", system=self.name, reason=str(failure))

    async def close_own(self) -> None:
        """Call its own `aclose`. Raises SystemFailed."""
        await self._call(self._system.aclose, late="did not close")

    def _prepare(self) -> None:
        """Raise ConfigError if it cannot be made, or lacks a part of the protocol."""
        if not self.thread_reason:
            corpus, length = self._context.corpus, self._context.list_length
            module = OWN_SYSTEMS.module(self.path)
            launch = self.launch(_MAKER, self.name, corpus, module, list_length=length)
            limits: Any = {"processes": self.processes, "seconds": self.timeout}
            self._pool = ProcessPool(self.name, launch, **limits, error=SystemFailed)
            self._identity = self._pool.settings
            return
        with redirect_stdout():
            system, identity = self._made() if self.instance is None else self._given()
            path = str(identity["path"])
            require_parts(system, _PARTS, path, "system")
            self._system = system  # type: ignore[assignment]  # checked above
            for method in ("respond", "aclose"):
                function = getattr(system, method)
                if inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function):
                    raise ConfigError(
                        f"{path} is not a system: {method} has a `yield` and does not return"
                    )
            self._identity = {**identity, "system": read_settings(system, path)}

    def _made(self) -> tuple[object, dict[str, JSON]]:
        factory = OWN_SYSTEMS.load(self.path)
        corpus = self._context.corpus
        system = make_instance(factory, self.path, corpus, name=self.name, **self.options)
        return system, made_identity(factory, self.path, self.options)

    def _given(self) -> tuple[object, dict[str, JSON]]:
        return self.instance, given_identity(self.instance)

    async def _call(self, method: Callable[..., object], *given: object, late: str) -> object:
        return await call_plugin(
            method, *given, name=self.name, within=self.timeout, late=late, error=SystemFailed
        )


class ServedSystem:
    """A system in a process of its own."""

    def __init__(self, entry: Mapping[str, object], corpus: "Corpus", list_length: int):
        """Make the system. Raises UserError."""
        # Recjury looks at the clock, because this process may be stuck.
        here = PythonSystem.model_validate({**entry, "isolate": "thread", "timeout": 1e9})
        self._system = here.prepared(SystemContext(corpus, list_length=list_length))
        self.settings = self._system.settings

    async def answer(self, request: JSON) -> JSON:
        """The reply to a conversation. Raises SystemFailed."""
        reply = await self._system.respond(Conversation.model_validate(request))
        answer: JSON = reply.model_dump(mode="json")
        return answer

    async def close(self) -> None:
        """Call its own `aclose`. Raises SystemFailed."""
        await self._system.close_own()


_MAKER = f"{__name__}:{ServedSystem.__name__}"


def given_system(instance: object) -> PythonSystem:
    """The entry of a system object; its name is its own, or that of its class.

    Raises ValueError for a class.
    """
    if isinstance(instance, type):
        kind = instance.__name__
        raise ValueError(f"{kind} is a class: give an object, such as {kind}()")
    name: object = getattr(instance, "name", None)
    return PythonSystem(
        name=name if isinstance(name, str) and name else type(instance).__name__.lower(),
        path=class_path(instance),
        instance=instance,
    )
