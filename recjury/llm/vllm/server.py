"""A vLLM server for as long as a run needs it: started once, watched, started again if it dies."""

import asyncio
import time
from collections.abc import Sequence

from yarl import URL

from recjury.errors import ProviderError
from recjury.llm.transport import HttpSession, TransportError
from recjury.llm.vllm.command import server_environment, server_flags
from recjury.llm.vllm.environment import Gpu, installed_vllm
from recjury.llm.vllm.process import ServerProcess, free_port
from recjury.llm.vllm.spec import VllmSpec
from recjury.logs import get_logger
from recjury.records import JSON

logger = get_logger()

_EVERY = 0.25
_HEALTH_SECONDS = 10.0
_DEATH_SECONDS = 5.0  # that a server takes to end after its engine died


class VllmServer:
    """The server of models that share its settings; their adapters may differ."""

    def __init__(self, spec: VllmSpec, gpus: Sequence[Gpu]):
        """Start nothing yet; `gpus` are for this server alone."""
        self._spec = spec
        self._specs: dict[tuple[str, str | None], VllmSpec] = {}
        self._served = 0  # of the specs; none is ever taken away
        self._gpus = tuple(gpus)
        self._process: ServerProcess | None = None
        self._deaths = 0
        self._failure: ProviderError | None = None
        self._lock = asyncio.Lock()
        self._session = HttpSession()
        self.about: dict[str, JSON] = {}
        """The version and the flags of the server that runs, for the store."""

    def serve(self, spec: VllmSpec) -> None:
        """Add a model. If the server runs without it, it is started again for it."""
        self._specs.setdefault((spec.name, spec.adapter), spec)

    async def ensure(self) -> str:
        """The address of the server, which answers; it is started if it does not run.

        Raises ConfigError for what is missing, and ProviderError if it does not start, or has died
        more often than it may be started again.
        """
        if not self._is_ready():
            async with self._lock:
                if not self._is_ready():
                    await self._start_again()
        assert self._process is not None
        return self._process.url

    async def check(self) -> None:
        """Start the server again if it runs, but says that it is broken; raises as `ensure`."""
        await self.ensure()
        process = self._process
        if process is not None and await self._status(process) == 503:
            async with self._lock:
                if process is self._process:  # no other check was faster
                    await process.end()
            await self.ensure()

    async def explain(self, came: str) -> None:
        """Raise ProviderError with the last lines of the server if it dies in this moment.

        `came` is what its client saw.
        """
        process = self._process
        ends = time.monotonic() + _DEATH_SECONDS
        while process is not None and process.is_running and time.monotonic() < ends:  # noqa: ASYNC110 (a process, and no event)
            await asyncio.sleep(_EVERY)
        if process is not None and not process.is_running:
            self._failure = ProviderError(
                f"{self._spec.model}: its vLLM server died of the first request ({came}): "
                f"{process.last_lines()}; the whole log: {process.log}"
            )
            raise self._failure

    async def aclose(self) -> None:
        """End the server."""
        async with self._lock:
            await self._end()
        await self._session.aclose()

    def _is_ready(self) -> bool:
        if self._failure is not None:
            raise self._failure
        is_running = self._process is not None and self._process.is_running
        return is_running and self._served == len(self._specs)

    async def _start_again(self) -> None:
        died = self._process is not None and not self._process.is_running
        if self._process is not None and died:
            await self._note_death(self._process)
        await self._end()
        specs = tuple(self._specs.values())
        try:
            self._process = await self._started(specs)
        except ProviderError as error:
            self._failure = error
            raise
        self._served = len(specs)

    async def _note_death(self, process: ServerProcess) -> None:
        self._deaths += 1
        reason = await asyncio.to_thread(process.last_lines)
        if self._deaths > self._spec.restarts:
            self._failure = ProviderError(
                f"{self._spec.model}: its vLLM server died {self._deaths} times in this run, and "
                f"`restarts` is {self._spec.restarts}; its last lines: {reason}; the whole log: "
                f"{process.log}"
            )
            raise self._failure
        logger.warning(
            "vLLM server died, and is started again",
            model=self._spec.model,
            deaths=self._deaths,
            reason=reason,
            log=str(process.log),
        )

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            await process.end()

    async def _started(self, specs: Sequence[VllmSpec]) -> ServerProcess:
        """A server of `specs` that answers. Raises ConfigError and ProviderError."""
        spec = self._spec
        installed = await asyncio.to_thread(installed_vllm, spec)
        flags = server_flags(specs)
        self.about = {
            "vllm": installed.vllm,
            "python": installed.python,
            "flags": flags,
            "gpus": [gpu.name for gpu in self._gpus],
            "restarts": self._deaths,
        }
        process = await self._launched(spec, flags)
        try:
            await self._load(process)
        except BaseException:
            await process.end()
            raise
        return process

    async def _launched(self, spec: VllmSpec, flags: Sequence[str]) -> ServerProcess:
        wanted = spec.args.get("port")
        port = wanted if isinstance(wanted, int) else free_port()
        address = [] if wanted == port else [f"--port={port}"]
        command = [spec.interpreter, "-m", "vllm.entrypoints.openai.api_server"]
        command += ["--host=127.0.0.1", *address, *flags]
        environment = server_environment(spec, self._gpus)
        process = await ServerProcess.start(command, environment, port, spec.model)
        logger.warning("vLLM server loads its model", model=spec.model, log=str(process.log))
        return process

    async def _load(self, process: ServerProcess) -> None:
        """Wait until the server answers. Raises ProviderError if it does not."""
        begun = time.monotonic()
        while process.is_running:
            if await self._status(process) == 200:
                logger.info(
                    "vLLM server answers",
                    model=self._spec.model,
                    seconds=round(time.monotonic() - begun, 1),
                )
                return
            if time.monotonic() - begun > self._spec.start_timeout:
                raise ProviderError(
                    f"{self._spec.model}: its vLLM server did not answer within "
                    f"{self._spec.start_timeout:g} s: raise start_timeout, or see {process.log}"
                )
            await asyncio.sleep(_EVERY)
        raise ProviderError(
            f"{self._spec.model}: its vLLM server ended while it loaded the model: "
            f"{process.last_lines()}; the whole log: {process.log}"
        )

    async def _status(self, process: ServerProcess) -> int | None:
        """The status of the server's health check; None without an answer."""
        url = URL(f"{process.url}/health")
        try:
            return (await self._session.request("GET", url, None, {}, _HEALTH_SECONDS)).status
        except TransportError:
            return None
