"""The source of completions: what a provider is, what it returns, and how it fails."""

from typing import NamedTuple, Protocol

from recjury.errors import ProviderError
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

    `retry_after` is the wait in seconds that the endpoint asked for. `rate_limited` means that the
    endpoint works, but wants fewer requests. `unavailable` means that the endpoint may be down (a
    server error, or no answer in time), `unreachable` that no connection to it can be made. With
    `refusal`, an endpoint that has replied before refuses every request at the moment; that error
    is raised if it goes on.
    """

    def __init__(
        self,
        reason: str,
        retry_after: float | None = None,
        *,
        rate_limited: bool = False,
        unavailable: bool = False,
        unreachable: bool = False,
        refusal: ProviderError | None = None,
    ):
        """Store the reason: one line without a key."""
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after
        self.rate_limited = rate_limited
        self.unavailable = unavailable or unreachable or refusal is not None
        self.unreachable = unreachable
        self.refusal = refusal


class Provider(Protocol):
    """The source of one model's completions."""

    async def complete(self, request: ChatRequest) -> Completion:
        """Make one attempt. Raises Retryable, ProviderError, or CallFailed if a retry cannot
        help."""

    async def check(self) -> None:
        """Send a small request; nothing is recorded.

        Raises ProviderError if the model cannot be used, and Retryable if another try may succeed.
        It is also called to find out whether an endpoint that was down answers again.
        """

    async def aclose(self) -> None:
        """Release its resources."""
