"""How many requests may be open at one endpoint: learned from what it answers and what it refuses.

The number grows while all of it is used and nothing is refused, and shrinks once for each episode
of refusals (HTTP 429): replies to requests that were sent before it shrank do not shrink it again.

As in TCP, refusals make the number shrink by a share of itself (Jacobson, 1988), and as in CUBIC
(RFC 9438) it returns quickly to where they began, waits there, and then tries more with growing
steps. The share is that of the episode's requests which were refused: an endpoint that allows 40 at
once and is sent 41 loses one, and one that allows only 10 from now on loses 30.
"""

from dataclasses import dataclass
from typing import NamedTuple

START = 64
"""How many requests may be open at first."""

_LEFT = 0.25  # the smallest share of the limit that an episode of refusals leaves
_LEFT_IF_UNSETTLED = 0.6  # and the smallest of the largest, if it follows soon after another one
_HOLD = 100  # answers between two tries beyond a known limit: 1 % of the requests are refused
_FIRST_STEP = 0.25  # the first step beyond a former limit, as a share of the limit
_GROWTH = 0.5  # the largest step, once something was refused


class SentRequest(NamedTuple):
    """A request at an endpoint: its number there, and how many were open with it."""

    number: int
    open: int


@dataclass(slots=True)
class _Episode:
    """Refusals of requests that were all sent before the first of them.

    `size` requests were open then, `refused` is how many of them were refused so far. `before` was
    the limit, `most` is what may be left of it at most.
    """

    before: int
    most: float
    size: int
    refused: int = 1
    spares_others: bool = False


