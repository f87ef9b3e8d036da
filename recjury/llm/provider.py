"""The source of completions: what a provider is, what it returns, and how it fails."""

from typing import NamedTuple, Protocol, runtime_checkable

from recjury.errors import ProviderError
from recjury.llm.quota import Quota
from recjury.records import ChatRequest, Choice

LogProbs = tuple[tuple[str, float, tuple[tuple[str, float], ...]], ...]


class Completion(NamedTuple):
    """What a provider returns: the reply as the endpoint sent it, and what it says of its quota."""

    text: str
    finish_reason: str = "stop"
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    logprobs: LogProbs = ()
    further: tuple[Choice, ...] = ()
    fingerprint: str = ""
    reasoning: str = ""
    quota: Quota | None = None


class Retryable(Exception):
    """One attempt failed, and another one may succeed.

    `retry_after` is the wait in seconds that the endpoint asked for. `rate_limited` means that the
    endpoint works, but wants fewer requests. `unavailable` means that the endpoint may be down (a
    server error, or no answer in time), `unreachable` that no connection to it can be made. With
    `refusal`, an endpoint that has replied before refuses every request at the moment; that error
    is raised if it goes on. `may_be_request` means that this request may be what breaks the server:
    a server error that says nothing of a busy server. `quota` is what the endpoint says is left.
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
        may_be_request: bool = False,
        quota: Quota | None = None,
    ):
        """Store the reason: one line without a key."""
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after
        self.rate_limited = rate_limited
        self.unavailable = unavailable or unreachable or refusal is not None
        self.unreachable = unreachable
        self.refusal = refusal
        self.may_be_request = may_be_request
        self.quota = quota


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


@runtime_checkable
class DeferredProvider(Protocol):
    """A provider that answers many calls together, perhaps hours later and after a restart.

    Its calls are not limited like requests that are open for seconds: `has_room` says whether it
    takes more of them. It has to know which call a request is for, and what is stored already.
    """

    @property
    def most_open(self) -> int:
        """The most calls that are open at once."""

    @property
    def has_room(self) -> bool:
        """Whether more calls may be opened."""

    async def complete_call(self, identity: str, request: ChatRequest) -> Completion:
        """As `Provider.complete`, for the call with this identity."""

    def stored(self, identity: str) -> None:
        """The recorder has a reply to this call: from now on, or from an earlier run."""

    def progress(self) -> str:
        """What it waits for, in a few words; empty if it waits for nothing."""
