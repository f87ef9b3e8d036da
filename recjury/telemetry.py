"""OpenTelemetry: a span for every model call that is sent, an event for every rating.

Names are those of the GenAI semantic conventions (repository semantic-conventions-genai, 2026;
status "development"); what they have no name for begins with "recjury.". Prompts and replies are
not part of a span: the store has them. Nothing happens, and nothing is imported, unless a program
has imported OpenTelemetry's SDK and set a provider.
"""

import contextlib
import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from recjury.logs import get_logger
from recjury.records import ChatRequest, Rating, Reply, Status, metric_id
from recjury.safe_text import without_secrets

if TYPE_CHECKING:
    from opentelemetry.trace import Span, SpanKind, Tracer

logger = get_logger()

Value = str | int | float | bool | list[str]

_SCOPE = "recjury"
_EVENT = "gen_ai.evaluation.result"
_LONGEST = 4_000  # characters of an explanation
_WITHOUT_ERROR = frozenset({Status.SCORED, Status.NOT_APPLICABLE, Status.NOT_MEASURED})
_PROVIDERS = {
    "api.anthropic.com": "anthropic",
    "api.cohere.com": "cohere",
    "api.deepseek.com": "deepseek",
    "api.groq.com": "groq",
    "api.mistral.ai": "mistral_ai",
    "api.moonshot.ai": "moonshot_ai",
    "api.openai.com": "openai",
    "api.perplexity.ai": "perplexity",
    "api.x.ai": "x_ai",
    "generativelanguage.googleapis.com": "gcp.gemini",
}


class CalledModel(Protocol):
    """What spans say of a model: `llm.ModelSpec` has it."""

    @property
    def provider(self) -> str:
        """The kind of provider, as in a campaign file."""

    @property
    def name(self) -> str:
        """The name that the endpoint knows."""

    @property
    def address(self) -> str:
        """Where the model is: a URL, for an endpoint."""

    @property
    def embedding(self) -> bool:
        """Whether it makes embeddings."""

    @property
    def temperature(self) -> float | None:
        """The temperature of all its requests, if it is set."""

    def token_limit(self, request: ChatRequest) -> int | None:
        """The most tokens of a reply."""


@contextlib.contextmanager
def call_span(
    request: ChatRequest, model: CalledModel, unit: str | None
) -> Iterator[Callable[[Reply], None]]:
    """A span around a call that is sent, with its waits and attempts; pass its reply on."""
    tracer = _tracer()
    if tracer is None:
        yield _ignore
        return
    from opentelemetry.trace import SpanKind, StatusCode

    operation = "embeddings" if model.embedding else "chat"
    attributes = _asked(request, model, unit, operation)
    with _span(tracer, f"{operation} {model.name}", SpanKind.CLIENT, attributes) as span:

        def failed(error: BaseException) -> None:
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(StatusCode.ERROR, without_secrets(str(error)))

        try:
            yield lambda reply: _guarded(lambda: span.set_attributes(_answered(reply)))
        except BaseException as error:
            raised = error
            _guarded(lambda: failed(raised))
            raise


@contextlib.contextmanager
def work_span(name: str, about: Mapping[str, Value]) -> Iterator[None]:
    """A span around a conversation or a stage of an evaluation; `about` are its attributes."""
    tracer = _tracer()
    if tracer is None:
        yield
        return
    from opentelemetry.trace import SpanKind

    attributes = {_own(key): value for key, value in about.items()}
    with _span(tracer, name, SpanKind.INTERNAL, attributes):
        yield


def rating_events(evaluator: str, ratings: Iterable[Rating], about: Mapping[str, Value]) -> None:
    """Emit an event for each rating of an evaluator; `about` are further attributes."""
    if _tracer() is None and not _has_logs():
        return
    shared = {_own(key): value for key, value in about.items()}
    for rating in ratings:
        attributes = {**_rated(evaluator, rating), **shared}
        _guarded(functools.partial(_emit, attributes))


@contextlib.contextmanager
def _span(
    tracer: "Tracer", name: str, kind: "SpanKind", attributes: Mapping[str, Value]
) -> "Iterator[Span]":
    """A span that is the current one of the block; what it raises itself is no failure of ours."""
    from opentelemetry import trace

    span: Span = trace.INVALID_SPAN
    try:
        span = tracer.start_span(name, kind=kind, attributes=attributes)
    except Exception as error:
        _log(error)
    try:
        with trace.use_span(span, record_exception=False, set_status_on_exception=False):
            yield span
    finally:
        _guarded(span.end)


