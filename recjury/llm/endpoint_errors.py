"""What an answer that is no reply is about: this request, this minute, or the key and the model."""

import re

from recjury.errors import CallFailed, PromptTooLong, ProviderError
from recjury.llm.endpoint_spec import EndpointSpec
from recjury.llm.error_answer import ErrorAnswer
from recjury.llm.provider import Retryable
from recjury.llm.quota import read_quota
from recjury.llm.spec import ModelSpec
from recjury.llm.transport import excerpt_without_key, retry_after

_TOO_MANY_REQUESTS = 429
_TRIED_AGAIN = frozenset({408, 409, 425, _TOO_MANY_REQUESTS})
_BUSY = frozenset({503, 529})
_IS_BUSY = re.compile(
    "overload|capacity|busy|unavailable|try again|later|timed? ?out", re.IGNORECASE
)
_OF_ACCOUNT = frozenset({400, 401, 402, 403, 407, _TOO_MANY_REQUESTS})
_OF_REQUEST = frozenset({400, 403, 413, 422, 500})


def error_of(
    answer: ErrorAnswer, headers: dict[str, str], spec: EndpointSpec, key: str | None
) -> Retryable | ProviderError | CallFailed:
    """The exception for an answer that is no reply.

    CallFailed is about this request (`permanent` where its content or length is refused;
    PromptTooLong if it says that it is the length),
    Retryable about this minute, and ProviderError about the key, the model or the address.
    """
    shown = excerpt_without_key(answer.message, key)
    came = f"HTTP {answer.status}" + (f": {shown}" if shown else "")
    if answer.status in _OF_ACCOUNT and answer.about_account:
        return provider_error(spec, came, _account_advice(answer, spec))
    if _is_refused_content(answer):
        if answer.about_length and not answer.about_content:
            return PromptTooLong(f"{spec.name}: {came}")
        return CallFailed(f"{spec.name}: {came}", permanent=True)
    if answer.status in {401, 403, 407}:
        return provider_error(spec, came, _key_advice(spec))
    if answer.status == 402:
        return provider_error(spec, came, _account_advice(answer, spec))
    if answer.about_form:
        return CallFailed(f"{spec.name}: {came}")
    if answer.status in {404, 405} or (answer.status == 400 and answer.about_model):
        return provider_error(spec, came, "check base_url and the model's name")
    if 300 <= answer.status < 400:
        place = excerpt_without_key(headers.get("location", "elsewhere"), key)
        return provider_error(spec, f"{came} to {place}", "set base_url to where it leads")
    if answer.status in _TRIED_AGAIN or answer.status >= 500:
        limited = answer.status == _TOO_MANY_REQUESTS
        down = answer.status >= 500
        return Retryable(
            came,
            retry_after(headers),
            rate_limited=limited,
            unavailable=down,
            may_be_request=down and answer.status not in _BUSY and not _IS_BUSY.search(came),
            quota=read_quota(headers) if headers else None,
        )
    return CallFailed(f"{spec.name}: {came}")


def provider_error(spec: ModelSpec, came: str, advice: str) -> ProviderError:
    """One line that names the address, the model, what came and what to do."""
    return ProviderError(f"{spec.address}, model {spec.name}: {came}: {advice}")


def _is_refused_content(answer: ErrorAnswer) -> bool:
    if answer.status in {413, 414, 431, 451}:
        return True
    if answer.status not in _OF_REQUEST:
        return answer.status == _TOO_MANY_REQUESTS and "request too large" in answer.words
    if answer.status == 500:  # a server of a model may fail with it on a prompt that is too long
        return answer.about_length
    return answer.about_content or (answer.status != 403 and answer.about_length)


def _key_advice(spec: EndpointSpec) -> str:
    if spec.key_env is None:
        return "name the variable that holds the key in key_env"
    return f"check the key in {spec.key_env}"


def _account_advice(answer: ErrorAnswer, spec: EndpointSpec) -> str:
    if answer.status in {400, 401, 403} and "key" in answer.words:
        return _key_advice(spec)
    return "the account has no credit left; add some and run again"
