"""How many tokens the calls to one model take, for rates of tokens."""

from recjury.llm.limits import RateLimiter
from recjury.llm.provider import Completion
from recjury.llm.quota import Quota
from recjury.llm.token_estimate import estimated_tokens
from recjury.records import ChatRequest

_SAID_TOKENS = 300.0  # the expected length of a reply before there is one
_NEWEST_SHARE = 0.1  # of a call in the averages


class CallTokens:
    """Estimates calls before they are sent, and tells the rate limiter what they took."""

    def __init__(self, limiter: RateLimiter):
        """`limiter` is the model's."""
        self._limiter = limiter
        self._said = _SAID_TOKENS  # tokens of a reply, on average
        self._call = 0.0  # tokens of a call, on average

    def expected(self, request: ChatRequest) -> float:
        """The tokens of the prompt, and of average replies."""
        parts = (part for message in request.messages for part in message.parts)
        return estimated_tokens(*parts) + request.n * self._said

    def note(self, completion: Completion, expected: float, open_calls: int) -> None:
        """Note what a call took that was expected to take so many tokens (0: was not counted)."""
        taken = completion.prompt_tokens + completion.completion_tokens
        if taken:
            said = completion.completion_tokens / (1 + len(completion.further))
            self._said += _NEWEST_SHARE * (said - self._said)
            self._call += _NEWEST_SHARE * (taken - self._call)
        if taken and expected:
            self._limiter.correct(taken - expected)
        if completion.quota is not None:
            self.note_quota(completion.quota, open_calls)

    def note_quota(self, quota: Quota, open_calls: int) -> None:
        """Note what the endpoint says is left of its quota."""
        self._limiter.note(quota, open_calls, self._call)
