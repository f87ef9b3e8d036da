"""Estimate the tokens of calls: the most that a call may take, and what an endpoint did not report.

A token is taken to be three bytes of UTF-8. That is more tokens than texts have: English has about
four characters a token, Chinese at most about one token a character (three bytes).
"""

import asyncio
import math
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from recjury.llm.provider import Completion
from recjury.llm.spec import ModelSpec
from recjury.records import ChatRequest, Reply

BYTES_PER_TOKEN = 3
"""Bytes of UTF-8 for each estimated token."""

# If neither the request nor the model limits the length of a reply.
ASSUMED_MAX_TOKENS = 4096
# For the most that a prompt may have: denser than any estimate, because markup is.
_CHARACTERS_PER_TOKEN = 2


def estimated_tokens(*texts: str) -> int:
    """The estimated number of tokens of these texts together."""
    return math.ceil(sum(map(_size, texts)) / BYTES_PER_TOKEN)


class ReplySizes:
    """The largest replies of one model, thoughts included, by the kind of call.

    The kind is how the purpose of a request begins: a judge's replies say nothing of a user's.
    """

    def __init__(self, spec: ModelSpec):
        """Begin without knowing any."""
        self._spec = spec
        self._largest: dict[str, int] = {}
        self._firsts: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @asynccontextmanager
    async def first_alone(self, request: ChatRequest) -> AsyncIterator[None]:
        """Wait while another call of a kind is open of which nothing is known."""
        kind = _kind(request)
        async with AsyncExitStack() as stack:
            if kind not in self._largest:
                await stack.enter_async_context(self._firsts[kind])
                if kind in self._largest:
                    await stack.aclose()  # the others need not wait for one another
            yield

    def largest(self, request: ChatRequest) -> int:
        """Tokens of the largest reply of this kind that no limit foretold; 0 without any."""
        return self._largest.get(_kind(request), 0)

    def learn(self, request: ChatRequest, reply: Reply) -> None:
        """Note how large a reply was; one within its limit is known to be so beforehand."""
        tokens = math.ceil(reply.usage.completion_tokens / (1 + len(reply.further)))
        limit = self._spec.sent_limit(request)
        unforeseen = 0 if limit is not None and tokens <= limit else tokens
        self._largest[_kind(request)] = max(self.largest(request), unforeseen)


def worst_tokens(request: ChatRequest, spec: ModelSpec, largest: float = 0) -> tuple[int, int]:
    """The most tokens a call is expected to have: a dense prompt, and the longest replies.

    `largest` is how large replies have been in spite of any limit.
    """
    parts = [part for message in request.messages for part in message.parts]
    characters = math.ceil(sum(map(len, parts)) / _CHARACTERS_PER_TOKEN)
    replied = 0 if spec.embedding else spec.sent_limit(request) or ASSUMED_MAX_TOKENS
    return max(characters, estimated_tokens(*parts)), request.n * max(replied, math.ceil(largest))


def with_missing_usage(
    completion: Completion, request: ChatRequest, spec: ModelSpec
) -> tuple[Completion, bool]:
    """`completion` with estimates of the tokens that were not reported, and whether there are any.

    A count of 0 tokens for a text counts as not reported. Thoughts that were not sent cannot be
    estimated.
    """
    prompt, said = completion.prompt_tokens, completion.completion_tokens
    if prompt and said:
        return completion, False
    if not prompt:
        prompt = estimated_tokens(*(p for message in request.messages for p in message.parts))
    if not said and not spec.embedding:
        further = (text for one in completion.further for text in (one.text, one.reasoning))
        said = estimated_tokens(completion.text, completion.reasoning, *further)
        if limit := spec.sent_limit(request):
            said = min(said, limit * (1 + len(completion.further)))
    estimated = (prompt, said) != (completion.prompt_tokens, completion.completion_tokens)
    return completion._replace(prompt_tokens=prompt, completion_tokens=said), estimated


def _kind(request: ChatRequest) -> str:
    return request.purpose.partition("/")[0]


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
