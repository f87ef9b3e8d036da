"""Events as spans of OpenTelemetry, in the names of its GenAI conventions (1.41, in development).

The commands send spans where OTEL_EXPORTER_OTLP_ENDPOINT says; `recjury.evaluate` gives them to the
provider that a program has set. Prompts and replies are in no span: the store has them.
"""

import os
import sys
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from structlog.typing import EventDict

from recjury.keys import hidden

_CONVENTIONS = {
    "name": "gen_ai.request.model",
    "served": "gen_ai.response.model",
    "tokens_in": "gen_ai.usage.input_tokens",
    "tokens_out": "gen_ai.usage.output_tokens",
    "reason": "error.message",
}
_OPERATIONS: Mapping[str, Mapping[str, str]] = {"call": {"gen_ai.operation.name": "chat"}}
_spans: ContextVar[tuple[tuple[str, Any, Any], ...]] = ContextVar("spans", default=())
"""The spans that the task has begun: of what, and what ends its being the current one."""


def send_spans() -> None:
    """Send spans from now on, to where OpenTelemetry's variables say."""
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        sys.stderr.write("recjury: no spans are sent: pip install 'recjury[otel]'\n")
        return
    os.environ.setdefault("OTEL_SERVICE_NAME", "recjury")
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


def as_span(event: EventDict) -> None:
    """Of `call begins` and `call ends`, open a span within the task's last one, and close it."""
    what, _, change = str(event["event"]).partition(" ")
    if change == "begins":
        _begin(what, event)
    elif change in ("ends", "fails") and what in {begun for begun, _, _ in _spans.get()}:
        _end(what, change, event)


def _begin(what: str, event: EventDict) -> None:
    from opentelemetry import context, trace

    name = f"chat {event['name']}" if what == "call" else what
    attributes = {**_OPERATIONS.get(what, {}), **_attributes(event)}
    kind = trace.SpanKind.CLIENT if what == "call" else trace.SpanKind.INTERNAL
    span = trace.get_tracer("recjury").start_span(name, kind=kind, attributes=attributes)
    token = context.attach(trace.set_span_in_context(span))
    _spans.set((*_spans.get(), (what, span, token)))


def _end(what: str, change: str, event: EventDict) -> None:
    """End the span, and those within it that were broken off."""
    from opentelemetry import context, trace

    *others, (begun, span, token) = _spans.get()
    if begun != what:
        span.end()
        context.detach(token)
        _spans.set(tuple(others))
        _end(what, change, event)
        return
    span.set_attributes(_attributes(event))
    if change == "fails":
        span.set_status(trace.StatusCode.ERROR, hidden(str(event["reason"])))
    span.end()
    context.detach(token)
    _spans.set(tuple(others))


def _attributes(event: EventDict) -> dict[str, Any]:
    """What an event tells, without keys of endpoints."""
    told = {key: value for key, value in event.items() if key != "event" and value}
    return {
        _CONVENTIONS.get(key, f"recjury.{key}"): hidden(value) if isinstance(value, str) else value
        for key, value in told.items()
    }
