"""Where completions come from: what a provider is, what it returns, and how it fails."""

from typing import NamedTuple, Protocol

from recjury.records import ChatRequest, Choice

LogProbs = tuple[tuple[str, float, tuple[tuple[str, float], ...]], ...]


class Completion(NamedTuple):
    """What a provider returns: the reply as the endpoint sent it."""

    text: str
    finish_reason: str = "stop"
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    logprobs: LogProbs = ()
    further: tuple[Choice, ...] = ()
    reasoning: str = ""


class Retryable(Exception):
    """One attempt failed, and another one may succeed.

    `retry_after` is the wait in seconds that the endpoint asked for. `rate_limited` tells that
    the endpoint works and wants to be asked less often.
    """

    def __init__(
        self, reason: str, retry_after: float | None = None, *, rate_limited: bool = False
    ):
        """Keep the reason, which is one line without a key."""
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after
        self.rate_limited = rate_limited


class Provider(Protocol):
    """Where one model's completions come from."""

    async def complete(self, request: ChatRequest) -> Completion:
        """One attempt. Raises Retryable, ProviderError, or CallFailed where no retry helps."""

    async def check(self) -> None:
        """Raise ProviderError when the model cannot be used; nothing is recorded."""

    async def aclose(self) -> None:
        """Release what it holds."""
