"""Completions by a model that runs in this process, in a thread of its own."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from recjury.errors import CallFailed, ProviderError
from recjury.llm.local_spec import LocalSpec
from recjury.llm.provider import Completion
from recjury.plugins.extras import require_neural
from recjury.records import ChatRequest

if TYPE_CHECKING:
    from recjury.llm.local_generation import LocalModel

_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
_NO_TEMPLATE = "its tokenizer has no chat template: use a model that was tuned for chat"


class LocalProvider:
    """The provider of one `LocalSpec`. Requests are answered one after the other.

    The weights are loaded for the first request, and stay until `aclose`.
    """

    def __init__(self, spec: LocalSpec):
        """Raises ConfigError if a package is missing."""
        require_neural("provider transformers")
        self._spec = spec
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="local-model")
        self._model: LocalModel | None = None

    async def complete(self, request: ChatRequest) -> Completion:
        """Generate the reply in the thread.

        Raises CallFailed for a prompt that is too long or that the chat template refuses, and
        ProviderError if the model cannot be loaded. If the caller is cancelled, generation ends
        with the token that is being generated.
        """
        cancelled = threading.Event()
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, self._generate, request, cancelled)
        finally:
            cancelled.set()

    async def check(self) -> None:
        """Look at the folder, the tokenizer and the memory; nothing is loaded.

        Raises ConfigError for a folder without a model or without an adapter, and ProviderError for
        a model that has no chat template or does not fit into memory.
        """
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._thread, self._check)

    async def aclose(self) -> None:
        """Release the model; a generation that is under way ends first."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self._thread.shutdown)
        self._model = None

    def _generate(self, request: ChatRequest, cancelled: threading.Event) -> Completion:
        if cancelled.is_set():
            raise CallFailed(f"{self._spec.name}: cancelled")
        if self._model is None:
            from recjury.llm.local_generation import load_model

            self._model = load_model(self._spec)
        return self._model.complete(request, cancelled)

    def _check(self) -> None:
        from recjury.llm.local_generation import free_memory, load_tokenizer

        folder = self._spec.folder
        size = sum(path.stat().st_size for form in _WEIGHTS for path in folder.glob(form))
        if not size:
            raise self._refused("there are no weights in this folder")
        _ = self._spec.adapter_folder
        if load_tokenizer(self._spec).chat_template is None:
            raise self._refused(_NO_TEMPLATE)
        free = free_memory(self._spec.device)
        if free is not None and size > free:
            raise self._refused(
                f"its weights need {size / 2**30:.1f} GiB, and {self._spec.device} has "
                f"{free / 2**30:.1f} GiB free: take a smaller model or another device"
            )

    def _refused(self, reason: str) -> ProviderError:
        return ProviderError(f"model {self._spec.name}: {reason}")
