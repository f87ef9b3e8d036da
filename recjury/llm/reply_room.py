"""How many tokens the replies of a model need, learned from those that were cut off."""

from dataclasses import replace

from recjury.llm.spec import MOST_ROOM, ModelSpec
from recjury.llm.spoken_text import lacks_room, part_text
from recjury.logs import get_logger
from recjury.records import ChatRequest, Reply

logger = get_logger()

_MOST_LEARNED = 32_768  # tokens: a model that never ends must not make every reply as long
_AFTER_THOUGHTS_ALONE = 8
"""By how much more room is given after a reply that had thoughts alone, or nothing at all."""
_AFTER_SPEECH = 2
_SPARE = 2  # times what a whole reply has taken


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
        return request if least <= (limit or 0) else replace(request, least_tokens=least)

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
        return self._spec.token_limit(request if request.room == 1 else replace(request, room=1))

    def _raise(self, least: int) -> None:
        least = min(least, _MOST_LEARNED)
        if least > self.least:
            self.least = least
            logger.info("replies need more room", model=self._spec.name, least_tokens=least)
