"""The vLLM servers of a run: models with the same settings share one, and all end with the run."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from recjury.errors import ConfigError
from recjury.llm.transport import HttpSession
from recjury.llm.vllm.command import server_settings
from recjury.llm.vllm.environment import Gpu, gpus_here, too_few_gpus
from recjury.llm.vllm.spec import VllmSpec

if TYPE_CHECKING:
    from recjury.llm.vllm.server import VllmServer


class Servers:
    """Servers by their settings; each has GPUs of its own."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._servers: dict[str, VllmServer] = {}
        self._taken: set[str] = set()

    def server(self, spec: VllmSpec) -> "VllmServer":
        """The server for `spec`, which may be another model's, too. Raises ConfigError."""
        from recjury.llm.vllm.server import VllmServer  # late: few runs need it

        key = server_settings(spec)
        server = self._servers.get(key)
        if server is None:
            server = self._servers[key] = VllmServer(spec, self._gpus_for(spec))
        server.serve(spec)
        return server

    async def aclose(self) -> None:
        """End all servers."""
        servers, self._servers, self._taken = self._servers, {}, set()
        for server in servers.values():
            await server.aclose()

    def _gpus_for(self, spec: VllmSpec) -> tuple[Gpu, ...]:
        if spec.gpus == 0:
            return ()
        here = gpus_here()
        free = [gpu for gpu in here if gpu.name not in self._taken]
        if len(free) < spec.gpus:
            raise ConfigError(too_few_gpus(spec, len(here), len(here) - len(free)))
        found = tuple(free[: spec.gpus])
        self._taken.update(gpu.name for gpu in found)
        return found


@asynccontextmanager
async def running_servers() -> AsyncIterator[Servers]:
    """The block of a run: servers that its models need are started once and end with the block.

    Gateways outside such a block start servers of their own. Inside another one, that one is used.
    """
    outer = _of_block.get()
    if outer is not None:
        yield outer
        return
    servers = Servers()
    token = _of_block.set(servers)
    try:
        yield servers
    finally:
        _of_block.reset(token)
        await servers.aclose()


def servers_of(session: HttpSession) -> Servers:
    """The servers of the block, otherwise those of the gateway that has this session."""
    return _of_block.get() or _of_sessions.setdefault(session, Servers())


async def leave_servers(session: HttpSession) -> None:
    """End the servers of this gateway, if it does not share those of a block."""
    own = _of_sessions.pop(session, None)
    if own is not None:
        await own.aclose()


_of_block: ContextVar[Servers | None] = ContextVar("recjury_vllm_servers", default=None)
_of_sessions: WeakKeyDictionary[HttpSession, Servers] = WeakKeyDictionary()
