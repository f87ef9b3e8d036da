"""Between the gateway and a model: the protocol of a provider, and of the wire that one uses."""

from typing import NamedTuple, Protocol

from recjury.records import ChatRequest, Choice

LogProbs = tuple[tuple[str, float, tuple[tuple[str, float], ...]], ...]


class Completion(NamedTuple):
    """What a provider returns: the reply as the endpoint gave it, before anything is added."""

    text: str
    finish_reason: str = "stop"
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    logprobs: LogProbs = ()
    further: tuple[Choice, ...] = ()


class Retryable(Exception):
    """One attempt failed in a way that another attempt may mend.

    `retry_after` is the wait in seconds that the endpoint asked for. `turned_away` tells that it
    is there and well, and wants to be asked less often.
    """

    def __init__(self, reason: str, retry_after: float | None = None, *, turned_away: bool = False):
        """Keep the reason as one line; it must hold no key."""
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after
        self.turned_away = turned_away


class Provider(Protocol):
    """Where one model's completions come from."""

    async def complete(self, request: ChatRequest) -> Completion:
        """One attempt. Raises Retryable, ProviderError, or CallFailed where no retry helps."""

    async def check(self) -> None:
        """Raise ProviderError when the model cannot be used; nothing is recorded."""

    async def aclose(self) -> None:
        """Release what it holds."""


class HttpResponse(NamedTuple):
    """An HTTP answer. `headers` are those that matter here, with names in lower case."""

    status: int
    body: bytes
    headers: dict[str, str]


class Transport(Protocol):
    """Moves one request to an endpoint and its answer back; raises Retryable if none comes."""

    async def send(
        self, path: str, body: dict[str, object] | None, *, seconds: float | None = None
    ) -> HttpResponse:
        """POST `body` as JSON to base_url + `path`; GET when `body` is None. `seconds` limit it."""

    async def aclose(self) -> None:
        """Release what it holds."""
