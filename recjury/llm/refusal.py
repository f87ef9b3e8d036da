"""What an HTTP answer other than 200 means: try again, give this call up, or stop."""

import orjson

from recjury.errors import CallFailed, ProviderError
from recjury.llm.retry import retry_after
from recjury.llm.spec import ModelSpec
from recjury.llm.transport import HttpResponse, Retryable

TOO_OFTEN = 429
_TRY_AGAIN = frozenset({408, 409, 425, TOO_OFTEN})
_EXCERPT = 200


def error_excerpt(text: str, key: str | None) -> str:
    """The beginning of `text`, on one line and without the key."""
    shown = text.replace(key, "[key]") if key else text  # before it is cut: no part of it stays
    return " ".join(shown.split())[:_EXCERPT]


def response_error(raw: HttpResponse, spec: ModelSpec, key: str | None) -> Exception:
    """The exception that the answer calls for: Retryable, ProviderError or CallFailed."""
    said, code = _error(raw.body)
    shown = error_excerpt(said, key)
    came = f"HTTP {raw.status}" + (f": {shown}" if shown else "")
    if raw.status in {401, 403}:
        return provider_error(spec, came, _about_the_key(spec))
    if raw.status == 402 or code == "insufficient_quota":
        return provider_error(spec, came, "the account has no credit left; add some and run again")
    if raw.status == 404 or code in {"model_not_found", "unknown_model"}:
        return provider_error(spec, came, "check base_url and the model's name")
    if 300 <= raw.status < 400:
        place = error_excerpt(raw.headers.get("location", "elsewhere"), key)
        return provider_error(spec, f"{came} to {place}", "set base_url to where it leads")
    if raw.status in _TRY_AGAIN or raw.status >= 500:
        return Retryable(came, retry_after(raw.headers), turned_away=raw.status == TOO_OFTEN)
    return CallFailed(f"{spec.name}: {came}")


def provider_error(spec: ModelSpec, came: str, advice: str) -> ProviderError:
    """One line that names the address, the model, what came and what to do."""
    return ProviderError(f"{spec.base_url}, model {spec.name}: {came}: {advice}")


def _about_the_key(spec: ModelSpec) -> str:
    if spec.key_env is None:
        return "name the variable that holds the key in key_env"
    return f"check the key in {spec.key_env}"


def _error(body: bytes) -> tuple[str, str]:
    """The endpoint's own words and its code, where it gave any."""
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError:
        return body.decode("utf-8", "replace"), ""
    error = parsed.get("error", parsed) if isinstance(parsed, dict) else parsed
    if not isinstance(error, dict):
        return str(error), ""
    said = error.get("message") or error.get("detail") or ""
    return str(said), str(error.get("code") or "")
