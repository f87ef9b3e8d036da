"""What an answer that is no reply is about, and the error that it is: as `policy` says."""

import re

from recjury.errors import CallFailed, PromptTooLong, ProviderError
from recjury.llm.endpoint_spec import EndpointSpec
from recjury.llm.error_answer import ErrorAnswer
from recjury.llm.policy import POLICY, AtLast, Kind
from recjury.llm.provider import Retryable
from recjury.llm.quota import read_quota
from recjury.llm.spec import ModelSpec
from recjury.llm.transport import excerpt, retry_after

_BUSY = frozenset({503, 529})
_IS_BUSY = re.compile(
    "overload|capacity|busy|unavailable|try again|later|timed? ?out", re.IGNORECASE
)
_OF_ACCOUNT = frozenset({400, 401, 402, 403, 407, 429})
_OF_REQUEST = frozenset({400, 403, 413, 422})
_KINDS = {
    **dict.fromkeys((401, 403, 407), Kind.KEY),
    402: Kind.CREDIT,
    **dict.fromkeys((404, 405), Kind.MODEL),
    **dict.fromkeys((408, 409, 425), Kind.LATER),
    **dict.fromkeys((413, 414, 431, 451), Kind.REQUEST),
    429: Kind.RATE_LIMIT,
}


def kind_of(answer: ErrorAnswer) -> Kind:
    """The kind of an answer that is no reply; a form that is refused, if nothing else is known."""
    status = answer.status
    if status in _OF_ACCOUNT and answer.about_account:
        is_key = status in {400, 401, 403} and "key" in answer.words
        return Kind.KEY if is_key else Kind.CREDIT
    if _is_of_request(answer) and answer.about_content:
        return Kind.CONTENT
    if answer.about_length and (status == 500 or (_is_of_request(answer) and status != 403)):
        return Kind.TOO_LONG
    if answer.about_form:
        return Kind.FORM
    if status == 400 and answer.about_model:
        return Kind.MODEL
    if 300 <= status < 400:
        return Kind.REDIRECT
    if status >= 500:
        is_busy = status in _BUSY or _IS_BUSY.search(answer.message)
        return Kind.BUSY if is_busy else Kind.SERVER_ERROR
    return _KINDS.get(status, Kind.FORM)


def error_of(
    answer: ErrorAnswer, headers: dict[str, str], spec: EndpointSpec
) -> Retryable | ProviderError | CallFailed:
    """The error of an answer that is no reply.

    CallFailed is about this request (`permanent` where it is refused for good; PromptTooLong if it
    says that it is the length), Retryable about this minute, and ProviderError about the key, the
    model or the address.
    """
    kind = kind_of(answer)
    shown = excerpt(answer.message)
    came = f"HTTP {answer.status}" + (f": {shown}" if shown else "")
    if kind is Kind.REDIRECT:
        came += f" to {excerpt(headers.get('location', 'elsewhere'))}"
    if POLICY[kind].at_last is AtLast.STOPS:
        return provider_error(spec, came, _advice(kind, spec))
    if kind is Kind.TOO_LONG:
        return PromptTooLong(f"{spec.name}: {came}")
    if kind in {Kind.CONTENT, Kind.REQUEST, Kind.FORM}:
        return CallFailed(f"{spec.name}: {came}", permanent=kind is not Kind.FORM)
    quota = read_quota(headers) if headers else None
    return Retryable(came, kind, retry_after=retry_after(headers), quota=quota)


def provider_error(spec: ModelSpec, came: str, advice: str) -> ProviderError:
    """One line that names the address, the model, what came and what to do."""
    return ProviderError(f"{spec.address}, model {spec.name}: {came}: {advice}")


def _is_of_request(answer: ErrorAnswer) -> bool:
    """Whether the status is one of those that are about the request itself."""
    if answer.status == 429:  # larger than a minute allows
        return "request too large" in answer.words
    return answer.status in _OF_REQUEST or _KINDS.get(answer.status) is Kind.REQUEST


def _advice(kind: Kind, spec: EndpointSpec) -> str:
    match kind:
        case Kind.CREDIT:
            return "the account has no credit left; add some and run again"
        case Kind.KEY if spec.key_env is None:
            return "name the variable that holds the key in key_env"
        case Kind.KEY:
            return f"check the key in {spec.key_env}"
        case Kind.REDIRECT:
            return "set base_url to where it leads"
        case _:
            return "check base_url and the model's name"
