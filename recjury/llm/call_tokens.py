"""The tokens of calls: what one may take at most, what an endpoint did not report, and what replies
of a model need, as far as earlier ones show.

A token is taken to be three bytes of UTF-8. That is more tokens than texts have: English has about
four characters a token, Chinese at most about one token a character (three bytes).
"""

import asyncio
import math
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from recjury.llm.provider import Completion
from recjury.llm.spec import MOST_ROOM, ModelSpec
from recjury.llm.spoken_text import lacks_room, part_text
from recjury.logs import get_logger
from recjury.records import ChatRequest, Reply

logger = get_logger()

BYTES_PER_TOKEN = 3
"""Bytes of UTF-8 for each estimated token."""

# If neither the request nor the model limits the length of a reply.
ASSUMED_MAX_TOKENS = 4096
# For the most that a prompt may have: denser than any estimate, because markup is.
_CHARACTERS_PER_TOKEN = 2

_MOST_LEARNED = 32_768  # tokens: a model that never ends must not make every reply as long
_AFTER_THOUGHTS_ALONE = 8
"""By how much more room is given after a reply that had thoughts alone, or nothing at all."""
_AFTER_SPEECH = 2
_SPARE = 2  # times what a whole reply has taken


def estimated_tokens(*texts: str) -> int:
    """The estimated number of tokens of these texts together."""
    return math.ceil(sum(map(_size, texts)) / BYTES_PER_TOKEN)


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


class ReplyRoom:
    """The room that replies of one model need; lower limits are raised when requests are sent.

    A reasoning model uses up its tokens before it says anything. How many it needs is learned from
    replies that were cut off, and from whole ones that took more than a limit; also from those that
    the store has. It changes what is sent, and never the identity of a call.
    """

    def __init__(self, spec: ModelSpec):
        """Begin without knowing anything."""
        self._spec = spec
        self.least = 0
        self._own_limit = 0  # of the endpoint, as far as replies have met it
        self._has_whole = False

    def applied(self, request: ChatRequest) -> ChatRequest:
        """`request` as it is sent, with the room that its reply needs."""
        if self._spec.embedding or request.top_logprobs is not None:
            return request
        limit, least = self._spec.token_limit(request), self.least
        if self._is_unlimited(request):
            own = self._own_limit
            if limit is not None:  # a reply was cut off, by the endpoint's own limit
                least = max(least, own, min(_AFTER_SPEECH * own, MOST_ROOM))
            elif not own or least <= own:
                least = 0
        return request if least <= (limit or 0) else request._replace(least_tokens=least)

    def learn(self, request: ChatRequest, reply: Reply) -> None:
        """Learn from the reply to `request`, which `applied` may have changed."""
        if self._spec.embedding or request.top_logprobs is not None:
            return
        tokens = reply.usage.completion_tokens // max(1, 1 + len(reply.further))
        limit = self._spec.sent_limit(request)
        if not lacks_room(reply):
            self._has_whole = True
            first = self._first_limit(request) or self._own_limit
            if first and tokens > first:
                self._raise(_SPARE * tokens)
            return
        if limit is None:
            self._own_limit = max(self._own_limit, tokens)
        met = max(tokens, limit or 0)
        if not part_text(reply.text).spoken:
            self._raise(_AFTER_THOUGHTS_ALONE * met)
        elif request.attempt > 0 and not self._has_whole:
            self._raise(_AFTER_SPEECH * met)  # some templates hide where thoughts begin

    def _is_unlimited(self, request: ChatRequest) -> bool:
        return self._first_limit(request) is None

    def _first_limit(self, request: ChatRequest) -> int | None:
        """The limit of the first request for a reply."""
        return self._spec.token_limit(request if request.room == 1 else request._replace(room=1))

    def _raise(self, least: int) -> None:
        least = min(least, _MOST_LEARNED)
        if least > self.least:
            self.least = least
            logger.info("replies need more room", model=self._spec.name, least_tokens=least)


def _kind(request: ChatRequest) -> str:
    return request.purpose.partition("/")[0]


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
