"""Send spans and events of a command to the collector that OpenTelemetry's variables name."""

import logging
import os

from recjury.cli import output

_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_ENDPOINTS = (
    _ENDPOINT,
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
)
_OFF = "OTEL_SDK_DISABLED"


def export_telemetry() -> None:
    """Set up OpenTelemetry if one of its variables names a collector, and nothing else has.

    What is left to send is sent when the process ends. Without the packages, a line says so.
    """
    named = next((name for name in _ENDPOINTS if os.environ.get(name)), None)
    if named is None or os.environ.get(_OFF, "").lower() == "true":
        return
    try:
        from opentelemetry import _logs, trace
        from opentelemetry.exporter.otlp.json.http._log_exporter import OTLPLogExporter
        from opentelemetry.exporter.otlp.json.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk._logs import LoggerProvider
        from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        output.say(f"{named} is set, but nothing is sent: pip install 'recjury[otel]'")
        return
    if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return  # such as under opentelemetry-instrument
    # What failed for good is said once; the attempts before it are not.
    logging.getLogger("opentelemetry.exporter").setLevel(logging.ERROR)
    about = Resource.create({"service.name": os.environ.get("OTEL_SERVICE_NAME", "recjury")})
    tracers = TracerProvider(resource=about)
    tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(tracers)
    loggers = LoggerProvider(resource=about)
    loggers.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
    _logs.set_logger_provider(loggers)
