"""What is done with each kind of answer to a model call: one table, which all of `llm` follows.

`docs/endpoints.md` shows it. A request may be sent again in five ways, none inside another:

- in another form (`adaptation`), because the endpoint refuses a part of it: this costs nothing;
- as it was, at once (`openai_provider`), to see whether a refusal is meant;
- as it was, after a wait (`call`): at most `retries` times, or for `patience` seconds;
- when the endpoint answers again (`retry`), for at most `outage_patience` seconds;
- with a note on what was wrong (`reply_reading`), because the reply cannot be used: another call.
"""

from enum import StrEnum
from typing import NamedTuple

ATTEMPTS = 3
"""The default of the largest number of requests for one reply in a run, the first included."""
SAME_FAILURES = 3
"""A call that has failed so often, each time with the same server error, breaks its server."""
FAILURES_IN_A_ROW = 5
"""After so many attempts in a row without an answer, by any calls, an endpoint may be down."""
REFUSED_SECONDS = 30.0
"""An endpoint that has replied before is believed once it has refused all requests for so long:
gateways that restart refuse keys, models and addresses for a while."""
FORMS = 12
"""The most forms in which one request is sent."""
CHECKS, CHECK_SECONDS, REFUSED_CHECKS = 5, 60.0, 3
"""Before a campaign: tries of a model with a fault that may pass, the seconds in which they begin,
and tries of one that refuses the key, the model or the address."""


class Again(StrEnum):
    """How a request is sent again."""

    NOT = "not"
    AFTER_A_WAIT = "after a wait"
    WHEN_ALLOWED = "after the wait that is asked for"
    AS_IT_WAS = "at once, as it was"
    IN_ANOTHER_FORM = "at once, in another form"
    AFTER_A_CHECK = "if a small request is answered"
    WITH_A_NOTE = "with what was wrong"


class AtLast(StrEnum):
    """What happens if that does not help."""

    IS_THE_REPLY = "the reply is used"
    UNREADABLE = "the rating has no score"
    LEFT_TO_DO = "the call fails; the next run tries it"
    FOR_GOOD = "the call fails for good"
    STOPS = "the campaign stops with one line"


class Kind(StrEnum):
    """A kind of answer."""

    REPLY = "a reply"
    UNUSABLE = "a reply that cannot be used"
    NOT_A_REPLY = "no completion"
    RATE_LIMIT = "rate limit"
    LATER = "try later"
    BUSY = "busy server"
    SERVER_ERROR = "server error"
    LOST = "no answer"
    NO_CONNECTION = "no connection"
    FORM = "refused form"
    REQUEST = "refused request"
    CONTENT = "refused content"
    TOO_LONG = "too long"
    KEY = "refused key"
    CREDIT = "no credit"
    MODEL = "no such model or address"
    REDIRECT = "redirect"


class Rule(NamedTuple):
    """What is done with one kind of answer.

    `seen_as` says how it is recognized. `most` is how often it is sent again: a number, or the
    setting that limits it. With `may_be_outage`, all calls to the endpoint wait if it goes on.
    """

    seen_as: str
    again: Again
    most: int | str
    at_last: AtLast
    may_be_outage: bool = False


POLICY: dict[Kind, Rule] = {
    Kind.REPLY: Rule(
        "a completion, also an empty one or one that was cut off",
        Again.NOT,
        0,
        AtLast.IS_THE_REPLY,
    ),
    Kind.UNUSABLE: Rule(
        "no rating in it, outside the scale, cut off before it (then with twice the tokens)",
        Again.WITH_A_NOTE,
        "attempts",
        AtLast.UNREADABLE,
    ),
    Kind.NOT_A_REPLY: Rule(
        "HTML, cut JSON, wrong types, more than 16 MiB",
        Again.AFTER_A_WAIT,
        "retries",
        AtLast.LEFT_TO_DO,
    ),
    Kind.RATE_LIMIT: Rule(
        "429, with and without Retry-After",
        Again.WHEN_ALLOWED,
        "patience",
        AtLast.LEFT_TO_DO,
    ),
    Kind.LATER: Rule("408, 409, 425", Again.AFTER_A_WAIT, "retries", AtLast.LEFT_TO_DO),
    Kind.BUSY: Rule(
        "503, 529, or another 5xx about load, capacity or time",
        Again.AFTER_A_WAIT,
        "retries",
        AtLast.LEFT_TO_DO,
        may_be_outage=True,
    ),
    Kind.SERVER_ERROR: Rule(
        "another 5xx; the same three times while other calls are answered: for good",
        Again.AFTER_A_WAIT,
        "retries",
        AtLast.LEFT_TO_DO,
        may_be_outage=True,
    ),
    Kind.LOST: Rule(
        "a broken connection, or nothing within `timeout`",
        Again.AFTER_A_WAIT,
        "retries",
        AtLast.LEFT_TO_DO,
        may_be_outage=True,
    ),
    Kind.NO_CONNECTION: Rule(
        "no connection can be made",
        Again.AFTER_A_WAIT,
        "outage_patience",
        AtLast.LEFT_TO_DO,
        may_be_outage=True,
    ),
    Kind.FORM: Rule(
        "400, 422, 500 or 404 in a form that was never answered; a part may be named",
        Again.IN_ANOTHER_FORM,
        FORMS - 1,
        AtLast.LEFT_TO_DO,
    ),
    Kind.REQUEST: Rule(
        "413, 414, 431, 451; 400, 422 without a known reason in a form that was answered before",
        Again.AS_IT_WAS,
        2,
        AtLast.FOR_GOOD,
    ),
    Kind.CONTENT: Rule(
        "a content filter, moderation (also as 403)",
        Again.AS_IT_WAS,
        1,
        AtLast.FOR_GOOD,
    ),
    Kind.TOO_LONG: Rule("a prompt that is too long for the model", Again.NOT, 0, AtLast.FOR_GOOD),
    Kind.KEY: Rule(
        "401, 403, 407, an invalid key in a 400 or 429", Again.AFTER_A_CHECK, 1, AtLast.STOPS
    ),
    Kind.CREDIT: Rule(
        "402, an insufficient quota or balance in a 400, 403 or 429",
        Again.AFTER_A_CHECK,
        1,
        AtLast.STOPS,
    ),
    Kind.MODEL: Rule("404, 405, an unknown model", Again.AFTER_A_CHECK, 1, AtLast.STOPS),
    Kind.REDIRECT: Rule("3xx: not followed", Again.AFTER_A_CHECK, 1, AtLast.STOPS),
}
