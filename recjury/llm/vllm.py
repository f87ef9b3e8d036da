"""A vLLM server of recjury's own: started for the first call, ended after the last."""

import asyncio
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from recjury.errors import UserError
from recjury.keys import one_line
from recjury.llm.endpoint import Endpoint
from recjury.llm.models import Model
from recjury.llm.remedies import AttemptError, Dialect, Remedy
from recjury.llm.weights import place_of
from recjury.records import Completion, Request

_LOOK = 0.1  # seconds until the server is looked at again
_ENDING = 20.0  # seconds that it has for ending

_DIES_WITH_US = """
import ctypes, os, sys
getattr(ctypes.CDLL(None), "prctl", print)(1, 15)  # PR_SET_PDEATHSIG: SIGTERM
os.execv(sys.argv[1], sys.argv[1:])
"""
"""A run that is killed must not leave a server that holds a GPU's memory."""


class Vllm:
    """The provider of one model, which a server on this machine answers."""

    def __init__(self, model: Model):
        """Nothing is started. Raises UserError if there is no such Python or no such folder."""
        self._model, self._python = model, _python_of(model)
        place = place_of(model.name)
        if place is not None and not place.exists():
            raise UserError(f"there is no folder {place}")
        self._server: _Server | None = None
        self._lock = asyncio.Lock()

    async def ask(
        self, calls: Sequence[str], request: Request, code: str, dialect: Dialect
    ) -> Sequence[Completion]:
        """One completion for each of `calls`. Raises AttemptError: a stop if the server is gone."""
        async with self._lock:
            if self._server is None:
                self._server = _Server(self._python, self._model)
            await self._server.ready()
        try:
            return await self._server.endpoint.ask(calls, request, code, dialect)
        except AttemptError as error:
            if error.remedy.no_contact:
                await asyncio.sleep(_LOOK)  # a process that died is one a moment later
                self._server.check()
            raise

    async def aclose(self) -> None:
        """End the server."""
        if self._server is not None:
            await self._server.end()


class _Server:
    """A process group, its log, and its endpoint."""

    def __init__(self, python: str, model: Model):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self._key = secrets.token_hex(16)
        handle, log = tempfile.mkstemp(prefix="recjury-vllm-", suffix=".log")
        self._log, self._python, self._is_ready = Path(log), python, False
        self._name = model.name
        url = f"http://127.0.0.1:{port}"
        self.endpoint = Endpoint(model.model_copy(update={"base_url": f"{url}/v1"}), self._key)
        self._health = f"{url}/health"
        command = [python, "-m", "vllm.entrypoints.openai.api_server", "--model"]
        command += [
            str(place_of(model.name) or model.name),
            *model.args,
            "--served-model-name",
            model.name,
        ]
        command += ["--host", "127.0.0.1", "--port", str(port)]
        with os.fdopen(handle, "wb") as file:
            self._process = subprocess.Popen(  # noqa: S603 (what the user named)
                [sys.executable, "-c", _DIES_WITH_US, *command],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
                env={**os.environ, "VLLM_API_KEY": self._key},
            )

    async def ready(self) -> None:
        """Wait until it answers. Raises AttemptError if it ends before."""
        import aiohttp

        while not self._is_ready:
            self.check()
            with suppress(aiohttp.ClientError, TimeoutError):
                async with (
                    aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as session,
                    session.get(self._health) as response,
                ):
                    self._is_ready = response.status == 200
            if not self._is_ready:
                await asyncio.sleep(_LOOK)

    def check(self) -> None:
        """Raise AttemptError with its last words if it has ended."""
        code = self._process.poll()
        if code is None:
            return
        lines = self._log.read_text("utf-8", "replace").splitlines()
        told = [line.strip() for line in lines if line.strip()]
        reason = f"vLLM is not installed for {self._python}: name its environment in `python`"
        if not any("No module named" in line and "vllm" in line for line in told):
            errors = [line for line in told if "Error" in line]
            last = one_line((errors or told or ["it said nothing"])[-1])
            begun = "ended" if self._is_ready else "could not start"
            reason = f"vLLM {begun} (exit code {code}): {last}; its log: {self._log}"
        raise AttemptError(Remedy("stop", f"{reason}; the same command goes on"))

    async def end(self) -> None:
        """End the process and all that it started."""
        await self.endpoint.aclose()
        failed = self._process.poll() is not None
        self._signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(self._process.wait, _ENDING)
        self._signal(signal.SIGKILL)
        self._process.wait()
        if not failed:
            self._log.unlink(missing_ok=True)

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


def _python_of(model: Model) -> str:
    """The interpreter that `python` names: a file, or an environment's folder."""
    if not model.python:
        return sys.executable
    place = Path(model.python).expanduser().absolute()
    python = place / "bin" / "python" if place.is_dir() else place
    if not os.access(python, os.X_OK):
        raise UserError(
            f"`python`: there is no interpreter {python}: name that of vLLM's environment"
        )
    return str(python)
