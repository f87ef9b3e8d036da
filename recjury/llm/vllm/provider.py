"""The vLLM servers of a run, one for models of the same settings, and requests to them."""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from recjury.errors import ConfigError
from recjury.llm.endpoint_check import CallUse
from recjury.llm.learning import Learning
from recjury.llm.openai_provider import OpenAIProvider
from recjury.llm.provider import Completion, Retryable
from recjury.llm.transport import HttpSession
from recjury.llm.vllm.command import server_settings
from recjury.llm.vllm.environment import Gpu, gpus_here, too_few_gpus
from recjury.llm.vllm.spec import VllmSpec
from recjury.records import ChatRequest

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


class VllmProvider:
    """The provider of one `VllmSpec`. Its server is started by the first check or call."""

    def __init__(
        self,
        spec: VllmSpec,
        session: HttpSession,
        uses: Collection[CallUse] = frozenset(),
        learning: Learning | None = None,
    ):
        """`uses` and `learning` as for `OpenAIProvider`. Raises ConfigError without GPUs."""
        self._spec, self._session, self._uses = spec, session, uses
        self._learning = Learning(spec) if learning is None else learning
        self._server = servers_of(session).server(spec)
        self._provider: OpenAIProvider | None = None
        self._url = ""

    async def complete(self, request: ChatRequest) -> Completion:
        """Make one attempt; raises as `OpenAIProvider.complete`.

        A server that died is started again. Raises ProviderError if it cannot be.
        """
        return await (await self._opened()).complete(request)

    async def check(self) -> None:
        """Start the server if it does not run, and send the requests of `OpenAIProvider.check`.

        A server that dies of the first one is not started again: it would die of every request.
        """
        await self._server.check()
        try:
            await (await self._opened()).check()
        except Retryable as error:
            if not self._learning.has_answers:
                await self._server.explain(error.reason)
            raise

    async def aclose(self) -> None:
        """Close the connections. The server ends with the run."""
        if self._provider is not None:
            await self._provider.aclose()
        await leave_servers(self._session)

    async def _opened(self) -> OpenAIProvider:
        url = await self._server.ensure()
        if self._provider is None or url != self._url:
            spec = self._spec.model_copy(update={"base_url": f"{url}/v1"})
            self._provider = OpenAIProvider(spec, self._session, self._uses, self._learning)
            self._url = url
        self._learning.server = self._server.about
        return self._provider