class AdaptiveConcurrency:
    """The largest number of open requests at one endpoint.

    `limit` is from 1 to `most`, or always `most` if it `is_fixed`. `refusals` counts the requests
    that the endpoint refused, `episodes` how often that made the limit shrink.
    """

    __slots__ = (
        "_accepted",
        "_clean",
        "_episode",
        "_fastest",
        "_gain",
        "_held",
        "_hold",
        "_is_trying",
        "_is_unanswered",
        "_known",
        "_limit",
        "_number",
        "_round_end",
        "_shrunk_at",
        "_step",
        "_top",
        "episodes",
        "is_fixed",
        "limit",
        "most",
        "open",
        "refusals",
    )

    def __init__(self, most: int, *, start: int = START, is_fixed: bool = False):
        """`most` is at least 1; the limit begins at `start`, if that is not more."""
        self.most, self.is_fixed = most, is_fixed
        self.limit = most if is_fixed else min(start, most)
        self.open = self.episodes = self.refusals = 0
        self._limit = float(self.limit)  # with fractions, which growth adds up
        self._number = 0  # of the request sent last
        self._shrunk_at = 0  # the last request sent before the limit shrank
        self._clean = 0  # answers since then, to requests sent since then
        self._accepted = 0  # the most that were open when a request was sent that was accepted
        self._top = most  # the highest limit that is not known to be refused
        self._known = 0  # how many were open when a request was last refused
        self._held = self._hold = 0  # answers at the top, and how many it takes to try more
        self._is_unanswered = True  # whether no request has ended yet
        self._is_trying = False  # whether no request has been answered at the limit yet
        self._step = self._limit  # by how much a round raises the limit
        self._fastest = 1.0  # the largest step of a round, as a share of the limit
        self._gain = 1.0  # by how much one answer does
        self._round_end = 0  # the last request sent before the round began
        self._episode = _Episode(self.limit, self.limit, 1)

    def change_most(self, most: int) -> None:
        """Set another upper end; if the limit is fixed, another limit."""
        is_open = self._top >= self.most
        self.most = most
        self._top = most if is_open else min(self._top, most)
        self._set(self._limit)

    def sent(self) -> SentRequest:
        """Note that a request is sent. One of the next three methods has to follow."""
        self.open += 1
        self._number += 1
        return SentRequest(self._number, self.open)

    @property
    def is_unanswered(self) -> bool:
        """Whether no request has ended yet, and more could be open."""
        return self._is_unanswered and self.limit < self.most

    def raise_unanswered(self) -> None:
        """Double the limit: an endpoint that limits requests refuses the first ones at once."""
        self._set(2.0 * self._limit)
        self._begin_round(self._limit)

    def answered(self, sent: SentRequest, *, is_saturated: bool) -> None:
        """Note an answer that is no refusal; `is_saturated` tells that all of the limit is used."""
        self.open -= 1
        self._is_unanswered = False
        if sent.number <= self._shrunk_at:
            return
        self._clean += 1
        self._accepted = max(self._accepted, sent.open)
        if not is_saturated or self.limit >= self.most:
            return
        if self.limit >= self._top:
            self._held += 1
            if self._held > self._hold:
                self._try_more()
            return
        if self._is_trying:
            if sent.open < self.limit:
                return
            self._is_trying = False
            self._begin_round(max(2.0, self._limit * _FIRST_STEP))
        elif sent.number > self._round_end:
            gap = (self._top - self._limit) / 2
            more = min(2 * self._step, self._limit * self._fastest)
            self._begin_round(more if self._top >= self.most else max(1.0, gap))
        self._set(min(self._limit + self._gain, self._top))

    def failed(self) -> None:
        """Note an answer that says nothing about the limit (a server error, a time-out)."""
        self.open -= 1
        self._is_unanswered = False

    def refused(self, sent: SentRequest) -> bool:
        """Note a refusal; whether it was only about how many requests were open.

        Then the lower limit is the answer to it, and the other calls need no pause.
        """
        self.refusals += 1
        self._is_unanswered = False
        if sent.number > self._shrunk_at:
            self._begin_episode(sent)
        else:
            self._episode.refused += 1
            self._shrink()
        self.open -= 1
        return self._episode.spares_others

    def _begin_episode(self, sent: SentRequest) -> None:
        """Shrink at the first refusal of a request that was sent since the limit last shrank.

        The new top is one below what was refused, if fewer have been accepted since. If that is
        where the last episode began, too, it is the endpoint's limit, and is seldom tried again.
        """
        before, clean = self.limit, self._clean
        is_settled = clean >= before
        most = before if is_settled else before * max(_LEFT_IF_UNSETTLED, clean / (clean + 1))
        self._episode = _Episode(before, most, self.open)
        self.episodes += 1
        is_higher = sent.open > self._accepted
        is_confirmed = is_settled and is_higher and sent.open - self._known in (0, 1)
        self._known = sent.open if is_higher else 0
        self._shrink()
        self._episode.spares_others = clean > 0 and self.limit < before
        self._top = max(self.limit, sent.open - 1 if is_higher else 0)
        self._hold = _HOLD if is_confirmed else 2 * self.limit
        self._shrunk_at, self._clean, self._held, self._accepted = self._number, 0, 0, 0
        self._is_trying = False
        self._fastest = _GROWTH
        self._begin_round(max(1.0, (self._top - self._limit) / 2))

    def _shrink(self) -> None:
        """Leave the share of the limit that the episode's requests were accepted with."""
        episode = self._episode
        share = max(_LEFT, 1 - episode.refused / episode.size)
        after = int(min(episode.most, episode.before * share))
        if after < self.limit:
            self._set(after)
            self._top = self.limit

    def _try_more(self) -> None:
        """Let one more request be open than is known to be accepted."""
        self._held = 0
        self._top = self.most
        self._is_trying = True
        self._set(self.limit + 1.0)

    def _begin_round(self, step: float) -> None:
        self._step = step
        self._gain = step / max(1, self.limit)
        self._round_end = self._number

    def _set(self, limit: float) -> None:
        self._limit = float(self.most) if self.is_fixed else max(1.0, min(limit, self.most))
        self.limit = int(self._limit)