def _guarded(work: Callable[[], object]) -> None:
    """Do what must not fail the run: exporters and processors are a program's own."""
    try:
        work()
    except Exception as error:
        _log(error)


def _log(error: Exception) -> None:
    logger.warning("telemetry failed", error=type(error).__name__, said=without_secrets(str(error)))


def _ignore(reply: Reply) -> None:
    """Without a tracer, replies are not looked at."""


def _tracer() -> "Tracer | None":
    """A tracer of the provider that a program has set; None if it has set none."""
    if "opentelemetry.sdk.trace" not in sys.modules:
        return None
    from opentelemetry import trace

    provider = trace.get_tracer_provider()
    return None if isinstance(provider, trace.ProxyTracerProvider) else provider.get_tracer(_SCOPE)


def _has_logs() -> bool:
    return "opentelemetry.sdk._logs" in sys.modules


def _emit(attributes: Mapping[str, Value]) -> None:
    """Emit the event as a log record or, if only spans are exported, as an event of the span."""
    if _has_logs():
        from opentelemetry._logs import SeverityNumber, get_logger

        get_logger(_SCOPE).emit(
            event_name=_EVENT, severity_number=SeverityNumber.INFO, attributes=attributes
        )
        return
    from opentelemetry import trace

    trace.get_current_span().add_event(_EVENT, attributes)


def _asked(
    request: ChatRequest, model: CalledModel, unit: str | None, operation: str
) -> dict[str, Value]:
    address = urlsplit(model.address)
    fixed = model.temperature
    host = address.hostname if address.scheme in ("http", "https") else None
    found: dict[str, Value | None] = {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": _provider(model.provider, host),
        "gen_ai.request.model": model.name,
        "gen_ai.request.temperature": request.temperature if fixed is None else fixed,
        "gen_ai.request.max_tokens": model.token_limit(request),
        "gen_ai.request.choice.count": request.n if request.n != 1 else None,
        "gen_ai.output.type": None if request.schema is None else "json",
        "server.address": host,
        "server.port": None if host is None else address.port or _port(address.scheme),
        "recjury.model": request.model,
        "recjury.purpose": request.purpose,
        "recjury.unit": unit,
        "recjury.attempt": request.attempt,
    }
    return {name: value for name, value in found.items() if value is not None}


def _answered(reply: Reply) -> dict[str, Value]:
    usage = reply.usage
    found: dict[str, Value | None] = {
        "gen_ai.response.model": reply.model,
        "gen_ai.response.finish_reasons": [each.finish_reason for each in reply.each()],
        "gen_ai.usage.input_tokens": usage.prompt_tokens,
        "gen_ai.usage.output_tokens": usage.completion_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
        "recjury.call": reply.call,
        "recjury.cost": usage.cost,
        "recjury.usage_estimated": usage.estimated or None,
        "recjury.attempts": reply.attempts,
        "recjury.latency": reply.latency,
        "recjury.waited": reply.waited,
    }
    return {name: value for name, value in found.items() if value is not None}


def _rated(evaluator: str, rating: Rating) -> dict[str, Value]:
    text = without_secrets(rating.rationale or rating.reason)[:_LONGEST]
    failed = rating.score is None and rating.status not in _WITHOUT_ERROR
    found: dict[str, Value | None] = {
        "gen_ai.evaluation.name": f"{evaluator}.{metric_id(rating.factor)}",
        "gen_ai.evaluation.score.value": None if rating.score is None else float(rating.score),
        "gen_ai.evaluation.explanation": text or None,
        "error.type": rating.status.value if failed else None,
        "recjury.rater": rating.evaluator,
        "recjury.status": rating.status.value,
        "recjury.low": float(rating.low),
        "recjury.high": None if rating.high is None else float(rating.high),
        "recjury.turn": rating.turn,
    }
    return {name: value for name, value in found.items() if value is not None}


def _provider(kind: str, host: str | None) -> str:
    """The conventions' name of a provider; for other hosts, the kind in the campaign file."""
    if host is not None and host.endswith(".openai.azure.com"):
        return "azure.ai.openai"
    return _PROVIDERS.get(host or "", kind)


def _port(scheme: str) -> int:
    return 443 if scheme == "https" else 80


def _own(name: str) -> str:
    """The conventions' names as they are, others as our own."""
    return name if name.startswith("gen_ai.") else f"recjury.{name}"
