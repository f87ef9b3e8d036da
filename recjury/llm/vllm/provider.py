"""The provider of a model that recjury serves by vLLM: a server, and requests as to any other."""

from collections.abc import Collection

from recjury.llm.endpoint_check import CallUse
from recjury.llm.learning import Learning
from recjury.llm.openai_provider import OpenAIProvider
from recjury.llm.provider import Completion, Retryable
from recjury.llm.transport import HttpSession
from recjury.llm.vllm.servers import leave_servers, servers_of
from recjury.llm.vllm.spec import VllmSpec
from recjury.records import ChatRequest


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
