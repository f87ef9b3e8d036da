"""How far a model repeats itself at temperature 0: its noise floor.

No server repeats exactly: what else is computed at the same time, and what comes from a cache,
changes the order of sums, and so the last digits of scores. Where two tokens are nearly as likely,
the reply goes on differently. A difference between judges that is smaller than this is none.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import takewhile

from recjury.llm.gateway import Gateway
from recjury.llm.scripted import NullRecorder
from recjury.llm.spec import ModelSpec
from recjury.llm.vllm.spec import VllmSpec
from recjury.records import JSON, ChatRequest, Message, Record, Reply

KIND = "noise floor"
"""The kind of these measurements in the store."""

OTHERS = 44
"""The requests that are sent at the same time, if there are others."""

_TOKENS, _OF_OTHERS = 64, 16
_WARM = "main"
_SYSTEM = Message("system", ("You judge conversational recommender systems.",))
_TURN = (
    "User: I would like something slow and quiet, about a family, not too old. "
    "System: Then try Tokyo Story (1953), or Still Walking (2008), which is newer. "
    "User: The second one sounds right; is it sad? "
    "System: A little, and warm. Its people cook a lot. "
)
_QUESTION = "\nSay in a few sentences how well the system understood the user."


class Repeats(Record):
    """What came of equal requests, sent in one way.

    `cold` means that nothing of the prompt came from the server's prefix cache, `others` how many
    other requests were sent at the same time. `distinct` counts different texts, `same` is the
    share of the most frequent one, `as_first` the share of those equal to the first reply of the
    first way. `parting` is the number of characters that all have in common if they differ.
    `spread` is the largest difference between log-probabilities of a token that all, and that first
    reply, have at the same place, after the same tokens; None if the endpoint sends none. `cached`
    is the share of prompt tokens that came from a cache.
    """

    cold: bool
    others: int
    replies: int
    distinct: int
    same: float
    as_first: float
    parting: int | None
    spread: float | None
    cached: float
    seconds: float


async def measure_noise(
    spec: ModelSpec, repeats: int, *, others: int = OTHERS, watch: Callable[[str], object] = str
) -> tuple[Repeats, ...]:
    """Send a request `repeats` times alone and among `others`, each warm and, on vLLM, cold.

    `watch` is told what is measured now. Raises UserError if the model cannot be used.
    """
    spec = spec.model_copy(update={"concurrency": others + 1})
    models = {_WARM: spec}
    if isinstance(spec, VllmSpec):
        # A salt of its own keeps a request from everything that is in the cache.
        for number in range(2 * repeats):
            salted = {**spec.extra, "cache_salt": f"noise-{time.time_ns()}-{number}"}
            models[f"cold{number}"] = spec.model_copy(update={"extra": salted})
    found: list[Repeats] = []
    first: Reply | None = None
    async with Gateway(models, NullRecorder(), concurrency=others + 1) as gateway:
        await gateway.complete(_request(_WARM, -1))
        for beside in (0, others):
            for cold in (True, False) if len(models) > 1 else (False,):
                watch(f"{'cold' if cold else 'warm'}, {_beside(beside)}")
                aliases = [
                    f"cold{number + (repeats if beside else 0)}" if cold else _WARM
                    for number in range(repeats)
                ]
                begun = time.monotonic()
                replies = await _replies(gateway, aliases, beside)
                first = first or replies[0]
                about = (cold, beside, time.monotonic() - begun)
                found.append(_compared(first, replies, *about))
    return tuple(found)


async def _replies(gateway: Gateway, aliases: Sequence[str], others: int) -> list[Reply]:
    replies = []
    for number, alias in enumerate(aliases):
        beside = [_other(each, number) for each in range(others)]
        asked = _request(alias, number + 1000 * others)
        reply, *_ = await asyncio.gather(*map(gateway.complete, (asked, *beside)))
        replies.append(reply)
    return replies


def _compared(
    first: Reply, replies: Sequence[Reply], cold: bool, others: int, seconds: float
) -> Repeats:
    texts = Counter(reply.text for reply in replies)
    prompts = sum(reply.usage.prompt_tokens for reply in replies)
    cached = sum(reply.usage.cached_tokens for reply in replies)
    return Repeats(
        cold=cold,
        others=others,
        replies=len(replies),
        distinct=len(texts),
        same=texts.most_common(1)[0][1] / len(replies),
        as_first=texts[first.text] / len(replies),
        parting=_in_common([*texts]) if len(texts) > 1 else None,
        spread=_spread([first, *replies]),
        cached=cached / prompts if prompts else 0.0,
        seconds=seconds,
    )


def _in_common(texts: Sequence[str]) -> int:
    """The number of characters that all texts begin with."""
    return sum(1 for _ in takewhile(lambda signs: len({*signs}) == 1, zip(*texts, strict=False)))


def _spread(replies: Sequence[Reply]) -> float | None:
    """The largest difference between log-probabilities of the tokens that all begin with."""
    found = None
    for tokens in zip(*(reply.logprobs for reply in replies), strict=False):
        if len({token for token, _, _ in tokens}) > 1:
            break
        values = [value for _, value, _ in tokens]
        found = max(found or 0.0, max(values) - min(values))
    return found


def _request(alias: str, sample: int) -> ChatRequest:
    prompt = Message("user", (_TURN * 20, _QUESTION))
    return ChatRequest(
        alias, (_SYSTEM, prompt), KIND, max_tokens=_TOKENS, top_logprobs=1, sample=sample
    )


def _other(number: int, sample: int) -> ChatRequest:
    prompt = Message("user", (f"Conversation {number}. ", _TURN * (1 + number % 20), _QUESTION))
    return ChatRequest(_WARM, (_SYSTEM, prompt), KIND, max_tokens=_OF_OTHERS, sample=sample)


def _beside(others: int) -> str:
    return f"among {others} others" if others else "alone"


def described(repeats: Repeats) -> list[str]:
    """A row of the table: how it was sent, and what came."""
    return [
        "cold" if repeats.cold else "warm",
        _beside(repeats.others),
        str(repeats.replies),
        str(repeats.distinct),
        f"{repeats.same:.2f}",
        f"{repeats.as_first:.2f}",
        "" if repeats.parting is None else str(repeats.parting),
        "not sent" if repeats.spread is None else f"{repeats.spread:.1e}",
        f"{repeats.cached:.2f}",
    ]


HEADER = (
    "prompt",
    "sent",
    "replies",
    "different texts",
    "share of the most frequent",
    "equal to the first",
    "equal characters",
    "spread of log-probabilities",
    "share of cached tokens",
)
"""What the cells of `described` are."""


def as_json(repeats: Sequence[Repeats]) -> list[JSON]:
    """The rows, to store."""
    return [each.model_dump(mode="json") for each in repeats]
