"""Why an endpoint refused a whole batch, and what that means for its calls."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from recjury.errors import CallFailed, ProviderError
from recjury.llm.batch.api import BatchState, LineError
from recjury.llm.batch.open_batch import Failure
from recjury.llm.endpoint_errors import error_of
from recjury.llm.endpoint_spec import EndpointSpec
from recjury.llm.error_answer import ErrorAnswer
from recjury.llm.provider import Retryable

_FULL_QUEUE = re.compile(r"enqueued|token_limit_exceeded|queue[_ ](limit|full)|too many batches")
_TOO_LARGE = re.compile(
    r"too (many (requests|lines|tasks)|large|big)|(maximum|max|exceed\w*) .{0,60}"
    r"(size|requests|lines|tasks|bytes)|request_count_limit|file_size"
)


class Refusal(StrEnum):
    """What a refusal is about."""

    LINES = "some of its requests"
    FULL_QUEUE = "too many tokens wait at the endpoint"
    TOO_LARGE = "its file is too large"
    OTHER = "something else"


@dataclass(frozen=True)
class BatchRefusal:
    """What is wrong with a batch: with some `calls`, each for its reason, or with all."""

    kind: Refusal
    reason: str
    failure: Failure
    calls: dict[str, Failure] = field(default_factory=dict)


def refusal_of(state: BatchState, identities: Sequence[str], spec: EndpointSpec) -> BatchRefusal:
    """Why the batch `state` was refused; `identities` are its calls in the order of its lines."""
    words = " ".join(f"{each.code} {each.message}" for each in state.errors).lower()
    reason = "; ".join(dict.fromkeys(map(_shown, state.errors))) or "no reason is given"
    failure = _failure(state, spec, words[:4000], reason[:300])
    if isinstance(failure(), ProviderError):
        return BatchRefusal(Refusal.OTHER, reason, failure)
    calls = {
        identities[each.line - 1]: _permanent(spec, each)
        for each in state.errors
        if each.line is not None and each.line <= len(identities)
    }
    if calls:
        return BatchRefusal(Refusal.LINES, reason, failure, calls)
    kinds = {Refusal.FULL_QUEUE: _FULL_QUEUE, Refusal.TOO_LARGE: _TOO_LARGE}
    found = (kind for kind, pattern in kinds.items() if pattern.search(words))
    return BatchRefusal(next(found, Refusal.OTHER), reason, failure)


def _failure(state: BatchState, spec: EndpointSpec, words: str, reason: str) -> Failure:
    answer = ErrorAnswer(400, reason, words=words)
    if answer.about_account or answer.about_model:
        error = error_of(answer, {}, spec, None)
        if isinstance(error, ProviderError):
            return lambda: ProviderError(str(error))
    return lambda: Retryable(f"batch {state.id} was refused: {reason}")


def _permanent(spec: EndpointSpec, error: LineError) -> Failure:
    reason = f"{spec.name}: refused in a batch: {_shown(error)}"
    return lambda: CallFailed(reason, permanent=True)


def _shown(error: LineError) -> str:
    return ": ".join(filter(None, (error.code, " ".join(error.message.split())[:200])))
