"""The source of completions: what a provider is, what it returns, and how it fails."""

from typing import NamedTuple, Protocol, runtime_checkable

from recjury.errors import ProviderError
from recjury.llm.policy import POLICY, Kind
from recjury.llm.quota import Quota
from recjury.records import ChatRequest, Choice
from recjury.safe_text import without_keys

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

    def without_keys(self) -> "Completion":
        """The same without keys; if it has one, without log-probabilities, which may spell it."""
        own = (self.text, self.reasoning, self.finish_reason, self.model, self.fingerprint)
        said = "\n".join((*own, *(text for choice in self.further for text in choice)))
        if without_keys(said) == said:
            return self
        return self._replace(
            text=without_keys(self.text),
            finish_reason=without_keys(self.finish_reason),
            model=without_keys(self.model),
            logprobs=(),
            further=tuple(Choice(*map(without_keys, each)) for each in self.further),
            fingerprint=without_keys(self.fingerprint),
            reasoning=without_keys(self.reasoning),
        )


class Retryable(Exception):
    """One attempt failed, and another one may succeed: as `policy` says for its kind.

    `retry_after` is the wait in seconds that the endpoint asked for, and `quota` what it says is
    left. With `refusal`, an endpoint that has replied before refuses every request at the moment;
    that error is raised if it goes on.
    """

    def __init__(
        self,
        reason: str,
        kind: Kind = Kind.NOT_A_REPLY,
        *,
        retry_after: float | None = None,
        refusal: ProviderError | None = None,
        quota: Quota | None = None,
    ):
        """Store the reason, one line, without keys."""
        self.reason, self.kind = without_keys(reason), kind
        super().__init__(self.reason)
        self.retry_after, self.refusal, self.quota = retry_after, refusal, quota

    @property
    def rate_limited(self) -> bool:
        """Whether the endpoint works, but wants fewer requests."""
        return self.kind is Kind.RATE_LIMIT

    @property
    def may_be_outage(self) -> bool:
        """Whether the endpoint may be down."""
        return POLICY[self.kind].may_be_outage or self.refusal is not None


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
